"""Kernel records with other loads in their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.codegen.kernel_records import (
    Compute,
    KernelRecord,
    Let,
    Load,
    Require,
    Store,
    Update,
    Value,
    Variable,
)

Change = Callable[[Load], Load]


def with_loads(record: KernelRecord, change: Change) -> KernelRecord:
    """Return a record with the loads in its values changed, but for those of records inside it."""
    if isinstance(record, (Let, Variable, Update, Store)):
        return replace(record, value=_value(record.value, change))
    if isinstance(record, Require):
        numbers = tuple(_value(number, change) for number in record.numbers)
        return replace(record, value=_value(record.value, change), numbers=numbers)
    return record


def _value(value: Value, change: Change) -> Value:
    if isinstance(value, Load):
        return change(value)
    if isinstance(value, Compute):
        arguments = tuple(_value(argument, change) for argument in value.arguments)
        return replace(value, arguments=arguments)
    return value
