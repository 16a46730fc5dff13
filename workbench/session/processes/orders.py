"""Messages between a workbench and its worker process: orders and variants go in, results come
back, and variants among them. Knows neither end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.datasets.rows import CheckRows, GivenRows
from workbench.errors import Cell
from workbench.program.values import Program
from workbench.session.protocol.capsule import Plain
from workbench.session.protocol.state import ErrorView
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Data, Variant

Json = Mapping[str, Any]


# -- what is asked about ---------------------------------------------------------------------------


@dataclass(frozen=True)
class VariantRef:
    """A reference to a variant among the arguments of an order; the worker knows it by its key."""

    key: str


@dataclass(frozen=True)
class ReplayOrder:
    """A step to take anew, on the variant that stands for `parent`; the result stands for `key`."""

    key: str
    parent: str
    step: Json


@dataclass(frozen=True)
class TemplateSource:
    """A template, the sources of its data sets, and the context of its errors: the lines of the
    cells by file, and their numbers.
    """

    template: Callable[..., Program]
    arguments: Mapping[str, Any]
    lines: Mapping[str, Sequence[str]]
    cells: Mapping[str, Cell]
    data: Data = None


# -- what comes out, beside parts ------------------------------------------------------------------


@dataclass(frozen=True)
class Grown:
    """New variants, each after its parent; they count only together. `entry` is the key of the
    variant that they stand for, where steps were taken anew.
    """

    variants: tuple[Variant, ...]
    entry: str = ""


@dataclass(frozen=True)
class Picture:
    """The picture of the variant made last, as JSON-able values."""

    value: Plain


@dataclass(frozen=True)
class Misfit:
    """An entry that no longer fits, and the reason."""

    entry: str
    step: str
    sentence: str


# -- messages both ways ----------------------------------------------------------------------------


@dataclass(frozen=True)
class NewVariant:
    """A variant as described to the other process, which knows the variant of the key `parent`. A
    root brings the rows of data sets.
    """

    key: str
    parent: str | None
    program: Program
    step: Transform | None
    notes: tuple[str, ...]
    because: str
    data: GivenRows | CheckRows | None

    def variant(self, known: Mapping[str, Variant]) -> Variant:
        """Return the variant, on the parent that is known here."""
        parent = None if self.parent is None else known[self.parent]
        data = self.data if parent is None else parent.data
        return Variant(self.program, parent, self.step, self.notes, self.because, data)


def new_variant(variant: Variant) -> NewVariant:
    """Describe a variant to a process that knows its parent."""
    parent = None if variant.parent is None else variant.parent.key
    step, notes, because = variant.step, variant.notes, variant.because
    data = variant.data if parent is None else None
    return NewVariant(variant.key, parent, variant.program, step, notes, because, data)


# -- messages to the worker, beside new variants ---------------------------------------------------


@dataclass(frozen=True)
class ForgetVariants:
    """Variants by key that nobody asks about any more, each with how often either side has told of
    it so far. A variant that the worker made again meanwhile was told of once more, and stays.
    """

    times: Mapping[str, int]


@dataclass(frozen=True)
class Order:
    """Work to do; variants among the arguments are `VariantRef`s."""

    number: int
    task: str
    arguments: tuple[Any, ...]
    urgency: int


@dataclass(frozen=True)
class Hasten:
    """Makes an order more urgent."""

    number: int
    urgency: int


@dataclass(frozen=True)
class Rest:
    """Lets orders that nobody waits for rest from now on, or no longer."""

    resting: bool


@dataclass(frozen=True)
class Drop:
    """Withdraws an order."""

    number: int


# -- messages from the worker ----------------------------------------------------------------------


@dataclass(frozen=True)
class Started:
    """Tells that the worker is busy with an order now."""

    number: int


@dataclass(frozen=True)
class PartResult:
    """A result of an order."""

    number: int
    value: Any


@dataclass(frozen=True)
class GrownResult:
    """A result of an order in the form of variants; the worker knows them by their keys from now
    on.
    """

    number: int
    variants: tuple[NewVariant, ...]
    entry: str


@dataclass(frozen=True)
class Finished:
    """The end of an order: done, or failed."""

    number: int
    error: ErrorView | None
