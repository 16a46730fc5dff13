"""One statement's instance as array operations: bodies become three-address code over views.

An operation's result goes straight to its `target` when that is known, else to a temporary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import ProgramError
from workbench.lowering.functions import FUNCTIONS
from workbench.lowering.instances.operation_rules import RULES, unrepeated, whole
from workbench.lowering.instances.swapping import Swapping
from workbench.lowering.reads import gathers, index_arrays, slices, split_reads
from workbench.lowering.values.layout import Value
from workbench.lowering.values.numbering import numbered
from workbench.lowering.values.scope import Scope
from workbench.lowering.values.stored import Stored, symbolic
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read
from workbench.program.operations.dtypes import promote
from workbench.program.operations.table import OPERATIONS
from workbench.program.values import Statement


class Linearizer:
    """An evaluator of one statement's bodies in a scope."""

    def __init__(
        self,
        scope: Scope,
        statement: Statement,
        stored: Mapping[str, Stored],
        place: Mapping[str, Expression],
        masked: bool,
        swapping: Swapping,
    ) -> None:
        self.scope = scope
        self.statement = statement
        self.stored = stored
        self.place = place
        self.masked = masked
        self.swapping = swapping
        self.numbering = numbered(statement.body)
        self.needs_points = False
        """True if the operations mean nothing where an axis is empty.

        Then a read position may not exist, or an empty sum is multiplied by what may be infinite.
        """
        self.read_lengths: list[Expression] = []
        """Lengths of arrays that masked operations read somewhere: all of them must have
        elements.
        """
        self._done: dict[int, Value] = {}
        self._axes: dict[int, tuple[str, ...]] = {}
        self._placed: dict[Expression, Expression] = {}

    # -- what is known before evaluating -----------------------------------------------------

    def axes_of(self, body: Body) -> tuple[str, ...]:
        """Return the named axes over which a body varies."""
        number = self.numbering[body]
        if number not in self._axes:
            axes: set[str] = set()
            if isinstance(body, IndexValue):
                axes = set(self.placed(body.expression).variables)
            elif isinstance(body, Read):
                for e in body.index:
                    if isinstance(e, Expression):
                        axes |= self.placed(e).variables
                    else:
                        axes |= set(self.axes_of(e))
            elif isinstance(body, Call):
                if OPERATIONS[body.operation].by_instance:
                    axes = set(self.statement.dims)
                for argument in body.arguments:
                    axes |= set(self.axes_of(argument))
            self._axes[number] = self.scope.ordered(axes)
        return self._axes[number]

    def placed(self, e: Expression) -> Expression:
        """Return an expression over dimensions as one over loop variables and axes."""
        if e not in self._placed:
            self._placed[e] = e.substitute(self.place)
        return self._placed[e]

    # -- evaluation -------------------------------------------------------------------------

    def value(self, body: Body, dtype: str | None = None) -> Value:
        """Return the value of a body, cast to `dtype` where given."""
        if isinstance(body, Literal) and dtype is not None and dtype != body.dtype:
            return self.scope.workspace.constant(
                _converted(body.value, dtype), dtype, symbolic(body.shape)
            )
        number = self.numbering[body]
        if number not in self._done:
            self._done[number] = self._compute(body, None)
        value = self._done[number]
        if dtype is None or value.dtype == dtype:
            return value
        key = (number, dtype)
        if key not in self.scope.views:
            self.scope.views[key] = self.scope.cast(value, dtype)
        return self.scope.views[key]

    def into(self, body: Body, target: Value, overwritten: bool = False) -> None:
        """Write a body's value to `target`, whose axes and shape may be wider.

        `overwritten`: the target changes afterwards, so the body's only copy must not be there.
        """
        scope, number = self.scope, self.numbering[body]
        direct = (
            isinstance(body, Call)
            and number not in self._done
            and OPERATIONS[body.operation].result != "view"
            and self.axes_of(body) == target.axes
            and symbolic(body.shape) == target.shape
            and body.dtype == target.dtype
            and not (overwritten and self.numbering.uses[number] > 1)
        )
        if direct:
            self._done[number] = self._compute(body, target)
            if self._done[number].name == target.name:
                return
        value = self.value(body, target.dtype)
        if (value.name, value.axes) == (target.name, target.axes):  # it is there already
            return
        scope.apply("copyto", [scope.aligned(value, target.axes, len(target.shape))], target)

    def _compute(self, body: Body, target: Value | None) -> Value:
        scope = self.scope
        if isinstance(body, Literal):
            return scope.workspace.constant(body.value, body.dtype, symbolic(body.shape))
        if isinstance(body, IndexValue):
            return index_arrays.index_value(scope, self.placed(body.expression), body.dtype)
        if isinstance(body, Read):
            return self._read(body)
        if body.operation in RULES:
            return RULES[body.operation](self, body, target)
        if OPERATIONS[body.operation].ufunc is not None:
            return self._elementwise(body, target)
        if body.operation in FUNCTIONS:
            return whole(self, body, target)
        raise ProgramError(
            f"the array backend has no operation {body.operation}", self.statement.line
        )

    def _read(self, body: Read) -> Value:
        scope, stored = self.scope, self.stored[body.array]
        index: list[Expression | Value] = [
            self.placed(e) if isinstance(e, Expression) else self.value(e) for e in body.index
        ]
        self.needs_points = self.needs_points or not slices.exists(scope, stored, index)
        plain = tuple(e for e in index if isinstance(e, Expression))
        if len(plain) == len(index):
            inside = not self.masked or slices.within(scope, stored, plain)
            if not inside:
                self.read_lengths += [high - low for low, high in stored.array.extent]
            plain = plain if inside else slices.clamped(stored, plain)
            stored = self.swapping.reading(scope, stored, plain)
            if not inside:
                if not any(e.variables & set(scope.axes) for e in plain):
                    return slices.sliced(scope, stored, plain) or _impossible()
                return gathers.gathered(scope, stored, plain, {})
            view = slices.sliced(scope, stored, plain) or split_reads.in_blocks(
                scope, stored, plain
            )
            return gathers.gathered(scope, stored, plain, {}) if view is None else view
        stored = self.swapping.reading(scope, stored, index)
        return gathers.gathered(scope, stored, tuple(index), dict(enumerate(stored.array.extent)))

    def result(self, body: Call, target: Value | None, dtype: str | None = None) -> Value:
        """Return the place of the call's result: the target, or a temporary."""
        if target is not None:
            return target
        return self.scope.temporary(self.axes_of(body), symbolic(body.shape), dtype or body.dtype)

    def _elementwise(self, body: Call, target: Value | None) -> Value:
        row, scope = OPERATIONS[body.operation], self.scope
        wanted = operand_dtype(body)
        values = [self.value(unrepeated(a), wanted) for a in body.arguments]
        out = self.result(body, target)
        rank = len(body.shape)
        return scope.apply(row.ufunc or "", [scope.aligned(v, out.axes, rank) for v in values], out)


def _impossible() -> Value:
    raise AssertionError("a read at one position is a view")


def operand_dtype(body: Call) -> str:
    """Return the one dtype that an elementwise operation's operands are cast to."""
    if body.dtype == "bool":
        least = OPERATIONS[body.operation].least or "bool"
        return promote([least, *(a.dtype for a in body.arguments)])
    return body.dtype


def _converted(value: Any, dtype: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_converted(v, dtype) for v in value)
    return {"float": float, "bool": bool}.get(dtype, int)(value)
