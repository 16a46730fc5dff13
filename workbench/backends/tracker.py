"""The memory of a run: every byte is handed out, counted and limited here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import OutOfMemoryError, WorkbenchError, nearest
from workbench.lowering.loops.records import DEVICE, HOST, SPACES
from workbench.program.text.units import bytes_text

ALL = "all arrays and scratch memory"
"""The name of the memory that arrays share."""

Sharing = Callable[[str], Mapping[str, int]]
"""A function from a space to the bytes of the arrays that share memory there."""

SHOWN = 3
"""The number of arrays that an error lists."""
LISTED = 1e-3
"""The part of what is live and asked for from which on an error lists a live array."""

Capacity = int | Mapping[str, int] | None
"""The limit in bytes: of the device, or by memory space."""


class Memory:
    """The allocator and the books of one memory space, whose arrays the module `xp` makes.

    `capacity` is in bytes, None for no limit. `described` gives the memory under a name its name in
    errors, `sharing` the bytes of the arrays that share the memory `ALL`.

    Freed blocks are kept for the next request of their size as long as all blocks together stay
    within the highest amount ever held. So a loop that frees and asks again pays for no new pages,
    and the peak equals the books.
    """

    def __init__(
        self,
        xp: Any,
        capacity: int | None = None,
        described: Callable[[], Mapping[str, str]] = dict,
        space: str = DEVICE,
        sharing: Sharing | None = None,
    ) -> None:
        self.xp = xp
        self.space = space
        self.described, self.sharing = described, sharing
        self.capacity = capacity
        self.live: dict[str, int] = {}
        self.held = 0
        self.peak = 0
        self._blocks: dict[str, Any] = {}
        self._spare: dict[int, list[Any]] = {}
        self._spare_bytes = 0

    def allocate(self, name: str, shape: Sequence[int], dtype: Any, initial: str = "") -> Any:
        """Allocate an array under a name.

        `initial` "nan" or "zero" fills it (NaN is 0 where the dtype has none).
        """
        asked = self.reserve(name, shape, dtype)
        kept = self._spare.get(asked)
        if kept:
            block = kept.pop()
            self._spare_bytes -= asked
        else:
            block = self._asked(name, asked, shape)
        self._blocks[name] = block
        array = block.view(dtype).reshape(shape)
        if initial:
            array.fill(math.nan if initial == "nan" and array.dtype.kind == "f" else 0)
        return array

    def reserve(self, name: str, shape: Sequence[int], dtype: Any) -> int:
        """Count memory that an operation takes for itself."""
        asked = math.prod(shape) * int(np.dtype(dtype).itemsize)
        if self.capacity is not None and self.held + asked > self.capacity:
            raise self._refused(name, asked, shape)
        self.live[name] = asked
        self.held += asked
        self.peak = max(self.peak, self.held)
        return asked

    def piece(
        self,
        name: str,
        count: int,
        make: Callable[[int], Any],
        free_bytes: Callable[[], int] | None = None,
    ) -> Any:
        """Return memory of so many bytes that `make` makes, where a MemoryError says that there are
        too few: only so many are free.
        """
        self.reserve(name, (count,), np.uint8)
        try:
            return make(count)
        except MemoryError as error:
            self.held -= self.live.pop(name)
            free = None if free_bytes is None else free_bytes()
            raise self._refused(name, count, free=free) from error

    def free(self, name: str) -> None:
        """Free the memory that was allocated under a name."""
        size = self.live.pop(name)
        self.held -= size
        block = self._blocks.pop(name, None)
        if block is not None and size:
            self._spare.setdefault(size, []).append(block)
            self._spare_bytes += size

    def constant(self, name: str, value: Any, shape: Sequence[int], dtype: Any) -> Any:
        """Return a constant tensor."""
        array = self.allocate(name, shape, dtype)
        array[...] = self.xp.asarray(value) if shape else value
        return array

    def count(self, name: str, start: int, length: int, step: int, dtype: Any) -> Any:
        """Return the integers start, start + step, …"""
        array = self.allocate(name, (length,), dtype)
        array[...] = self.xp.arange(start, start + step * length, step, dtype)
        return array

    def _asked(self, name: str, asked: int, shape: Sequence[int]) -> Any:
        """Return a new block; spare ones are freed if all would be more than was ever held."""
        for size in sorted(self._spare, reverse=True):
            while self._spare[size] and self.held + self._spare_bytes > self.peak:
                self._spare[size].pop()
                self._spare_bytes -= size
        try:
            return self.xp.empty(asked, np.uint8)
        except MemoryError as error:
            self.held -= self.live.pop(name)
            raise self._refused(name, asked, shape) from error

    def _refused(
        self,
        name: str,
        asked: int,
        shape: Sequence[int] | None = None,
        free: int | None = None,
    ) -> OutOfMemoryError:
        """Return the error with the request and the largest arrays in it, the limit, the largest
        arrays held, and what helps.
        """
        described = self.described()
        sharing = self.sharing if name == ALL else None
        shares = largest(sharing(self.space)) if sharing is not None else {}
        held: dict[str, int] = {}
        for other, n in self.live.items():
            text = described.get(other, other)
            held[text] = held.get(text, 0) + n
        least = LISTED * (self.held + asked)
        shown = {text: n for text, n in largest(held).items() if n >= least}
        dims = "" if shape is None else f" ({'×'.join(map(str, shape)) or 'a scalar'})"
        dims = _listed(shares) if shares else dims
        limit = "" if self.capacity is None else f", capacity {bytes_text(self.capacity)}"
        limit += "" if free is None else f", {bytes_text(free)} free"
        helps = "" if self.capacity is None else ", or a larger capacity="
        return OutOfMemoryError(
            f"{self.space} out of memory: {bytes_text(asked)} asked for "
            f"{described.get(name, name)}{dims}{limit}, "
            f"{bytes_text(self.held)} live{_listed(shown)}; smaller sizes would help{helps}",
            self.space,
            dict.fromkeys([*(shares or [described.get(name, name)]), *shown]),
            self.capacity if free is None else self.held + free,
        )


def largest(held: Mapping[str, int]) -> dict[str, int]:
    """Return the largest of what is held, the largest first."""
    return dict(sorted(held.items(), key=lambda item: -item[1])[:SHOWN])


def _listed(arrays: Mapping[str, int]) -> str:
    """List arrays and their bytes behind what they are of."""
    each = ", ".join(f"{text} {bytes_text(n)}" for text, n in arrays.items())
    return f" (the largest: {each})" if each else ""


@dataclass(frozen=True)
class Spaces:
    """The memory of a run, by space."""

    device: Memory
    host: Memory

    @property
    def peak(self) -> dict[str, int]:
        """The most bytes that each space held."""
        return {DEVICE: self.device.peak, HOST: self.host.peak}


def spaces(
    xp: Any,
    capacity: Capacity = None,
    described: Callable[[], Mapping[str, str]] = dict,
    sharing: Sharing | None = None,
) -> Spaces:
    """Return memory of the device, made by `xp`, and of the host.

    Raises WorkbenchError as `limits_of`.
    """
    limits = limits_of(capacity)
    return Spaces(
        Memory(xp, limits.get(DEVICE), described, DEVICE, sharing),
        Memory(np, limits.get(HOST), described, HOST, sharing),
    )


def limits_of(capacity: Capacity) -> Mapping[str, int | None]:
    """Return the limit of each space, None or left out where nothing limits it.

    Raises WorkbenchError for a capacity of an unknown space, or that is no number of bytes.
    """
    limits = capacity if isinstance(capacity, Mapping) else {DEVICE: capacity}
    for space, limit in limits.items():
        if space not in SPACES:
            known = nearest(str(space), SPACES, "memory spaces")
            raise WorkbenchError(f"capacity: unknown memory space {space!r}: {known}")
        whole = isinstance(limit, (int, np.integer)) and not isinstance(limit, bool)
        if limit is not None and (not whole or limit < 0):
            raise WorkbenchError(f"capacity of the {space}: {limit!r}; expected a number of bytes")
    return limits
