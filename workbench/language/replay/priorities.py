"""Priorities of the steps in replay: a table of sums, drawn from, and changed from leaf to root.

Node n of the table is the sum of its children 2 n and 2 n + 1, node 1 that of all; the leaves are
the places of the ring, capacity + place. The table is one recurrence through everything that
changes it: an update's new steps, level by level, then its samples' new priorities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from numbers import Real

import numpy as np

from workbench.errors import ProgramError
from workbench.language.dims import size_called
from workbench.language.random import draws
from workbench.language.replay.within import within
from workbench.language.tables.updates import put
from workbench.language.tracing.functions import broadcast_to, cumsum, maximum, stop_gradient, where
from workbench.language.tracing.nodes import apply, as_tensor, cast, index, literal
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import Range, current, inline, user_line
from workbench.names import lengthened
from workbench.polyhedral.expression import Expression, choice, expression, minimum, variable
from workbench.polyhedral.expression import maximum as greater
from workbench.program.bodies import Shape

DIGITS = 29
"""The binary digits of the greatest capacity."""
HALVES = np.array([2**level for level in range(DIGITS + 2)], np.int32)
"""What a leaf's number is divided by on each level."""


@dataclass(frozen=True)
class Ring:
    """The steps that are held: `new` of each update, of the last `rows` of them."""

    name: str
    updates: str
    new: Expression
    rows: Expression
    capacity: Expression


class Priorities:
    """The priorities of a ring's steps, to the power of alpha, and one draw of them an update."""

    def __init__(self, ring: Ring, samples: str, alpha: float) -> None:
        _expect_fraction("alpha", alpha)
        self.ring, self.samples, self.alpha = ring, samples, float(alpha)
        self.many = current().range(samples).upper
        new = size_called("New", ring.new)
        self.new = index(new)
        self.levels = size_called("Levels", _levels(ring.capacity))
        self.level, self.fresh = _dim("level", self.levels), _dim("new", new)
        i, n, level = variable(ring.updates), variable(self.fresh), variable(self.level)
        self.sums = _recurrent("sums", (2 * ring.capacity,), (ring.updates, self.fresh, self.level))
        self.sums.define((expression(0),) * 3, broadcast_to(literal(0.0), self.sums.shape))
        self.greatest = _recurrent("greatest_priority", (), (ring.updates,))
        self.greatest.define((expression(0),), literal(1.0))
        place = index(i) % index(ring.rows) * self.new + index(n)
        leaf = apply("power", self.greatest, self.alpha)
        last = level - self.levels + 1
        following = (i, choice((last,), n + 1, n), choice((last,), 0, level + 1))
        _name(new_leaf=leaf)
        self._change(place, leaf, n, following)
        self.updated = False
        self._draw(new)

    def _change(
        self, place: Tensor, leaf: Tensor, entry: Expression, following: tuple[Expression, ...]
    ) -> None:
        """Put a leaf into the table, and then the sums above it, up to the root: node n of a level
        is n // 2 of the next.
        """
        level = index(variable(self.level))
        sums = self.sums.substitute({self.fresh: entry})
        with inline():  # one statement, which reads two entries and writes one
            node = (place + index(self.ring.capacity)) // as_tensor(HALVES)[..., level]
            left = where(level > 0, 2 * node, 0)
            both = sums[..., left] + sums[..., left + 1]
            # behind the root there is node 0, which nothing reads
            value = where(level == 0, leaf, where(node > 0, both, 0.0))
            changed = put(sums, node, value)
        self.sums.define(following, changed)

    def _draw(self, new: Expression) -> None:
        """Draw all samples of an update together: from the root, a child a level."""
        i, level = variable(self.ring.updates), variable(self.level)
        first = {self.fresh: new, self.level: expression(0)}
        sums = self.sums.substitute(first)
        total = sums[..., index(expression(1))]
        shape = (self.many,)
        shares = cumsum(broadcast_to(literal(1.0), shape)) - 1.0
        uniform = draws("uniform", shape, (self.ring.updates,))
        count = cast(index(self.many), "float")
        rest = _recurrent("rest", shape, (self.ring.updates, self.level))
        node = _recurrent("node", shape, (self.ring.updates, self.level), "int32")
        rest.define((i, expression(0)), (shares + uniform) / count * total)
        node.define((i, expression(0)), broadcast_to(literal(1), shape))
        inner = node < index(self.ring.capacity)
        left = where(inner, 2 * node, 0)
        before, behind = sums[..., left], sums[..., left + 1]
        # rounding leads to no step of probability 0
        right = inner & (rest >= before) & (behind > 0.0)
        rest.define((i, level + 1), where(right, rest - before, rest))
        node.define((i, level + 1), where(inner, left + cast(right, "int32"), node))
        leaves = node.substitute({self.level: self.levels})
        masses = sums[..., leaves]
        sample = index(variable(self.samples))
        capacity = self.ring.capacity
        drawn = where(total > 0.0, leaves[..., sample], 0)
        self.place = within(drawn, capacity, 2 * capacity) - index(capacity)
        self.probability = masses[..., sample] / total
        _name(total=total, share=uniform, inner=inner, left=left, before=before, right=right)
        _name(masses=masses, place=self.place, probability=self.probability)

    def weights(self, held: Tensor, beta: TensorLike) -> Tensor:
        """Return (held * probability)**-beta, over the greatest of an update."""
        if isinstance(beta, Tensor):
            if beta.shape or not set(beta.dims) <= {self.ring.updates}:
                raise ProgramError(
                    f"beta={beta!r}; expected a number from 0 to 1, or one for each "
                    f"{self.ring.updates}",
                    user_line(),
                )
        else:
            _expect_fraction("beta", beta)
        weights = apply("power", held * self.probability, -as_tensor(beta))
        _name(weight=weights)
        return weights / weights.max(over=variable(self.samples))

    def update(self, priority: Tensor) -> None:
        """Define the table and the greatest priority after the present update."""
        ring, dims = self.ring, {self.ring.updates, self.samples}
        if self.updated:
            raise ProgramError(f"the priorities of {ring.name} are updated already", user_line())
        if priority.dtype != "float" or priority.shape or not set(priority.dims) <= dims:
            raise ProgramError(
                f"the priorities of {ring.name} are {priority!r}; expected a float scalar over "
                f"{ring.updates}, {self.samples}",
                user_line(),
            )
        self.updated = True
        i, k, level = (variable(d) for d in (ring.updates, self.samples, self.level))
        told = stop_gradient(priority)
        _name(priority=priority)
        highest = apply("positive", told).max(over=k)
        self.greatest.define((i + 1,), maximum(self.greatest, highest))
        leaf = apply("power", told, self.alpha)
        last, behind = level - self.levels + 1, k - self.many + 1
        entry = current().range(self.fresh).upper + k
        following = (
            choice((last, behind), i + 1, i),
            choice((last, behind), 0, choice((last,), entry + 1, entry)),
            choice((last,), 0, level + 1),
        )
        _name(leaf=leaf)
        self._change(self.place, leaf, entry, following)


def _levels(capacity: Expression) -> Expression:
    """Return the levels of the tree: one, and one more for each power of two below the capacity."""
    beyond = (minimum(1, greater(0, capacity - 2**digit)) for digit in range(DIGITS))
    return reduce(lambda x, y: x + y, beyond, expression(1))


def _dim(base: str, upper: Expression) -> str:
    """Declare a dim by a name that is free."""
    trace = current()
    name = lengthened(base, {**trace.dims, **trace.sizes})
    trace.dims[name] = Range(name, expression(0), upper, line=user_line(), declared=True)
    return name


def _recurrent(name: str, shape: Shape, dims: tuple[str, ...], dtype: str = "float") -> Recurrent:
    array = Recurrent(name, shape, dims, dtype, current().scope)
    current().recurrents.append(array)
    return array


def _name(**values: Tensor) -> None:
    """Give values the names of their arrays."""
    for name, x in values.items():
        x.source.name = name


def _expect_fraction(what: str, value: object) -> None:
    if not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise ProgramError(f"{what} = {value!r}; expected a number from 0 to 1", user_line())
