"""Loops over rows of a tile in which two rows are computed at a time.

Each step of a function of many instructions needs the one before it. Where those of two rows take
turns, less is waited for: `tanh_of` in `elementary.h`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.codegen.kernel_records import (
    Compute,
    KernelRecord,
    Let,
    Local,
    Loop,
    Store,
    Value,
    parts,
)
from workbench.codegen.printing.value_text import ValueText

FUNCTIONS = frozenset(("tanh",))
"""Operations that the run-time computes of two vectors at a time, in float32."""


@dataclass(frozen=True)
class RowNames:
    """The C names of one row's locals: those that are `instead` of others, and C texts `given`."""

    name: Callable[[str], str]
    instead: Mapping[str, str]
    given: dict[str, str]

    def __call__(self, name: str) -> str:
        """Return the C text of a name."""
        return self.given.get(name) or self.name(self.instead.get(name, name))


def has_pairs(loop: Loop, here: ValueText) -> bool:
    """Tell whether a loop has rows to pair, all of them, and a function that gains by it. No row
    may need another's.
    """
    rows = loop.upper - loop.lower
    return not rows.terms and rows.constant % 2 == 0 and has_function(loop.body, here)


def has_function(records: Sequence[KernelRecord], here: ValueText) -> bool:
    """Tell whether records compute a function whose steps wait for each other, themselves."""
    values = (record.value for record in records if isinstance(record, (Let, Store)))
    return any(_is_function(part, here) for value in values for part in parts(value))


def innermost_call(value: Value, here: ValueText) -> Compute | None:
    """Return a call in a value that is computed of pairs, in all lanes, and needs no other one."""
    calls = [part for part in parts(value) if _is_function(part, here) and here.value(part).vector]
    return calls[-1] if calls and isinstance(calls[-1], Compute) else None


def with_local(value: Value, call: Compute, local: Local) -> Value:
    """Return a value that is computed from a local instead of from a call."""
    if value == call:
        return local
    if isinstance(value, Compute):
        arguments = tuple(with_local(argument, call, local) for argument in value.arguments)
        return replace(value, arguments=arguments)
    return value


def _is_function(value: Value, here: ValueText) -> bool:
    known = isinstance(value, Compute) and value.operation in FUNCTIONS
    return known and here.kind(value.dtype) == "f"
