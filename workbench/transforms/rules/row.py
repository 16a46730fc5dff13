"""The rows of the table of rules, and the small constructors that rules are written with.

A local rule looks at one call whose operands are simplified already; a whole rule looks at the
program. Every rule stands in the table of `rules/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np

from workbench.program.bodies import Body, Call, IndexValue, Literal, walk
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Program

Local = Callable[[Call, Program], Body | None]
"""A function that returns a call's replacement of the same type; None where it does not apply."""


@dataclass(frozen=True)
class RuleResult:
    """The program after a rule, with one name for each time it applied: the changed statement, or
    the array that was added or removed.
    """

    program: Program
    where: tuple[str, ...] = ()


Whole = Callable[[Program], RuleResult]


@dataclass(frozen=True)
class RuleRow:
    """A rule of the table: `before` becomes `after`.

    `rounds`: the last digits (or the sign of a zero) may change. `finite`: equal only where nothing
    computed on the way is infinite or NaN. Rows with neither are exact. A local row names the
    operations that it looks at (none: all of them).
    """

    name: str
    before: str
    after: str
    local: Local | None = None
    operations: tuple[str, ...] = field(default=())
    whole: Whole | None = None
    rounds: bool = False
    finite: bool = False

    @property
    def exact(self) -> bool:
        """Tell whether results are equal bit by bit, NaN and the sign of a zero included."""
        return not self.rounds and not self.finite


def call(operation: str, *arguments: Body, **options: Any) -> Call:
    """Make an operation with dtype and shape by its row's rules."""
    row = OPERATIONS[operation]
    dtype = row.dtype([a.dtype for a in arguments], options)
    shape = row.shape([a.shape for a in arguments], options)
    return Call(operation, arguments, dtype, shape, tuple(options.items()))


def number(value: float | int | bool, dtype: str) -> Literal:
    """Make a constant scalar."""
    kind = {"float": float, "bool": bool}.get(dtype, int)
    return Literal(kind(value), dtype)


def as_type_of(body: Body, wanted: Body) -> Body:
    """Cast and repeat the body so that it can stand for `wanted`."""
    if body.dtype != wanted.dtype:
        body = call("cast", body, dtype=wanted.dtype)
    if body.shape != wanted.shape:
        body = call("broadcast", body, shape=wanted.shape)
    return body


def constant(body: Body) -> float | int | bool | None:
    """Return the one number that a body is everywhere; None where it is not a constant."""
    if isinstance(body, IndexValue) and not body.expression.terms:
        return body.expression.constant
    if not isinstance(body, Literal):
        return None
    entries = np.asarray(body.value).reshape(-1)
    if not len(entries) or any(repr(e) != repr(entries[0]) for e in entries):
        return None
    number: float | int | bool = entries[0].item()
    return number


def is_negative_zero(value: float | int | bool | None) -> bool:
    """Tell whether a value is -0.0."""
    return value == 0 and bool(np.signbit(np.float64(value)))


def operand(body: Body, operation: str) -> Body | None:
    """Return the operand of a one-operand call of the operation; None for anything else."""
    if isinstance(body, Call) and body.operation == operation and len(body.arguments) == 1:
        return body.arguments[0]
    return None


def is_pure(body: Body) -> bool:
    """Tell whether the same body is the same value wherever it stands: no draw, no call outside."""
    return all(OPERATIONS[b.operation].pure for b in walk(body) if isinstance(b, Call))


def is_external(body: Body) -> TypeGuard[Call]:
    """Tell whether a body is a call of an external object."""
    return isinstance(body, Call) and OPERATIONS[body.operation].external
