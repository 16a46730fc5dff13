"""Replay: the transitions of the last steps, and samples of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import ProgramError, nearest
from workbench.language.dims import size_called
from workbench.language.random import uniform
from workbench.language.replay.priorities import Priorities, Ring
from workbench.language.replay.within import within
from workbench.language.tracing.functions import minimum, unstack
from workbench.language.tracing.given_shapes import index_of, shape_of
from workbench.language.tracing.indexing import gather
from workbench.language.tracing.nodes import as_tensor, cast, dtype_name, index
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import current, dim_names, scope, user_line
from workbench.polyhedral.expression import (
    Expression,
    choice,
    expression,
    maximum,
    variable,
    whole,
)
from workbench.polyhedral.expression import minimum as least
from workbench.polyhedral.sets.relations import box, hull, is_empty, union

Moment = tuple[Expression, ...]
"""An update and a step of it; the update alone where it has one step."""

WORDS = 2**24
"""The number of values of a uniform draw."""


class Replay:
    """The last `capacity` steps of all environments, from which a learner samples (Lin 1992; Mnih
    et al. 2015).

    `fields` has the dtype and the inner shape of what is held of a step. `over` is `(b, i, t)`:
    environments, updates and the steps of one, or `(b, i)` where an update has one step. Each field
    is an array over these dims, an element a step; a sample reads elements of the last updates
    only, so `Contract` keeps no more of it: a ring buffer. `capacity` is a number or a size, which
    the steps of an update divide. `name` tells several replays of a program apart.
    """

    def __init__(
        self,
        capacity: Any,
        fields: Mapping[str, tuple[Any, Any]],
        over: tuple[Expression, ...],
        name: str = "replay",
    ) -> None:
        trace = current()
        self.dims = dim_names(over)
        if len(self.dims) not in (2, 3) or len(set(self.dims)) < len(self.dims):
            raise ProgramError(
                f"Replay over {over!r}; expected the dims of environments, updates and steps, "
                "(b, i, t), or (b, i)",
                user_line(),
            )
        held = index_of(capacity)
        if held is None or held.variables or (not held.terms and held.constant < 1):
            raise ProgramError(
                f"Replay of capacity {capacity!r}; expected a size, or a number from 1 on",
                user_line(),
            )
        self.copies, self.updates, *inside = self.dims
        self.time = self.dims[1:]
        self.count = trace.range(self.copies).upper
        self.steps = trace.range(inside[0]).upper if inside else expression(1)
        self.capacity = held
        self.held = size_called("Held", held // (self.count * self.steps))
        """The number of updates whose steps are held."""
        self.name = name
        self.priorities: Priorities | None = None
        with scope(name):
            self.arrays = {name: self._array(name, kind) for name, kind in _kinds(fields).items()}

    def _array(self, name: str, kind: tuple[Any, Any]) -> Recurrent:
        dtype = dtype_name(kind[0], f"Replay: field {name}: dtype")
        shape = shape_of(kind[1], f"Replay: field {name}: shape")
        if any(r.name == name and r.scope == current().scope for r in current().recurrents):
            raise ProgramError(
                f"there is already a replay {self.name!r} with a field {name!r}; name= tells two "
                "apart",
                user_line(),
            )
        array = Recurrent(name, shape, self.dims, dtype, current().scope)
        current().recurrents.append(array)
        return array

    def write(self, **values: TensorLike) -> None:
        """Write all fields of every step."""
        if any(array.pieces for array in self.arrays.values()):
            raise ProgramError(f"{self.name} is written already", user_line())
        wrong = [name for name in values if name not in self.arrays]
        if wrong:
            offered = nearest(wrong[0], self.arrays, "fields")
            raise ProgramError(f"{self.name} has no field {wrong[0]!r}: {offered}", user_line())
        missing = [name for name in self.arrays if name not in values]
        if missing:
            raise ProgramError(f"{self.name} is written without {', '.join(missing)}", user_line())
        for name, value in values.items():
            self.arrays[name].define(tuple(variable(d) for d in self.dims), as_tensor(value))

    def sample(self, over: Any, until: Any = None) -> Batch:
        """Draw steps of those held, any as likely as any other: `over` is the dim that counts the
        samples, or several.

        They are drawn after each update, of the steps before `until = (i + 1, 0)`. With
        `until=(i, t + 1)` they are drawn after each step.
        """
        i = variable(self.updates)
        after, before = self._range((i + 1, 0)[: len(self.time)] if until is None else until)
        times = {d for e in before for d in e.variables}
        drawn = current().ordered({self.updates, *times, *self._samples(over)})
        with scope(self.name):
            words = uniform(shape=2, over=tuple(variable(d) for d in drawn)) * float(WORDS)
            high, low = unstack(cast(words, "int64"))
            first, beyond = index(self._number(after)), index(self._number(before))
            many = cast((beyond - first) * self.count, "int64")
            # the product of a draw of 48 bits and the number of steps, without its fraction
            number = cast((high * many + low * many // WORDS) // WORDS, "int32")
            copy, step = number % self.count, first + number // self.count
            copy.source.name, step.source.name = f"drawn_{self.copies}", "drawn"
            return Batch(self, (after, before), copy, step)

    def sample_by(self, over: Any, alpha: float = 0.6, beta: TensorLike = 0.4) -> PriorityBatch:
        """Draw steps of those held by their priorities (Schaul et al. 2016, algorithm 1, the
        proportional variant): a step of priority p with a probability in proportion to p**alpha.
        `over` is the dim that counts the samples.

        They are drawn after each update, one from each of as many equal shares of the sum of all
        p**alpha. `update` tells their priorities after it. A new step has the greatest that there
        has been, the first ones have 1. `weights` of the batch are the importance weights
        (number of steps held * probability)**-beta, over the greatest of them. Both exponents are
        from 0 to 1; beta may be a tensor, so that it grows (`optim.linear_annealing`).

        The sums are a table: a draw, a new step and a changed priority take its levels, as many as
        the capacity has binary digits.
        """
        if self.priorities is not None:
            raise ProgramError(f"{self.name} is sampled by priorities already", user_line())
        drawn = self._samples(over)
        if len(drawn) != 1:
            raise ProgramError(
                f"a sample by priorities over {', '.join(drawn)}; expected one dim that counts the "
                "samples",
                user_line(),
            )
        i = variable(self.updates)
        held = self._range((i + 1, 0)[: len(self.time)])
        with scope(self.name):
            self.priorities = Priorities(self.ring, drawn[0], alpha)
            self._expect_updated(self.priorities)
            return PriorityBatch(self, held, self.priorities, beta)

    def update(self, priority: TensorLike) -> None:
        """Tell the priorities of the steps that `sample_by` drew, after the present update: a float
        above 0 for each, such as wb.absolute(error) + 1e-6. They are constant to `gradient`. Where
        a step was drawn twice, the later sample tells.
        """
        if self.priorities is None:
            raise ProgramError(
                f"{self.name} is not sampled by priorities: there are none to update; draw with "
                "sample_by",
                user_line(),
            )
        with scope(self.name):
            self.priorities.update(as_tensor(priority))

    @property
    def ring(self) -> Ring:
        """What of all steps is held, and where."""
        return Ring(self.name, self.updates, self.count * self.steps, self.held, self.capacity)

    def read(self, name: str, place: tuple[Tensor, ...]) -> Tensor:
        """Return a field at an environment and a moment. It has to be written, at last."""
        array, line = self.arrays[name], user_line()

        def check() -> None:
            if not array.pieces:
                fields = ", ".join(f"{name}=…" for name in self.arrays)
                raise ProgramError(
                    f"{self.name} is read, but nothing is written into it: expected "
                    f"{self.name}.write({fields})",
                    line,
                )
            ended = [e.dim for e in current().ends if e.dim in self.dims]
            if ended:
                over = ", ".join(self.dims)
                raise ProgramError(
                    f"{self.name} is over {over}, and episodes along {ended[0]} end (wb.until): "
                    "a sample may be of a step that is not executed; expected episodes that "
                    "restart (environment.restart), so that each step has something to hold",
                    line,
                )

        current().expectations.append(check)
        return gather(array, **dict(zip(self.dims, place, strict=True)))

    def _expect_updated(self, priorities: Priorities) -> None:
        """Expect that the priorities of what is sampled by them are told until the program ends."""
        line = user_line()

        def check() -> None:
            if not priorities.updated:
                raise ProgramError(
                    f"{self.name} is sampled by priorities, but nothing tells those of the drawn "
                    f"steps: expected {self.name}.update(priority)",
                    line,
                )

        current().expectations.append(check)

    def _samples(self, over: Any) -> tuple[str, ...]:
        """Return the dims that count samples."""
        if whole(over) is not None:
            raise ProgramError(
                f"a sample over {over!r}; expected the dim that counts the samples", user_line()
            )
        drawn = dim_names(over)
        if not drawn or set(self.dims) & set(drawn):
            raise ProgramError(
                f"a sample over {', '.join(drawn) or 'no dim'}; expected a dim that counts "
                f"samples, none of {', '.join(self.dims)}",
                user_line(),
            )
        return drawn

    def _range(self, until: Any) -> tuple[Moment, Moment]:
        """Return the first moment that is held, and the first that no longer is."""
        given = [index_of(e) for e in until] if isinstance(until, tuple) else []
        entries = [e for e in given if e is not None and e.is_affine]
        if len(given) != len(self.time) or len(entries) != len(given):
            like = ", ".join([self.updates, *(f"{d} + 1" for d in self.time[1:])])
            raise ProgramError(
                f"a sample until {until!r}; expected index expressions of an update and its step, "
                f"like ({like})",
                user_line(),
            )
        self._expect_written(entries)
        row, *step = entries
        oldest = row - self.held
        after = (maximum(oldest, 0), *(choice((least(oldest, 0),), e, 0) for e in step))
        return after, (row, *step)

    def _expect_written(self, until: list[Expression]) -> None:
        """Refuse a range that is empty at some instance, which it names."""
        trace = current()
        names = trace.ordered({d for e in until for d in e.variables})
        ranges = [(d, trace.range(d).lower, trace.range(d).upper) for d in names]
        zero = expression(0)
        earlier = (
            (*((e, zero) for e in until[:n]), (zero - 1, until[n])) for n in range(len(until))
        )
        nothing = box(ranges, equal=[(e, zero) for e in until])
        for *equal, less in earlier:
            nothing = union(nothing, box(ranges, equal=equal, at_least=[less]))
        if not is_empty(nothing):
            at = ", ".join(f"{d} = {low}" for d, (low, _) in zip(names, hull(nothing), strict=True))
            raise ProgramError(
                f"{self.name} is read at {at} before anything was written: there is no step before "
                f"({', '.join(map(str, until))})",
                user_line(),
            )

    def _number(self, moment: Moment) -> Expression:
        """Return the number of steps of an environment before a moment."""
        row, *step = moment
        return sum(step, row * self.steps)


class Batch(Mapping[str, Tensor]):
    """Steps drawn from replay: the fields by name, a sample an element."""

    def __init__(
        self, replay: Replay, held: tuple[Moment, Moment], copy: Tensor, step: Tensor
    ) -> None:
        self.replay, self.held, self.copy, self.step = replay, held, copy, step
        self._moment: tuple[Tensor, ...] = (step,)
        if len(replay.time) > 1:
            self._moment = step // replay.steps, step % replay.steps
            for x, d in zip(self._moment, replay.time, strict=True):
                x.source.name = f"{step.source.name}_{d}"
        self._fields: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        arrays = self.replay.arrays
        if name not in arrays:
            offered = nearest(str(name), arrays, "fields")
            raise ProgramError(f"{self.replay.name} has no field {name!r}: {offered}", user_line())
        if name not in self._fields:
            with scope(self.replay.name):
                place = (self.copy, *within(self._moment, *self.held))
                self._fields[name] = self.replay.read(name, place)
        return self._fields[name]

    def later(self, count: int) -> tuple[Batch, Tensor]:
        """Return the steps of the same environments so many later, and whether these are held;
        where not, the last one that is takes their place.
        """
        with scope(self.replay.name):
            last = index(self.replay._number(self.held[1])) - 1
            moved = self.step + count
            step = minimum(moved, last)
            step.source.name = "later"
            return Batch(self.replay, self.held, self.copy, step), moved <= last

    def __iter__(self) -> Iterator[str]:
        return iter(self.replay.arrays)

    def __len__(self) -> int:
        return len(self.replay.arrays)


class PriorityBatch(Batch):
    """Steps drawn by their priorities, with their importance weights."""

    def __init__(
        self,
        replay: Replay,
        held: tuple[Moment, Moment],
        priorities: Priorities,
        beta: TensorLike,
    ) -> None:
        first, beyond = (index(replay._number(moment)) for moment in held)
        place = priorities.place
        # the latest update that wrote to this row of the ring
        row, within_row = place // priorities.new, place % priorities.new
        i, many = index(variable(replay.updates)), index(replay.held)
        step = (i - (i % many - row + many) % many) * replay.steps + within_row // replay.count
        copy = within_row % replay.count
        copy.source.name, step.source.name = f"drawn_{replay.copies}", "drawn"
        super().__init__(replay, held, copy, step)
        steps = cast((beyond - first) * replay.count, "float")
        self.probability = priorities.probability
        """The probability of each sample's step, a draw."""
        self.weights = priorities.weights(steps, beta)
        """Importance weights, the greatest of an update's samples is 1."""


def _kinds(fields: object) -> Mapping[str, tuple[Any, Any]]:
    """Return the dtype and inner shape of each field."""
    if not isinstance(fields, Mapping) or not fields:
        raise ProgramError(
            f"the fields of a Replay are {fields!r}; expected dtype and inner shape by name, "
            'like {"reward": (float, ())}',
            user_line(),
        )
    for name, kind in fields.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ProgramError(f"a field is called {name!r}; expected a name", user_line())
        if not isinstance(kind, tuple) or len(kind) != 2:
            raise ProgramError(
                f"field {name} is {kind!r}; expected a dtype and an inner shape, like (float, ())",
                user_line(),
            )
    return fields
