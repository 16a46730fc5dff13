"""The protocol's TypeScript types, written from the dataclasses.

`python -m workbench.session.protocol` prints the file
`extensions/jupyterlab-workbench/src/protocol.ts`; a test holds that file to this text.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from workbench.session.parts import (
    code,
    cost,
    domain,
    memory,
    moves,
    preview,
    runs,
    step,
    sweep,
    value,
    why,
)
from workbench.session.picture import dot_boxes, edges, snapshot
from workbench.session.protocol import capsule, messages, state

MODULES = (
    dot_boxes, snapshot, edges, step, moves, domain, why, code, preview, cost, sweep, runs, memory,
    value, state, messages, capsule,
)  # fmt: skip
UNIONS = {"Request": messages.Request, "Message": messages.Message}
CHOICES = {"Kind": snapshot.Kind, "Part": messages.Part, "Outcome": state.Outcome}
SIMPLE = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    Any: "unknown",
}


def records() -> dict[str, type]:
    """Return every record by name, in the order of the modules."""
    return {
        name: record
        for module in MODULES
        for name, record in vars(module).items()
        if is_dataclass(record)
        and isinstance(record, type)
        and record.__module__ == module.__name__
    }


def typescript() -> str:
    """Return the text of the TypeScript file."""
    parts = [
        "// Written by `python -m workbench.session.protocol`. Do not edit.\n",
        f"export const PROTOCOL = {messages.PROTOCOL};\n",
    ]
    constants = json.dumps(dot_boxes.CONSTANTS, ensure_ascii=False, indent=2)
    parts += [f"export const DOT = {constants} as const;\n"]
    parts += [f"export type {name} = {_choice(hint)};\n" for name, hint in CHOICES.items()]
    parts += [_interface(record) for record in records().values()]
    parts += [
        f"export type {name} = {' | '.join(one.__name__ for one in get_args(union))};\n"
        for name, union in UNIONS.items()
    ]
    return "\n".join(parts)


def _interface(record: type) -> str:
    hints = get_type_hints(record)
    lines = [f"  readonly {f.name}: {_type(hints[f.name])};" for f in fields(record)]
    return "\n".join([f"export interface {record.__name__} {{", *lines, "}", ""])


def _type(hint: Any) -> str:
    for name, choice in CHOICES.items():
        if hint == choice:
            return name
    if hint in SIMPLE:
        return SIMPLE[hint]
    if is_dataclass(hint) and isinstance(hint, type):
        return hint.__name__
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _choice(hint)
    if origin is Mapping:
        return f"Readonly<Record<{_type(arguments[0])}, {_type(arguments[1])}>>"
    if origin is tuple and arguments[1:] == (...,):
        inner = _type(arguments[0])
        return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"
    if origin is tuple:
        return f"readonly [{', '.join(map(_type, arguments))}]"
    if isinstance(hint, types.UnionType):
        return " | ".join(_type(part) for part in arguments)
    raise TypeError(f"{hint!r} has no TypeScript type here")


def _choice(hint: Any) -> str:
    return " | ".join(f'"{value}"' for value in get_args(hint))
