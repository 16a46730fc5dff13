"""One statement at given sizes: the instance that writes an element, its points, its values.

Bodies are evaluated in float64 on NumPy arrays, for one point or for a block of reduction points as
a leading axis. The steps tell which elements a body reads; the caller fetches them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.backends import philox
from workbench.backends.reference.indices import Index, Point, compiled, solved
from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.relations import points
from workbench.polyhedral.sets.scanning import contains, scanner
from workbench.program.bodies import Body, Call, IndexValue, Read, Shape
from workbench.program.episodes.held import chooses as chosen_with
from workbench.program.operations import matrices
from workbench.program.operations.table import (
    COMBINES,
    OPERATIONS,
    first_index,
    meaning,
    operand_dtypes,
)
from workbench.program.text.infix import at_text, body_text
from workbench.program.values import Array, End, Statement
from workbench.program.wellformed.sentences import impossible, indefinite, singular, too_low

DTYPES: dict[str, Any] = {
    "float": np.float64,
    "int32": np.int32,
    "int64": np.int64,
    "bool": np.bool_,
}


OperationListener = Callable[[Statement, Call, Sequence[Any]], None]
"""A listener to every operation evaluated: its statement, call and operands."""


Tables = Mapping[str, npt.NDArray[Any]]
"""Values from outside by name, over their dims, then the inner shape."""


Values = Sequence[Any] | Mapping[int, Any]
ValueOf = Callable[[Values, Sequence[Point], bool], Any]
"""A function from the values of earlier steps to a step's value.

At one point or (if true) at each of several.
"""


@dataclass(frozen=True)
class BodyStep:
    """One node of a body: its operands are earlier steps, by position.

    `value` computes it, or `index` gives the element that it reads (0 along data-dependent
    dimensions). `gathered` are these dimensions, each with the step that holds its positions.
    """

    body: Body
    operands: tuple[int, ...] = ()
    value: ValueOf | None = None
    index: Index | None = None
    gathered: tuple[tuple[int, int], ...] = ()
    varies: bool = True
    """True if a read depends on the reduction point."""
    chooses: bool = False
    """True for a `where` on what is open: only the operand that it chooses is evaluated."""


class Equation:
    """A statement made ready at given sizes."""

    def __init__(
        self,
        statement: Statement,
        array: Array,
        sizes: Mapping[str, int],
        seed: int,
        watch: OperationListener | None = None,
        data: Tables | None = None,
        opens: Mapping[str, End] | None = None,
    ) -> None:
        self.statement = statement
        self.opens = opens or {}
        self.watch = watch
        self.data = {} if data is None else data
        self.dims = statement.dims + statement.reduction_dims
        self.sizes = sizes
        self.dtype = DTYPES[array.dtype]
        self.shape = concrete(array.shape, sizes)
        self.write = compiled(statement.write, statement.dims, sizes)
        self.seed = seed
        self.key = philox.statement_key(statement.origin)
        self.guards = [(guard, self._guard(guard)) for guard in statement.guards]
        self.steps: list[BodyStep] = []
        self._add(statement.body, {})
        self.chooses = any(step.chooses for step in self.steps)
        self._solve = solved(statement.write, statement.dims, sizes)
        self._contains = contains(statement.domain, sizes)
        self._written: dict[Point, Point] | None = None
        if statement.combiner is not None:
            self._scan = scanner(statement.reduction, sizes, len(statement.dims))

    def _guard(self, guard: Read) -> Index:
        index = [e for e in guard.index if isinstance(e, Expression)]
        return compiled(index, self.statement.dims, self.sizes)

    def instances(self) -> list[Point]:
        """Return every instance, in lexicographic order."""
        return points(self.statement.domain, self.sizes)

    def instance(self, element: Point) -> Point | None:
        """Return the instance that writes `element`, or None."""
        if self._solve is not None:
            instance = self._solve(element)
            return (
                instance if self._contains(instance) and self.write(instance) == element else None
            )
        if self._written is None:
            self._written = {self.write(p): p for p in self.instances()}
        return self._written.get(element)

    def points(self, instance: Point) -> list[Point]:
        """Return the points of the reduction at `instance`, in lexicographic order."""
        return [instance + rest for rest in self._scan(instance)]

    def _value(self, body: Call, operands: Sequence[int]) -> ValueOf:
        """Prepare a call: all that does not depend on the point is computed here."""
        dtype = DTYPES[body.dtype]
        named = operand_dtypes(body.operation, [a.dtype for a in body.arguments], body.dtype)
        given = [(k, DTYPES[name]) for k, name in zip(operands, named, strict=True)]
        options = {name: _number(option, self.sizes) for name, option in body.attributes}
        apply = meaning(body.operation, [len(a.shape) for a in body.arguments], options)
        elementwise, rank = OPERATIONS[body.operation].elementwise, len(body.shape)
        check = {
            "take": self._check_indices,
            "put": self._check_indices,
            "add_at": self._check_indices,
            "within": self._check_within,
            "possible": self._check_possible,
            "positive": self._check_positive,
            "solve": self._check_regular,
            "cholesky": self._check_definite,
        }.get(body.operation)

        def value(values: Values, at: Sequence[Point], block: bool) -> Any:
            arrays = [np.asarray(values[k], wanted) for k, wanted in given]
            if block and elementwise:
                arrays = [_aligned(a, rank) for a in arrays]
            if check is not None:
                check(body, arrays, at)
            if self.watch is not None:
                self.watch(self.statement, body, arrays)
            return np.asarray(apply(*arrays), dtype)

        return value

    def _drawn(self, body: Call) -> ValueOf:
        """Make a draw ready."""
        options = {name: _number(option, self.sizes) for name, option in body.attributes}
        shift, shape = dict(options.get("shift", ())), options["shape"]

        def value(values: Values, at: Sequence[Point], block: bool) -> Any:
            instance = [
                c + shift.get(d, 0) for d, c in zip(self.statement.dims, at[0], strict=False)
            ]
            drawn = philox.draw(body.operation, self.seed, self.key, instance, shape)
            return np.broadcast_to(drawn, (len(at), *shape)) if block else drawn

        return value

    def _index_value(self, body: IndexValue) -> ValueOf:
        """Make an index value ready."""
        index, dtype = compiled([body.expression], self.dims, self.sizes), DTYPES[body.dtype]

        def value(values: Values, at: Sequence[Point], block: bool) -> Any:
            return np.array([index(p)[0] for p in at] if block else index(at[0])[0], dtype)

        return value

    def _given(self, body: Call) -> ValueOf:
        """Make values from outside ready."""
        name, dtype = str(body.options["name"]), DTYPES[body.dtype]
        table = self.data.get(name)
        axes = [self.dims.index(d) for d in body.options["dims"]]

        def value(values: Values, at: Sequence[Point], block: bool) -> Any:
            if table is None:
                raise ProgramError(
                    f"{self.statement.array} needs the values of {name!r}, which only a run is "
                    "given",
                    self.statement.line,
                )
            found = [np.asarray(table[tuple(p[k] for k in axes)], dtype) for p in at]
            return np.stack(found) if block else found[0]

        return value

    def _check_indices(self, body: Call, arrays: Sequence[Any], at: Sequence[Point]) -> None:
        """Refuse an entry that does not exist: NumPy would count negative ones from the back."""
        first = first_index(body.operation)
        lengths = concrete(body.arguments[0].shape, self.sizes)
        for axis, (index, length) in enumerate(zip(arrays[first:], lengths, strict=False)):
            wrong = np.argwhere((index < 0) | (index >= length))
            if not len(wrong):
                continue
            point = at[int(wrong[0][0]) if len(at) > 1 else 0]
            raise ProgramError(
                f"{body_text(body)} at {at_text(self.dims, point, self.sizes)} has the index "
                f"{index[tuple(wrong[0])]}, outside 0 to {length - 1} of axis {axis}",
                self.statement.line,
            )

    def _check_within(self, body: Call, arrays: Sequence[Any], at: Sequence[Point]) -> None:
        """Refuse an index outside the range that the program promises."""
        index, lower, upper = np.broadcast_arrays(*arrays)
        wrong = (index < lower) | (index >= upper)
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            where = at_text(self.dims, at[place if len(at) > 1 else 0], self.sizes)
            raise ProgramError(
                f"the index {index.flat[place]} of {self.statement.array} at {where} is not within "
                f"{lower.flat[place]} to {upper.flat[place] - 1}, as the program promises",
                self.statement.line,
            )

    def _check_possible(self, body: Call, arrays: Sequence[Any], at: Sequence[Point]) -> None:
        """Require that the greatest logit is above -inf."""
        wrong = np.flatnonzero(arrays[0] == -np.inf)
        if wrong.size:
            where = at_text(self.dims, at[int(wrong[0]) if len(at) > 1 else 0], self.sizes)
            raise ProgramError(impossible(where), self.statement.line)

    def _check_positive(self, body: Call, arrays: Sequence[Any], at: Sequence[Point]) -> None:
        """Require that numbers are above 0."""
        self._check_matrices(arrays[0] > 0.0, too_low, at)

    def _check_regular(self, body: Call, arrays: Sequence[Any], at: Sequence[Point]) -> None:
        """Require that equations have one solution."""
        self._check_matrices(matrices.regular(arrays[0]), singular, at)

    def _check_definite(self, body: Call, arrays: Sequence[Any], at: Sequence[Point]) -> None:
        """Require that a matrix has a Cholesky factor."""
        fits = matrices.definite(matrices.cholesky(arrays[0]))
        self._check_matrices(fits, indefinite, at)

    def _check_matrices(
        self, fits: Any, sentence: Callable[[str, str], str], at: Sequence[Point]
    ) -> None:
        wrong = np.argwhere(~np.asarray(fits))
        if len(wrong):
            where = at_text(self.dims, at[int(wrong[0][0]) if len(at) > 1 else 0], self.sizes)
            raise ProgramError(sentence(self.statement.array, where), self.statement.line)

    def combined(self, state: Any, block: Any, at: Sequence[Point]) -> Any:
        """Combine the result so far (None at first) with the values at further points."""
        combiner = self.statement.combiner
        if combiner == "collect":
            return block if state is None else np.concatenate([state, block])
        if combiner == "argmax":
            first = np.argmax(block, axis=0)
            best = np.take_along_axis(block, first[None], axis=0)[0]
            where = np.array([p[-1] for p in at])[first]
            if state is None:
                return best, where
            later = (best > state[0]) | (np.isnan(best) & ~np.isnan(state[0]))
            return np.where(later, best, state[0]), np.where(later, where, state[1])
        ufunc = getattr(np, COMBINES[str(combiner)])
        dtype = self.dtype if combiner == "sum" else None
        total = ufunc.reduce(block, axis=0, dtype=dtype)
        return total if state is None else ufunc(state, total)

    def finished(self, state: Any) -> Any:
        """Return the element in the array's dtype, read-only."""
        value = np.array(state[1] if self.statement.combiner == "argmax" else state, self.dtype)
        value.flags.writeable = False
        return value

    def _add(self, body: Body, known: dict[int, int]) -> int:
        """Append the steps of `body`; operands come first and shared bodies once."""
        if id(body) in known:
            return known[id(body)]
        if isinstance(body, Call):
            operands = tuple(self._add(a, known) for a in body.arguments)
            row = OPERATIONS[body.operation]
            if row.external:
                step = BodyStep(body, operands)
            elif row.given:
                step = BodyStep(body, operands, self._given(body))
            else:
                value = self._drawn(body) if row.random else self._value(body, operands)
                chooses = chosen_with(body, self.opens) is not None
                step = BodyStep(body, operands, value, chooses=chooses)
        elif isinstance(body, IndexValue):
            step = BodyStep(body, (), self._index_value(body))
        elif isinstance(body, Read):
            plain = [e if isinstance(e, Expression) else Expression(0) for e in body.index]
            gathered = tuple(
                (k, self._add(e, known))
                for k, e in enumerate(body.index)
                if not isinstance(e, Expression)
            )
            used = {name for e in plain for name in e.variables}
            varies = bool(gathered) or not used.isdisjoint(self.statement.reduction_dims)
            step = BodyStep(
                body, (), None, compiled(plain, self.dims, self.sizes), gathered, varies
            )
        else:
            step = BodyStep(body, (), _constant(np.array(body.value, DTYPES[body.dtype])))
        self.steps.append(step)
        known[id(body)] = len(self.steps) - 1
        return known[id(body)]


def concrete(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return an inner shape at given sizes."""
    return tuple(n.evaluate(sizes) if isinstance(n, Expression) else n for n in shape)


def _constant(constant: Any) -> ValueOf:
    """Make a literal ready."""

    def value(values: Values, at: Sequence[Point], block: bool) -> Any:
        return np.broadcast_to(constant, (len(at), *constant.shape)) if block else constant

    return value


def _number(option: Any, sizes: Mapping[str, int]) -> Any:
    if isinstance(option, Expression):
        return option.evaluate(sizes)
    if isinstance(option, tuple):
        return tuple(_number(entry, sizes) for entry in option)
    return option


def _aligned(values: Any, rank: int) -> Any:
    """Align values with a leading axis and fewer inner axes than `rank`, so that they broadcast."""
    missing = rank - (values.ndim - 1)
    return values.reshape(values.shape[:1] + (1,) * missing + values.shape[1:])
