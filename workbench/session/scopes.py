"""The tree of scopes that statements stand in, and which of them a picture opens at first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

Scope = tuple[str, ...]

ALL_OPEN = 150
"""Up to this many statements are all drawn."""

OVERVIEW = 40
"""Beyond it, scopes are opened until about this many boxes are drawn."""


def scopes(paths: Iterable[Scope]) -> tuple[Scope, ...]:
    """Every scope, outer ones included, in the order of their first statement."""
    return tuple(
        dict.fromkeys(path[:depth] for path in paths for depth in range(1, len(path) + 1))
    )


def box(path: Scope, closed: Collection[Scope]) -> Scope:
    """The outermost closed scope around a statement; empty where it is visible itself."""
    for depth in range(1, len(path) + 1):
        if path[:depth] in closed:
            return path[:depth]
    return ()


def closed_at_first(paths: Sequence[Scope]) -> tuple[Scope, ...]:
    """None of a small program's scopes; of a large one's, all but the smallest that fit an overview.

    `paths` holds the scope of each statement.
    """
    if len(paths) <= ALL_OPEN:
        return ()
    every = scopes(paths)
    inside = {
        scope: sum(path == scope for path in paths) + sum(s[:-1] == scope for s in every)
        for scope in ((), *every)
    }
    closed = dict.fromkeys(every)
    boxes = inside[()]
    while True:
        openable = [s for s in closed if s[:-1] not in closed]
        smallest = min(openable, key=lambda s: (len(s), inside[s]), default=None)
        if smallest is None or boxes + inside[smallest] - 1 > OVERVIEW:
            return tuple(closed)
        boxes += inside[smallest] - 1
        del closed[smallest]
