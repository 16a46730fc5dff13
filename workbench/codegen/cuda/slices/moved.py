"""Kernels that work on slices: what they read and write of arrays in host memory lies elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.kernel_records import (
    Invoke,
    KernelRecord,
    Load,
    Loop,
    Prefetch,
    Store,
    Where,
)
from workbench.codegen.record_changes import with_loads
from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class Elsewhere:
    """Another buffer for elements of an array, which lie so many places further there."""

    buffer: str
    by: Expression


Moves = Mapping[str, Elsewhere]


@dataclass(frozen=True)
class Moving:
    """The buffers that a kernel reads from and writes to instead of arrays."""

    reading: Moves
    writing: Moves

    def records(self, records: Sequence[KernelRecord]) -> tuple[KernelRecord, ...]:
        """Return records that read and write there."""
        return tuple(map(self._record, records))

    def _record(self, record: KernelRecord) -> KernelRecord:
        record = with_loads(record, self._load)
        if isinstance(record, (Loop, Where)):
            return replace(record, body=self.records(record.body))
        if isinstance(record, Store):
            buffer, at = _moved(self.writing, record.buffer, record.at)
            return replace(record, buffer=buffer, at=at)
        if isinstance(record, Prefetch):
            buffer, at = _moved(self.reading, record.buffer, record.at)
            return Prefetch(buffer, at)
        if isinstance(record, Invoke):
            operands = tuple(_moved(self.reading, *operand) for operand in record.operands)
            return replace(record, out=_moved(self.writing, *record.out), operands=operands)
        return record

    def _load(self, load: Load) -> Load:
        return Load(*_moved(self.reading, load.buffer, load.at), load.dtype)


def _moved(moves: Moves, buffer: str, at: Expression) -> tuple[str, Expression]:
    move = moves.get(buffer)
    return (buffer, at) if move is None else (move.buffer, at + move.by)
