"""The protocol's TypeScript types, written from the dataclasses.

`python -m workbench.session.protocol` prints the file
`extensions/jupyterlab-workbench/src/protocol.ts`; a test holds that file to this text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import get_args

from workbench.program.text.units import UNITS
from workbench.session.parts import (
    code,
    cost,
    domain,
    memory,
    moves,
    play,
    preview,
    runs,
    step,
    sweep,
    value,
)
from workbench.session.parts.legality import reason, why
from workbench.session.picture import dot_boxes, edges, snapshot
from workbench.session.protocol import capsule, messages, state
from workbench.transforms.step.refusal import TITLES
from workbench.type_hints import Hint, field_hints, read_hint

MODULES = (
    dot_boxes, snapshot, edges, step, moves, domain, why, reason, code, preview, cost, sweep, runs,
    memory, value, play, state, messages, capsule,
)  # fmt: skip
UNIONS = {"Request": messages.Request, "Message": messages.Message}
CHOICES = {"Kind": snapshot.Kind, "Part": messages.Part, "Outcome": state.Outcome}
_NAMES = {read_hint(choice): name for name, choice in CHOICES.items()}
_SIMPLE: Mapping[str, str] = {
    "text": "string",
    "whole number": "number",
    "number": "number",
    "truth": "boolean",
    "anything": "unknown",
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
    parts += [_constant("DOT", dot_boxes.CONSTANTS, indent=2)]
    parts += [_constant("UNITS", UNITS), _constant("REFUSAL_TITLES", TITLES, indent=2)]
    parts += [f"export type {name} = {_choice(hint)};\n" for hint, name in _NAMES.items()]
    parts += [_interface(record) for record in records().values()]
    parts += [
        f"export type {name} = {' | '.join(one.__name__ for one in get_args(union))};\n"
        for name, union in UNIONS.items()
    ]
    return "\n".join(parts)


def _constant(name: str, value: object, indent: int | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return f"export const {name} = {text} as const;\n"


def _interface(record: type) -> str:
    lines = [f"  readonly {name}: {_type(hint)};" for name, hint in field_hints(record).items()]
    return "\n".join([f"export interface {record.__name__} {{", *lines, "}", ""])


def _type(hint: Hint) -> str:
    if hint.optional:
        return f"{_type(hint.given)} | null"
    if hint.what in _SIMPLE:
        return _SIMPLE[hint.what]
    if hint.what == "choice":
        return _NAMES.get(hint) or _choice(hint)
    if hint.what == "record":
        return str(hint.type.__name__)
    parts = [_type(part) for part in hint.parts]
    if hint.what == "mapping":
        return f"Readonly<Record<{', '.join(parts)}>>"
    if hint.what == "tuple":
        return f"readonly [{', '.join(parts)}]"
    if hint.what == "list":
        return f"readonly ({parts[0]})[]" if " " in parts[0] else f"readonly {parts[0]}[]"
    raise TypeError(f"{hint!r} has no TypeScript type here")


def _choice(hint: Hint) -> str:
    return " | ".join(f'"{value}"' for value in hint.choices)
