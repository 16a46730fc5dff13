"""The slots of memory in which the elements of arrays lie at given sizes.

An array that shares memory with no other has a slot for each element that it stores: a window of
`n` has `n`. Arrays that take over each other's memory have its slots in common, however each lays
its elements out there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.lowering.memory.takeover import Ownership, memory_of
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.loops.execution_order import Point
from workbench.program.values import Program

Slots = tuple[int, ...]

MOST_SHARED = 100_000
"""The most numbers of memory that arrays share, each of which is looked at."""


class TooLargeToShare(Exception):
    """Arrays share more memory than can be told apart number by number."""


@dataclass(frozen=True)
class Piece:
    """A piece of memory: its arrays, in the order in which they are first written, and its number
    of slots. `lengths` are the numbers of slots along the dimensions that the first array stores,
    outermost first.
    """

    arrays: tuple[str, ...]
    slots: int
    lengths: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Lying:
    """A stored array at given sizes: where an index lies along each dimension, outermost first."""

    along: tuple[tuple[int, int, int | None], ...]
    """The position of each stored dimension, its first index, and the modulus of indices there."""
    lengths: tuple[int, ...]
    """The number of places along each."""

    def place(self, element: Point) -> int:
        """Return the place of an element among all that are stored."""
        place = 0
        for (position, first, modulus), length in zip(self.along, self.lengths, strict=True):
            index = element[position]
            place = place * length + (index - first if modulus is None else index % modulus)
        return place


@dataclass(frozen=True, eq=False)
class Memory:
    """The memory of a program's arrays at given sizes, all of them."""

    program: Program
    sizes: Mapping[str, int]
    _known: dict[tuple[str, Point], Slots] = field(default_factory=dict, repr=False)

    @cached_property
    def _owned(self) -> Ownership:
        return memory_of(self.program)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Every piece, in the order of the arrays that have them first."""
        pieces: dict[str, Piece] = {}
        for array in self.program.arrays:
            if array.name in pieces:
                continue
            together = sorted(self._owned.together(array.name), key=self._owned.first)
            lengths = self._lying[together[0]].lengths
            slots = int(np.prod(lengths, dtype=int))
            if len(together) > 1:
                slots = 1 + max(max(own) for name in together for own in self._shared[name])
            pieces |= dict.fromkeys(together, Piece(tuple(together), slots, lengths))
        return tuple(dict.fromkeys(pieces.values()))

    def slots(self, array: str, element: Point) -> Slots:
        """Return the slots of an element in its array's piece of memory: one, or several where the
        elements of another array there are smaller.
        """
        key = (array, element)
        if key not in self._known:
            place = self._lying[array].place(element)
            shared = self._shared.get(array)
            self._known[key] = (place,) if shared is None else shared[place]
        return self._known[key]

    def stored(self, array: str) -> Stored:
        """Return how an array is stored: its windows, its order in memory."""
        return self._owned.stored(array)

    @cached_property
    def _lying(self) -> Mapping[str, Lying]:
        return {a.name: self._lies(self._owned.stored(a.name)) for a in self.program.arrays}

    def _lies(self, stored: Stored) -> Lying:
        along = []
        for position in stored.order:
            first, modulus = stored.array.extent[position][0], stored.modulus(position)
            turns = None if modulus is None else modulus.evaluate(self.sizes)
            along.append((position, first.evaluate(self.sizes), turns))
        lengths = tuple(stored.count(position).evaluate(self.sizes) for position in stored.order)
        return Lying(tuple(along), lengths)

    @cached_property
    def _shared(self) -> Mapping[str, Sequence[Slots]]:
        """The slots of every place of the arrays that share memory.

        What no array there tells apart is one slot. Raises TooLargeToShare.
        """
        shared: dict[str, Sequence[Slots]] = {}
        for array in self.program.arrays:
            together = sorted(self._owned.together(array.name), key=self._owned.first)
            if len(together) == 1 or array.name in shared:
                continue
            owners = np.stack([self._owners(name) for name in together])
            _, slot_of = np.unique(owners, axis=1, return_inverse=True)
            for name, places in zip(together, owners, strict=True):
                pairs = np.unique(places * slot_of.size + slot_of.ravel())
                of_place, slots = np.divmod(pairs, slot_of.size)
                begins = np.searchsorted(of_place, np.arange(1, of_place[-1] + 1))
                shared[name] = [tuple(own.tolist()) for own in np.split(slots, begins)]
        return shared

    def _owners(self, array: str) -> npt.NDArray[Any]:
        """Return the place to which each number of an array's memory belongs."""
        stored, lengths = self._owned.stored(array), self._lying[array].lengths
        shape = [n.evaluate(self.sizes) for n in stored.buffer.shape]
        if prod(shape) > MOST_SHARED:
            raise TooLargeToShare
        inner = (1,) * len(stored.array.shape)
        places = np.arange(np.prod(lengths, dtype=int))
        apart = places.reshape(stored.arranged(lengths, inner))
        return np.broadcast_to(apart, shape).ravel()
