"""A value while bodies are linearised: the view that holds it, its axes, and its memory layout.

Axes are named (dimensions that run as array axes, reduction dimensions), always in one global
order, then come the inner axes. The layout is known without running. It tells which neighbouring
axes are contiguous, so what may be reshaped without a copy and what BLAS takes as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.lowering.loops.records import (
    NEW,
    WHOLE,
    Entry,
    Range,
    Symbolic,
)
from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class Layout:
    """A memory layout.

    `joined[k]`: axes k and k + 1 can be merged; `unit`: the last axis has stride one element.
    """

    joined: tuple[bool, ...]
    unit: bool = True

    @property
    def dense(self) -> bool:
        """True if C-contiguous."""
        return self.unit and all(self.joined)


def dense(rank: int) -> Layout:
    """Return the layout of a fresh array."""
    return Layout((True,) * max(rank - 1, 0))


@dataclass(frozen=True)
class Value:
    """A tensor for all points of `axes`: the array `name` has those axes, then the inner `shape`.

    `buffer` is whose memory it is; `whole` says that `name` is all of that buffer, in its shape.
    """

    name: str
    buffer: str
    axes: tuple[str, ...]
    counts: Symbolic
    shape: Symbolic
    dtype: str
    layout: Layout
    whole: bool = False

    @property
    def rank(self) -> int:
        """The number of array axes."""
        return len(self.axes) + len(self.shape)

    @property
    def extents(self) -> Symbolic:
        """The length of each array axis."""
        return (*self.counts, *self.shape)

    def count(self, axis: str) -> Expression:
        """Return the length of the named axis."""
        return self.counts[self.axes.index(axis)]


def indexed(layout: Layout, entries: Sequence[Entry]) -> Layout:
    """Return the layout after an index: one entry for each old axis, with `NEW` ones between."""
    kept: list[tuple[int, Entry]] = []  # old position (-1: new), entry
    position = 0
    for entry in entries:
        if entry == NEW:
            kept.append((-1, entry))
            continue
        if not isinstance(entry, Expression):
            kept.append((position, entry))
        position += 1
    joined = []
    for (p, first), (q, second) in pairwise(kept):
        steady = first == WHOLE or (isinstance(first, Range) and first.step == 1)
        joined.append(p >= 0 and q == p + 1 and steady and second == WHOLE and layout.joined[p])
    if not kept:
        return Layout((), True)
    last, entry = kept[-1]
    forwards = entry == WHOLE or (isinstance(entry, Range) and entry.step == 1)
    return Layout(tuple(joined), last == position - 1 and forwards and layout.unit)


def transposed(layout: Layout, axes: Sequence[int]) -> Layout:
    """Return the layout after permuting axes."""
    joined = tuple(q == p + 1 and layout.joined[p] for p, q in pairwise(axes))
    return Layout(joined, not axes or (axes[-1] == len(axes) - 1 and layout.unit))
