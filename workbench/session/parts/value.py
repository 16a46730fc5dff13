"""One instance's value, its direct inputs, and the cause of a value that is not finite."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends.reference.evaluator import Reference
from workbench.backends.reference.explain import explain, number_text
from workbench.backends.reference.user_names import meaning, point_of
from workbench.errors import WorkbenchError
from workbench.program.bodies import Call
from workbench.program.sizes import at_sizes, settable
from workbench.program.values import Statement
from workbench.session.picture.small_sizes import sizes_with
from workbench.session.picture.snapshot import LineView, line_view
from workbench.variants.variant import Variant, on_first_rows

MOST_INPUTS = 200
"""The most inputs that are listed."""
LONGEST = 20.0
"""The most seconds that one value may take."""

Element = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class ElementView:
    """An element of an array. It has its value as text (of a tensor its least, mean and greatest),
    the statement whose instance writes it (null for an input of the program), and in words how much
    of it is not finite, "" if all is finite.
    """

    array: str
    coordinates: Mapping[str, int]
    text: str
    shape: tuple[int, ...]
    statement: str | None
    instance: Mapping[str, int]
    not_finite: str


@dataclass(frozen=True)
class ValueView:
    """The element `of` and its origin. `cause` leads from a non-finite element back, one input
    after the other, to the first that is not finite although all its inputs are. It is empty where
    `of` is finite.
    """

    of: ElementView
    equation: str
    line: LineView | None
    inputs: tuple[ElementView, ...]
    more_inputs: int
    """The number of inputs left out of `inputs`."""
    cause: tuple[ElementView, ...]
    sizes: Mapping[str, int]
    seed: int
    note: str
    """What is to be known of the rows of data sets: that they were drawn, or are others than the
    first."""


def value(variant: Variant, arguments: Mapping[str, Any]) -> ValueView:
    """Evaluate the element of `array` at `coordinates` by the reference, at the least sizes at
    which it exists (given ones stay).

    Raises WorkbenchError where there is no such element, and where it takes too long.
    """
    program, name = variant.program, str(arguments["array"])
    alias = meaning(program.equations, name)
    at = dict(zip(alias.dims, point_of(alias, arguments["coordinates"]), strict=True))
    sizes = sizes_with(program, alias, at, arguments["sizes"])
    limit = _Limit(f"{name}{at_sizes(sizes)}")
    given = settable(program.equations, sizes)
    rows = on_first_rows(variant).rows
    data = rows.tables(sizes, "float64")
    reference = Reference(program.equations, given, int(arguments["seed"]), None, limit.watch, data)
    explained = explain(reference, name, at)
    of: Element = (alias.array, tuple(explained.element.values()))
    inputs = [
        _element(reference, (i.array, tuple(i.coordinates.values()))) for i in explained.inputs
    ]
    listed = sorted(range(len(inputs)), key=lambda k: not inputs[k].not_finite)[:MOST_INPUTS]
    return ValueView(
        of=_element(reference, of),
        equation=explained.equation,
        line=line_view(explained.line),
        inputs=tuple(inputs[k] for k in sorted(listed)),
        more_inputs=len(inputs) - len(listed),
        cause=tuple(_element(reference, element) for element in _cause(reference, of)),
        sizes=sizes,
        seed=int(arguments["seed"]),
        note=rows.note(),
    )


class _Limit:
    """A time limit that ends an evaluation."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._end = time.monotonic() + LONGEST

    def watch(self, statement: Statement, call: Call, operands: Sequence[Any]) -> None:
        """Hear of every operation."""
        if time.monotonic() > self._end:
            raise WorkbenchError(
                f"{self._what} takes the reference longer than {LONGEST:g} s; choose smaller sizes"
            )


def _element(reference: Reference, element: Element) -> ElementView:
    array, at = element
    value = reference.element(array, at)
    writer = reference.defining(array, at)
    dims = reference.equations.array[array].dims
    return ElementView(
        array=array,
        coordinates=dict(zip(dims, at, strict=True)),
        text=number_text(value),
        shape=value.shape,
        statement=None if writer is None else writer[0].statement.name,
        instance={}
        if writer is None
        else dict(zip(writer[0].statement.dims, writer[1], strict=True)),
        not_finite=_not_finite(value),
    )


def _not_finite(found: npt.NDArray[Any]) -> str:
    """Describe the non-finite part: `NaN`, `-infinite`; of a tensor `3 of 64 entries are NaN, 1
    infinite`.
    """
    if found.dtype.kind != "f" or np.isfinite(found).all():
        return ""
    if found.ndim == 0:
        return "NaN" if np.isnan(found) else "infinite"
    counts = {"NaN": int(np.isnan(found).sum()), "infinite": int(np.isinf(found).sum())}
    listed = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    return f"of {found.size} entries {listed}"


def _cause(reference: Reference, of: Element) -> list[Element]:
    """Follow a non-finite element back to the first that is not finite though its inputs are."""
    if not _not_finite(reference.element(*of)):
        return []
    trail: dict[Element, None] = {of: None}
    at: Element | None = of
    while at is not None:
        inputs = ((i.read.array, i.element) for i in reference.inputs(*at))
        at = next(
            (e for e in inputs if e not in trail and _not_finite(reference.element(*e))), None
        )
        if at is not None:
            trail[at] = None
    return list(trail)
