"""A row of the table of operations: everything that is known of one, as values and as rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

from workbench.program.operations.gradients import GradientRule
from workbench.program.operations.shapes import Options, Shape

Result = Literal["new", "parts", "view", "operand", "either"]
"""Where a result lies: in memory of its own that is written at once, or part by part; in its
operand's, seen in another order ("view") or looked at and left as it is ("operand"); in one or the
other, as the case is ("either").
"""


class Level(IntEnum):
    """How strongly the parts of a text hold together, the loosest first."""

    OR = 0
    AND = 1
    NOT = 2
    COMPARISON = 3
    SUM = 4
    PRODUCT = 5
    NEGATIVE = 6
    POWER = 7
    ATOM = 8


@dataclass(frozen=True)
class Operation:
    """A row: shape and dtype rules, array meaning, gradient rule, how it prints, what it is like.

    `evaluate(*arrays, **options)` is the meaning on NumPy arrays with any (equal) leading axes; a
    `ranked` one is told the first operand's inner `rank` besides. `gradient(do, inputs, output,
    adjoint, **options)` gives one adjoint per input (None: no dependence); None instead of a rule:
    the operation's result is constant to `gradient`.

    `random` rows draw words by statement and instance, `given` ones have values by instance that
    come from outside under a name when the program is run, `external` ones call an object outside
    the program (`values.External`) once per instance. None of these has an `evaluate`.
    """

    name: str
    shape: Callable[[Sequence[Shape], Options], Shape]
    dtype: Callable[[Sequence[str], Options], str]
    evaluate: Callable[..., Any] | None = None
    gradient: GradientRule | None = None
    arity: int | None = None

    # how it reads
    text: str | None = None
    level: Level = Level.ATOM
    """How strongly its text holds together."""
    associative: bool = False
    """Whether its text needs no parentheses around its like."""
    noun: str = ""
    """What its result is called where it has no name; "": the operation's name."""

    # what it computes with
    elementwise: bool = False
    """Whether element k of the result needs only element k of each (broadcast) operand."""
    ufunc: str | None = None
    """The array function that computes an elementwise row at once; only those may overwrite an
    operand."""
    ranked: bool = False
    least: str | None = None
    """A user's operands meet in the widest of their dtypes and this one; None: they keep theirs."""
    converts: bool = False
    """Whether operands are converted to the result's dtype before the meaning applies."""
    conditional: bool = False
    """Whether the first operand is a condition, which is no number and stays as it is."""
    compares: Literal["", "equality", "order"] = ""
    combines: str = ""
    """The row that puts two elements together, of one that combines all along an axis."""
    linear: bool = False
    """Whether Incrementalize takes a scalar factor of its one operand out of it."""
    foldable: bool = True
    """Whether it may be computed beforehand where all operands are constants; an index may lie
    outside."""

    # what it costs
    result: Result = "new"
    free: bool = False
    """Whether it costs (almost) nothing: a view, or what fuses with its reader."""

    random: bool = False
    given: bool = False
    external: bool = False

    @property
    def pure(self) -> bool:
        """Whether the same operands give the same value wherever it stands."""
        return not (self.random or self.given or self.external)
