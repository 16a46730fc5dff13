"""Overwriting: whether a statement may write over elements that it reads in the same operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.polyhedral.expression import Expression, expression
from workbench.program.bodies import Body, Call, Read
from workbench.program.bodies import reads as all_reads
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Statement


class Beside(NamedTuple):
    """A dimension of the overwritten array and the one of the written array in its place.

    In equal slots the first's index is `ahead` of the second's.
    """

    overwritten: int
    written: int
    ahead: Expression


def in_itself(statement: Statement) -> tuple[Beside, ...]:
    """Return the dimensions of a statement's array, each in its own place."""
    return tuple(Beside(k, k, expression(0)) for k in range(len(statement.write)))


def may_overwrite(
    statement: Statement, axes: Sequence[str], array: str, places: Sequence[Beside]
) -> bool:
    """Tell whether each read of `array` comes before the result's write, or elementwise with it,
    in the same instance.

    `places` are the dimensions in which the two arrays lie in memory; no other runs as an axis.
    """
    if statement.combiner is not None:
        return False
    if all(r.array != array for r in statement.reads):
        return False
    return _Overwriting(statement, frozenset(axes), array, tuple(places)).is_safe(statement.body)


def reads_in_place(
    statement: Statement, axes: Sequence[str], array: str, places: Sequence[Beside]
) -> bool:
    """Tell whether an instance reads of `array` only what lies where it writes, along the axes.

    Instances of array axes have no order among each other: a kernel writes some of them before it
    reads for others. So a read of another's place may come too late, whatever an instance does.
    """
    overwriting = _Overwriting(statement, frozenset(axes), array, tuple(places))
    return all(overwriting.in_place(r) for r in statement.reads if r.array == array)


class _Overwriting(NamedTuple):
    statement: Statement
    axes: frozenset[str]
    array: str
    places: tuple[Beside, ...]

    def is_safe(self, body: Body) -> bool:
        """Tell whether the body's last operation reads the array elementwise or not at all."""
        if isinstance(body, Read):
            if any(self._reads(e) for e in body.index if not isinstance(e, Expression)):
                return False
            return not self._shows(body) or self.in_place(body)
        if not isinstance(body, Call):
            return True
        row = OPERATIONS[body.operation]
        if row.onto is not None:
            kept = body.arguments[row.onto]
            others = (a for k, a in enumerate(body.arguments) if k != row.onto)
            return not any(self._shows(a) for a in others) and self.is_safe(kept)
        if row.ufunc is None:
            if row.result == "parts":
                return not self._reads(body)
            return not any(self._shows(a) for a in body.arguments)
        return all(
            not self._shows(a)
            or (isinstance(a, Read) and self.in_place(a) and a.shape == body.shape)
            for a in body.arguments
        )

    def _reads(self, body: Body) -> bool:
        return any(r.array == self.array for r in all_reads(body))

    def _shows(self, body: Body) -> bool:
        """Tell whether the body's value may be a view of the array's memory."""
        if isinstance(body, Read):
            return body.array == self.array
        if not isinstance(body, Call) or OPERATIONS[body.operation].result in ("new", "parts"):
            return False
        return any(self._shows(a) for a in body.arguments)

    def in_place(self, read: Read) -> bool:
        """Tell whether the read has every array axis where the write has it."""
        if any(not isinstance(e, Expression) for e in read.index):
            return False
        for place in self.places:
            e, written = read.index[place.overwritten], self.statement.write[place.written]
            assert isinstance(e, Expression)
            if (e.variables | written.variables) & self.axes and e != written + place.ahead:
                return False
        return True
