"""Reads of episodes: what they read exists always, never where an episode ends, or as the data has
it.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.polyhedral.dependences.existing import (
    GuardedWrite,
    PointRead,
    missing,
    missing_at_each,
)
from workbench.polyhedral.expression import Expression, expression, maximum, variable
from workbench.polyhedral.sets.relations import box, domain_with, is_empty
from workbench.program.bodies import Body, Call, IndexValue, Read
from workbench.program.episodes.held import Held, end_index
from workbench.program.sizes import known_of_sizes
from workbench.program.values import End, Equations, Statement

Point = tuple[int, ...]


class EpisodeRead(NamedTuple):
    """A read by a statement of what another, `writer`, writes under a `guard`: at steps of episodes
    with an `end`. `held` is open where it is evaluated.
    """

    statement: Statement
    read: Read
    held: Held
    writer: Statement
    guard: Read
    end: End

    @property
    def by_data(self) -> bool:
        """True if the index depends on data."""
        return not all(isinstance(e, Expression) for e in self.read.index)

    @property
    def dims(self) -> tuple[str, ...]:
        """The dims of a point that reads."""
        return self.statement.dims + self.statement.reduction_dims


def episode_reads(
    equations: Equations, statement: Statement, read: Read, held: Held
) -> list[EpisodeRead]:
    """Return what a read takes of episodes, by the statements that write it and their guards."""
    ends = {end.open: end for end in equations.ends}
    return [
        EpisodeRead(statement, read, held, writer, guard, ends[guard.array])
        for writer in equations.writers[read.array]
        for guard in writer.guards
        if guard.array != writer.array
    ]


def unproven(equations: Equations, one: EpisodeRead) -> tuple[dict[str, int], Point] | None:
    """Return sizes and a point that reads what need not exist; None where all exists. For an index
    that depends on data both are empty.
    """
    if one.by_data:
        return None if _is_up_to_end(equations, one) else ({}, ())
    asked, write, along, known = _asked(equations, one)
    return missing(asked, write, along, known)


def fails_at_ends(equations: Equations, one: EpisodeRead) -> bool:
    """Tell whether each episode with an end before the bound has an instance that reads past it."""
    if one.by_data:
        inner = _last_step(equations, one)
        return inner is not None and not _is_up_to_end(equations, one)
    asked, write, along, known = _asked(equations, one)
    dims = equations.array[one.end.open].dims
    before = [
        (d, expression(0), equations.dim[d].size - (1 if d == one.end.dim else 0)) for d in dims
    ]
    return missing_at_each(box(before), asked, write, along, known)


def needed(equations: Equations, read: Read, ones: list[EpisodeRead]) -> Read | None:
    """Return the element of `open` that says whether the element of a read exists, as far as the
    end of `ones` goes; None where no single one does.
    """
    places = [_needed_by(equations, one) for one in ones]
    others = [w for w in equations.writers[read.array] if w not in [one.writer for one in ones]]
    if not places or places[0] is None or any(place != places[0] for place in places):
        return None
    along, by = equations.array[read.array].dims.index(ones[0].end.dim), _lead(equations, ones[0])
    if by is None or any(not _is_start(other.write[along], by) for other in others):
        return None
    return places[0]


def _asked(equations: Equations, one: EpisodeRead) -> tuple[PointRead, GuardedWrite, int, str]:
    s, writer, end = one.statement, one.writer, one.end
    facts = tuple(
        _plain(r.index)
        for r in one.held
        if r.array == end.open and all(isinstance(e, Expression) for e in r.index)
    )
    asked = PointRead(one.dims, s.reduction or s.domain, _plain(one.read.index), facts)
    write = GuardedWrite(writer.dims, writer.domain, writer.write, _plain(one.guard.index))
    along = equations.array[end.open].dims.index(end.dim)
    return asked, write, along, known_of_sizes(equations.parameters)


def _plain(index: tuple[object, ...]) -> tuple[Expression, ...]:
    return tuple(e for e in index if isinstance(e, Expression))


# -- the element of `open` -------------------------------------------------------------------------


def _needed_by(equations: Equations, one: EpisodeRead) -> Read | None:
    """Return the element of `open` that guards the instance which writes what is read."""
    opened = equations.array[one.end.open]
    index: list[Expression | Body] = []
    for d, e in zip(opened.dims, _plain(one.guard.index), strict=True):
        written = [w for w in one.writer.write if not (w - variable(d)).terms]
        if e != variable(d) or len(written) != 1:
            return None
        entry = one.read.index[one.writer.write.index(written[0])]
        by = (written[0] - variable(d)).constant
        index.append(_earlier(one, entry, by) if d == one.end.dim else _moved(entry, by))
    return Read(opened.name, tuple(index), "bool", ())


def _earlier(one: EpisodeRead, entry: Expression | Body, by: int) -> Expression | Body:
    """Return the step that writes what is at a step; what is at one before the first exists as the
    first does.
    """
    step = _moved(entry, by)
    if not isinstance(step, Expression):
        first = IndexValue(expression(0), step.dtype)
        return Call("maximum", (step, first), step.dtype) if by > 0 else step
    points = one.statement.reduction or one.statement.domain
    return (
        step
        if is_empty(domain_with(points, at_least=[(expression(-1), step)]))
        else maximum(step, 0)
    )


def _moved(entry: Expression | Body, by: int) -> Expression | Body:
    if isinstance(entry, Expression):
        return entry - by
    if by == 0:
        return entry
    return Call("subtract", (entry, IndexValue(expression(by), entry.dtype)), entry.dtype)


def _lead(equations: Equations, one: EpisodeRead) -> int | None:
    """Return by how many steps what is written leads its step; None where that is no number."""
    along = equations.array[one.read.array].dims.index(one.end.dim)
    by = one.writer.write[along] - variable(one.end.dim)
    return None if by.terms else by.constant


def _is_start(position: Expression, by: int) -> bool:
    return not position.terms and position.constant <= by


# -- an end as an index ----------------------------------------------------------------------------


def _is_up_to_end(equations: Equations, one: EpisodeRead) -> bool:
    """Tell whether a read is of an element that the last step of its own episode, or one before,
    writes.
    """
    inner, by = _last_step(equations, one), _lead(equations, one)
    return inner is not None and by is not None and inner <= by


def _last_step(equations: Equations, one: EpisodeRead) -> int | None:
    """Return the number added to the last step of the own episode in an index; None for another
    index.
    """
    array, own = equations.array[one.end.open], equations.array[one.read.array]
    if not set(array.dims) <= set(own.dims):
        return None
    at = dict(zip(own.dims, one.read.index, strict=True))
    written = dict(zip(own.dims, one.writer.write, strict=True))
    last = at[one.end.dim]
    inner = None if isinstance(last, Expression) else end_index(last, equations)
    outer = [d for d in array.dims if d != one.end.dim]
    own_episode = (
        inner is not None
        and inner[0] == one.end
        and one.guard.index == tuple(variable(d) for d in array.dims)
        and [at[d] for d in outer] == list(inner[1])
        and all(written[d] == variable(d) for d in outer)
    )
    return inner[2] if own_episode and inner is not None else None
