"""Pieces of arrays in host memory: elements that lie one behind the other."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.lowering.loops.records import WHOLE, Entry, Range, Symbolic
from workbench.lowering.values.intervals import Ranges, greatest_length, length, total
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression, expression
from workbench.polyhedral.shortest import shortest


@dataclass(frozen=True)
class Run:
    """Indices one after the other along a dimension: the first, how many, and at most how many."""

    first: Expression
    length: Expression
    most: Expression

    @property
    def end(self) -> Expression:
        """The index behind the last."""
        return shortest(self.first + self.length)


@dataclass(frozen=True)
class Piece:
    """The elements of an array at positions along the first dimensions of its memory, in a run of
    the next, if one is given, and everywhere along all others.
    """

    stored: Stored
    positions: tuple[Expression, ...]
    run: Run | None = None

    def same(self, other: Piece) -> bool:
        """Tell whether another piece of the array has the same elements."""
        return (self.positions, self.run) == (other.positions, other.run)

    @property
    def dims(self) -> tuple[int, ...]:
        """The positions of the dimensions that are not all there."""
        return self.stored.order[: len(self.positions) + (self.run is not None)]

    @property
    def rest(self) -> Symbolic:
        """The lengths in memory of all others, and of the inner axes."""
        return self.stored.buffer.shape[len(self.dims) :]

    @property
    def shape(self) -> Symbolic:
        """The lengths in memory, at most."""
        return self.rest if self.run is None else (self.run.most, *self.rest)

    @property
    def elements(self) -> Expression:
        """The number of its elements, at most."""
        return total(self.shape)

    @property
    def slots(self) -> tuple[Expression, ...]:
        """The places in memory of the positions, and of the first of the run."""
        run = () if self.run is None else (self.run.first,)
        indices = zip(self.dims, (*self.positions, *run), strict=True)
        return tuple(self.stored.slot(p, e) for p, e in indices)

    @property
    def begin(self) -> Expression:
        """The place of its first element in the array."""
        at = expression(0)
        for slot, count in zip(self.slots, self.stored.buffer.shape, strict=False):
            at = at * count + slot
        for count in self.rest:
            at = at * count
        return at

    @property
    def there(self) -> tuple[Entry, ...]:
        """The index of its elements in the array's buffer."""
        whole = [WHOLE] * len(self.rest)
        if self.run is None:
            return (*self.slots, *whole)
        *positions, first = self.slots
        return (*positions, Range(first, shortest(first + self.run.length)), *whole)

    @property
    def here(self) -> tuple[Entry, ...]:
        """The index of its elements in a buffer of its shape."""
        if self.run is None or self.run.length == self.run.most:
            return (WHOLE,) * len(self.shape)
        return (Range(expression(0), self.run.length), *[WHOLE] * len(self.rest))

    @property
    def variables(self) -> frozenset[str]:
        """The variables of loops that say which piece it is."""
        lengths = () if self.run is None else (self.run.length,)
        return frozenset[str]().union(*(e.variables for e in (*self.slots, *lengths)))


def together(one: Piece, other: Piece, ranges: Ranges) -> Piece | None:
    """Return the least piece that has the elements of both, where these are always as far from each
    other.
    """
    if one.same(other):
        return one
    one, other = (piece if piece.run else _as_run(piece) for piece in (one, other))
    if one.positions != other.positions or one.run is None or other.run is None:
        return None
    firsts, ends = (one.run.first, other.run.first), (one.run.end, other.run.end)
    apart = [shortest(a - b) for a, b in (firsts, ends)]
    if any(e.terms for e in apart):
        return None
    first = firsts[apart[0].constant > 0]
    count = length(first, ends[apart[1].constant < 0], ranges)
    return Piece(one.stored, one.positions, Run(first, count, greatest_length(count, ranges)))


def _as_run(piece: Piece) -> Piece:
    """Return a piece with its last position as a run, where that has no end in memory at which it
    begins anew.
    """
    if not piece.positions or piece.stored.windows[piece.dims[-1]] is not None:
        return piece
    *positions, last = piece.positions
    return Piece(piece.stored, tuple(positions), Run(last, expression(1), expression(1)))
