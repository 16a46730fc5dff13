"""The storage of a program: where its arrays live, as far as steps have said so."""

from __future__ import annotations

from dataclasses import dataclass

INNER = "..."
"""The name of all inner axes of an array, in their order, among its dimensions."""


@dataclass(frozen=True)
class Storage:
    """The places of arrays in memory, as steps have changed them.

    As written every array has its full extent, allocated in the innermost loop that holds all of
    its lifetime. These fields hold intent. Windows, places and copies are derived from the
    lifetimes under the schedule whenever a program is lowered or checked.
    """

    contracted: tuple[tuple[str, str], ...] = ()
    """Pairs (array, dim): the dimension keeps only as many slices, used in turn, as lifetimes
    need.
    """
    donated: tuple[tuple[str, str], ...] = ()
    """Pairs (array, to): `to` takes over the storage of `array`, which is dead by then.

    An array that is donated to itself is updated in place.
    """
    swapped: tuple[tuple[str, int], ...] = ()
    """Pairs (array, n): the array lives in host memory.

    Slices come to the device for their use, n iterations early where a loop brings one after the
    other.
    """
    added: tuple[str, ...] = ()
    """Arrays of a sum's points that are added up as they are computed, and never stored.

    See `program/accumulating.py`.
    """
    layouts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pairs (array, order): its dimensions in memory, outermost first; `INNER` in it stands for all
    inner axes. An array that is not named has the order of the program.
    """

    @property
    def on_host(self) -> tuple[str, ...]:
        """The arrays that live in host memory."""
        return tuple(array for array, _ in self.swapped)


AS_WRITTEN = Storage()
"""The storage of a program that no step has changed."""
