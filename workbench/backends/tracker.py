"""Every byte a run holds: memory is handed out, counted and limited here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import RunError


class Memory:
    """Hands out arrays of the module `xp` and keeps the books. `capacity` is in bytes, None for no limit."""

    def __init__(self, xp: Any, capacity: int | None = None) -> None:
        self.xp = xp
        self.capacity = capacity
        self.live: dict[str, int] = {}
        self.held = 0
        self.peak = 0

    def allocate(self, name: str, shape: Sequence[int], dtype: Any, initial: str = "") -> Any:
        """An array under a name; `initial` "nan" or "zero" fills it (NaN is 0 where the dtype has none)."""
        self.reserve(name, shape, dtype)
        found = self._asked(name, lambda: self.xp.empty(shape, dtype))
        if initial:
            found.fill(math.nan if initial == "nan" and np.dtype(dtype).kind == "f" else 0)
        return found

    def reserve(self, name: str, shape: Sequence[int], dtype: Any) -> None:
        """Count memory that an operation takes for itself."""
        asked = math.prod(shape) * np.dtype(dtype).itemsize
        if self.capacity is not None and self.held + asked > self.capacity:
            raise RunError(
                f"out of memory: {_bytes(asked)} asked for {name} "
                f"({'×'.join(map(str, shape)) or 'a scalar'}), capacity {_bytes(self.capacity)}, "
                + self._holding()
            )
        self.live[name] = asked
        self.held += asked
        self.peak = max(self.peak, self.held)

    def free(self, name: str) -> None:
        """Give back what was allocated under a name."""
        self.held -= self.live.pop(name)

    def constant(self, name: str, value: Any, shape: Sequence[int], dtype: Any) -> Any:
        """A constant tensor."""
        found = self.allocate(name, shape, dtype)
        found[...] = self.xp.asarray(value) if shape else value
        return found

    def count(self, name: str, start: int, length: int, step: int, dtype: Any) -> Any:
        """The integers start, start + step, …"""
        found = self.allocate(name, (length,), dtype)
        found[...] = self.xp.arange(start, start + step * length, step, dtype)
        return found

    def _asked(self, name: str, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except MemoryError as error:
            asked = self.live[name]
            self.free(name)
            raise RunError(
                f"out of memory: {_bytes(asked)} asked for {name}, {self._holding()}"
            ) from error

    def _holding(self) -> str:
        largest = sorted(self.live.items(), key=lambda item: -item[1])[:5]
        listed = ", ".join(f"{name} {_bytes(n)}" for name, n in largest)
        return f"{_bytes(self.held)} live" + (f" ({listed})" if listed else "")


def _bytes(n: int) -> str:
    amount = float(n)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} GiB"
