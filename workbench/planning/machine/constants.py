"""The constants of a machine and backend from which times are predicted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

Rates = Mapping[str, float]


@dataclass(frozen=True)
class Machine:
    """Seconds that a call, an inner loop, an element and a byte take.

    A call of an array operation costs `call[kind] + loops * row[kind] + max(bytes * byte(distance),
    elements * element[kind])`; a kind without a value has that of "elementwise". A product of
    matrices costs `call + batch * row + 2 m n k / product + panel (m k + k n + m n)`.

    `byte` are pairs (working set in bytes, seconds per byte) in growing order. `element`, `product`
    and `panel` are by dtype where they differ. `fresh` is the first touch of a byte of new memory.
    A call takes `cold` times as long where other work has used the caches since its last execution.
    `widths` are pairs (columns, how many times as long) in falling order: a compiled product goes
    through groups of so many columns, of which the narrower ones take longer an operation.
    A GPU has so many `multiprocessors` with so many `shared_bytes` each; its constants are those of
    all together. A byte takes `bus` seconds between the memory of the host and that of a device.
    """

    backend: str
    call: Rates
    row: Rates
    element: Mapping[str, Rates]
    byte: tuple[tuple[int, float], ...]
    product: Rates
    panel: Rates
    fresh: float
    cold: float
    device: str = ""
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    widths: tuple[tuple[int, float], ...] = ((1, 1.0),)
    multiprocessors: int = 0
    shared_bytes: int = 0
    bus: float = 0.0
    note: str = ""
    """The reason why these are not measured on this machine; "" where they are."""

    @property
    def calibrated(self) -> bool:
        """Tell whether the constants were measured here."""
        return not self.note

    @property
    def has_device_memory(self) -> bool:
        """Tell whether the device has memory of its own, apart from the host's."""
        return self.bus > 0

    @cached_property
    def _rows(self) -> list[tuple[float, float]]:
        return [(math.log(n), seconds) for n, seconds in self.byte]

    def seconds_per_byte(self, working_set: float) -> float:
        """Return the seconds per byte at a working set, interpolating logarithms in the table."""
        size = math.log(max(working_set, 1.0))
        (low, value), *rest = self._rows
        for high, next_value in rest:
            if size <= high:
                share = max(0.0, (size - low) / (high - low))
                return value + share * (next_value - value)
            low, value = high, next_value
        return value

    def element_of(self, kind: str, dtype: str) -> float:
        """Return the seconds an element, where the arithmetic costs more than the bytes; else 0."""
        seconds = self.element.get(kind)
        return 0.0 if seconds is None else seconds[dtype]

    def call_of(self, kind: str) -> float:
        """Return the seconds of a call."""
        return self.call.get(kind, self.call["elementwise"])

    def row_of(self, kind: str) -> float:
        """Return the seconds of an inner loop."""
        return self.row.get(kind, self.row["elementwise"])
