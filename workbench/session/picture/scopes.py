"""The tree of scopes around statements, and the choice of those that a picture opens at first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

Scope = tuple[str, ...]

OVERVIEW = 24
"""The most boxes drawn at first; closed scopes hold the rest. More boxes do not fit into a
notebook's output with readable names (9 pixels)."""


def scopes(paths: Iterable[Scope]) -> tuple[Scope, ...]:
    """Return every scope, outer ones included, in the order of their first statement."""
    return tuple(dict.fromkeys(path[:depth] for path in paths for depth in range(1, len(path) + 1)))


def box(path: Scope, closed: Collection[Scope]) -> Scope:
    """Return the outermost closed scope around a statement; empty where it is visible itself."""
    for depth in range(1, len(path) + 1):
        if path[:depth] in closed:
            return path[:depth]
    return ()


def closed_at_first(paths: Sequence[Scope], boxes: int = OVERVIEW) -> tuple[Scope, ...]:
    """Return no scope of a small program; of a large one all but the smallest that fit into
    `boxes`.

    `paths` holds the scope of each statement. Outer scopes open before inner ones.
    """
    if len(paths) <= boxes:
        return ()
    every = scopes(paths)
    inside = {
        scope: sum(path == scope for path in paths) + sum(s[:-1] == scope for s in every)
        for scope in ((), *every)
    }
    closed = dict.fromkeys(every)
    drawn = inside[()]
    while True:
        openable = [s for s in closed if s[:-1] not in closed]
        smallest = min(openable, key=lambda s: (len(s), inside[s]), default=None)
        if smallest is None or drawn + inside[smallest] - 1 > boxes:
            return tuple(closed)
        drawn += inside[smallest] - 1
        del closed[smallest]
