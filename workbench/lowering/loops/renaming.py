"""Records under other names. A record that mentions none of them stays itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.lowering.loops.records import (
    Apply,
    Constant,
    Count,
    If,
    Record,
    RuntimeCheck,
    View,
)


def renamed(record: Record, names: Mapping[str, str]) -> Record:
    """Return a record with new names in place of old; one that mentions none stays itself."""
    if isinstance(record, View):
        name, source = names.get(record.name, record.name), names.get(record.source, record.source)
        same = name is record.name and source is record.source
        return record if same else View(name, source, record.how)
    if isinstance(record, Apply):
        if names.keys().isdisjoint(mentioned(record)):
            return record
        inputs = tuple(names.get(n, n) for n in record.inputs)
        options = tuple((k, _option(k, v, names)) for k, v in record.options)
        return Apply(record.function, inputs, names.get(record.out, record.out), options)
    if isinstance(record, RuntimeCheck):
        name = names.get(record.name, record.name)
        return record if name is record.name else replace(record, name=name)
    if isinstance(record, (Constant, Count)) and record.buffer.name in names:
        return replace(record, buffer=replace(record.buffer, name=names[record.buffer.name]))
    if isinstance(record, If):
        return If(record.condition, tuple(renamed(inner, names) for inner in record.body))
    return record


def mentioned(record: Apply) -> tuple[str, ...]:
    """Return the names of an operation's operands and result."""
    names = (*record.inputs, record.out)
    for key, value in record.options:
        if key == "coordinates":
            names = (*names, *(c for c in value if isinstance(c, str)))
        elif key == "scratch":
            names = (*names, value)
    return names


def _option(key: str, value: Any, names: Mapping[str, str]) -> Any:
    if key == "coordinates":
        return tuple(names.get(c, c) if isinstance(c, str) else c for c in value)
    return names.get(value, value) if key == "scratch" else value
