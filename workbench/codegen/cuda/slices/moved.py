"""Kernels that work on slices: what they read and write of arrays in host memory lies elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.kernel_records import (
    Compute,
    Invoke,
    KernelRecord,
    Let,
    Load,
    Loop,
    Prefetch,
    Require,
    Store,
    Update,
    Value,
    Variable,
    Where,
)
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
        if isinstance(record, (Loop, Where)):
            return replace(record, body=self.records(record.body))
        if isinstance(record, (Let, Variable, Update)):
            return replace(record, value=self._value(record.value))
        if isinstance(record, Require):
            numbers = tuple(map(self._value, record.numbers))
            return replace(record, value=self._value(record.value), numbers=numbers)
        if isinstance(record, Store):
            buffer, at = _moved(self.writing, record.buffer, record.at)
            return replace(record, buffer=buffer, at=at, value=self._value(record.value))
        if isinstance(record, Prefetch):
            buffer, at = _moved(self.reading, record.buffer, record.at)
            return Prefetch(buffer, at)
        if isinstance(record, Invoke):
            operands = tuple(_moved(self.reading, *operand) for operand in record.operands)
            return replace(record, out=_moved(self.writing, *record.out), operands=operands)
        return record

    def _value(self, value: Value) -> Value:
        if isinstance(value, Load):
            buffer, at = _moved(self.reading, value.buffer, value.at)
            return Load(buffer, at, value.dtype)
        if isinstance(value, Compute):
            return replace(value, arguments=tuple(map(self._value, value.arguments)))
        return value


def _moved(moves: Moves, buffer: str, at: Expression) -> tuple[str, Expression]:
    move = moves.get(buffer)
    return (buffer, at) if move is None else (move.buffer, at + move.by)
