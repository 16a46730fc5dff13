"""The memory that a loop program holds at most, counted by going through all of its iterations."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.loops.records import (
    DEVICE,
    Allocate,
    Buffer,
    Constant,
    Count,
    For,
    Free,
    If,
    Record,
)


class Held:
    """What is held, and was at most, while a loop program runs at some sizes."""

    def __init__(self, sizes: Mapping[str, int], dtype: str) -> None:
        self.most = 0
        self.skipped: set[int] = set()
        """The loops and conditions that have come by, and never ran."""
        self._ran: set[int] = set()
        self._sizes, self._dtype = sizes, dtype
        self._live: dict[str, int] = {}

    def run(self, records: tuple[Record, ...], at: Mapping[str, int]) -> None:
        """Go through the records at the loop values `at`."""
        for record in records:
            if isinstance(record, For):
                values = range(record.lower.evaluate(at), record.upper.evaluate(at))
                self._passed(record, bool(values))
                for value in values:
                    self.run(record.body, {**at, record.variable: value})
            elif isinstance(record, If):
                holds = record.condition.holds(lambda e: e.evaluate(at))
                self._passed(record, holds)
                if holds:
                    self.run(record.body, at)
            elif isinstance(record, Allocate) and record.source is not None:
                if record.buffer.space == DEVICE:
                    self._live[record.buffer.name] = self._live.pop(record.source)
            elif isinstance(record, Allocate | Constant | Count):
                self._take(record.buffer)
            elif isinstance(record, Free):
                self._live.pop(record.name, None)

    def _passed(self, record: Record, runs: bool) -> None:
        if runs:
            self._ran.add(id(record))
        elif id(record) not in self._ran:
            self.skipped.add(id(record))
        self.skipped -= self._ran

    def _take(self, buffer: Buffer) -> None:
        if buffer.space == DEVICE:
            self._live[buffer.name] = bytes_of(buffer, self._sizes, self._dtype)
            self.most = max(self.most, sum(self._live.values()))


def wrong_peak(program: LoopProgram, sizes: Mapping[str, int], found: int) -> str | None:
    """What is wrong with the peak that a run in float64 has `found`, or with the predicted one.

    The predicted one takes every loop and condition to run that may; it is no more where all do.
    """
    held = Held(sizes, "float64")
    held.run(program.body, sizes)
    predicted = program.peak(sizes, "float64")
    if found != held.most:
        return f"a peak of {found} bytes instead of the {held.most} that its loops allocate"
    if predicted < found or (predicted != found and not held.skipped):
        return f"a peak of {found} bytes instead of the predicted {predicted}"
    return None
