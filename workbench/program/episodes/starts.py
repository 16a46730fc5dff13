"""Starts of episodes that come of draws of a step: `x[b, 0] = noise[b, 0]`.

An instance waits for what says that its step is open, which comes of the steps before. A start is
no step: what it reads would wait, in a loop over steps, for that start. Draws need not wait, since
they go by coordinates alone. So what a start reads of these is executed at all steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from workbench.polyhedral.expression import Expression
from workbench.program.episodes.speculation import may_fail
from workbench.program.values import End, Statement

Writers = Mapping[str, Sequence[Statement]]


def with_starts(statements: Sequence[Statement], ends: Sequence[End]) -> tuple[Statement, ...]:
    """Return the statements; of what a start reads, those that come of draws alone and cannot fail
    have no guard of that end.
    """
    opens = {end.open for end in ends}
    for end in ends:
        statements = _with_starts(statements, end.open, opens)
    return tuple(statements)


def _with_starts(
    statements: Sequence[Statement], opened: str, opens: set[str]
) -> Sequence[Statement]:
    writers: dict[str, list[Statement]] = {}
    for s in statements:
        writers.setdefault(s.array, []).append(s)
    drawn = _Drawn(writers)
    waiting = (
        w
        for s in _starts(statements, writers, opened, opens)
        for w in _read_at_steps(s, writers, opened)
    )
    free = {source for w in waiting if drawn.all_of(w) for source in drawn.sources(w)}
    return [
        replace(s, guards=tuple(g for g in s.guards if g.array != opened)) if s.name in free else s
        for s in statements
    ]


def _waits(s: Statement, opened: str) -> bool:
    """Tell whether an instance waits for what says that its step is open."""
    return any(guard.array == opened for guard in s.guards)


def _starts(
    statements: Sequence[Statement], writers: Writers, opened: str, opens: set[str]
) -> Iterator[Statement]:
    """Yield what a recurrence over steps begins with, and what that is computed from, outside of
    steps.
    """
    todo = [
        s
        for s in statements
        if not _waits(s, opened)
        and s.array not in opens
        and any(_waits(w, opened) for w in writers[s.array])
    ]
    seen = {s.name for s in todo}
    while todo:
        start = todo.pop()
        yield start
        for read in start.reads:
            for w in writers[read.array]:
                if not _waits(w, opened) and w.name not in seen and w.combiner is None:
                    seen.add(w.name)
                    todo.append(w)


def _read_at_steps(start: Statement, writers: Writers, opened: str) -> Iterator[Statement]:
    """Yield the statements over steps of which a start reads one step."""
    for read in start.reads:
        if all(isinstance(e, Expression) for e in read.index) and start.combiner is None:
            yield from (w for w in writers[read.array] if _waits(w, opened))


class _Drawn:
    """The statements that come of draws alone."""

    def __init__(self, writers: Writers) -> None:
        self.writers = writers
        self._known: dict[str, bool] = {}

    def all_of(self, s: Statement) -> bool:
        """Tell whether a statement and its sources come of draws alone, and cannot fail."""
        if s.name not in self._known:
            self._known[s.name] = False  # of a cycle
            self._known[s.name] = (
                s.combiner is None
                and not may_fail(s.body)
                and all(self.all_of(w) for w in self._before(s))
            )
        return self._known[s.name]

    def sources(self, s: Statement) -> Iterator[str]:
        """Yield the names of a statement and of its sources."""
        yield s.name
        for w in self._before(s):
            yield from self.sources(w)

    def _before(self, s: Statement) -> Iterator[Statement]:
        for read in s.reads:
            if read not in s.guards:
                yield from self.writers[read.array]
