"""A row of the table of operations: all that is known of one, as values and as rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

from workbench.program.operations.gradients import GradientRule
from workbench.program.operations.shapes import Options, Shape

Result = Literal["new", "parts", "view", "operand", "either"]
"""The memory of a result.

"new": its own memory, written at once; "parts": its own, written part by part; "view": its
operand's, seen in another order; "operand": its operand's, looked at and left as it is; "either":
its own or its operand's, depending on the case.
"""


class Level(IntEnum):
    """The binding strength of a text's outermost operator, the loosest first."""

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
    """A row: shape and dtype rules, array meaning, gradient rule, text, and properties.

    `evaluate(*arrays, **options)` is the meaning on NumPy arrays with any (equal) leading axes; a
    `ranked` one also gets the first operand's inner `rank`. `gradient(do, inputs, output, adjoint,
    **options)` returns one adjoint per input (None: no dependence). Without a rule (None) the
    operation's result is constant to `gradient`.

    `random` rows draw words by statement and instance. `given` ones take values from outside, by
    name and instance, when the program is run. `external` ones call an object outside the program
    (`values.External`) once per instance. None of these has an `evaluate`.
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
    """The binding strength of its text."""
    associative: bool = False
    """True if its text needs no parentheses within its like."""
    noun: str = ""
    """The noun for its result where that has no name; "": the operation's name."""

    # what it computes with
    elementwise: bool = False
    """True if element k of the result needs only element k of each (broadcast) operand."""
    ufunc: str | None = None
    """The array function that computes an elementwise row at once; only those may overwrite an
    operand.
    """
    ranked: bool = False
    least: str | None = None
    """The least dtype in which a user's operands meet (with their own); None: they keep theirs."""
    converts: bool = False
    """True if operands are converted to the result's dtype before the meaning applies."""
    conditional: bool = False
    """True if the first operand is a condition: it is no number and keeps its dtype."""
    onto: int | None = None
    """The operand whose elements stay in the result where nothing else comes: the result may be
    written over it, where nothing reads it later.
    """
    updates: bool = False
    """True if it changes the element of its first operand that the indices behind the second name,
    and no other.
    """
    compares: Literal["", "equality", "order"] = ""
    combines: str = ""
    """For a row that combines all elements along an axis: the row that combines two."""
    linear: bool = False
    """True if Incrementalize takes a scalar factor of its one operand out of it."""
    foldable: bool = True
    """True if constant operands allow computing it beforehand; an index may lie outside."""

    # what it costs
    result: Result = "new"
    free: bool = False
    """True if it costs (almost) nothing: a view, or an operation that fuses with its reader."""

    random: bool = False
    given: bool = False
    external: bool = False

    @property
    def by_instance(self) -> bool:
        """Tell whether the value depends on the instance that it is evaluated at."""
        return self.random or self.given

    @property
    def pure(self) -> bool:
        """Tell whether the same operands give the same value wherever it stands."""
        return not (self.random or self.given or self.external)
