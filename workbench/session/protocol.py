"""The TypeScript types of what Python sends, written from the dataclasses.

`python -m workbench.session.protocol` prints the file
`extensions/jupyterlab-workbench/src/snapshot.ts`; a test holds that file to this text.
"""

from __future__ import annotations

import types
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

from workbench.session import snapshot
from workbench.session.edges import Edge

RECORDS: tuple[type, ...] = (
    snapshot.ParameterView,
    snapshot.DimView,
    snapshot.AccessView,
    snapshot.LineView,
    snapshot.Node,
    Edge,
    snapshot.Snapshot,
)


def typescript() -> str:
    """The text of the TypeScript file."""
    parts = [
        "// Written by `python -m workbench.session.protocol`. Do not edit.\n",
        f"export const VERSION = {snapshot.VERSION};\n",
        f"export type Kind = {' | '.join(map(_quoted, get_args(snapshot.Kind)))};\n",
    ]
    parts += [_interface(record) for record in RECORDS]
    return "\n".join(parts)


def _interface(record: type) -> str:
    hints = get_type_hints(record)
    lines = [f"  readonly {f.name}: {_type(hints[f.name])};" for f in fields(record)]
    return "\n".join([f"export interface {record.__name__} {{", *lines, "}", ""])


def _type(hint: Any) -> str:
    simple = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
    if hint in simple:
        return simple[hint]
    if hint in RECORDS:
        return str(hint.__name__)
    if hint == snapshot.Kind:
        return "Kind"
    if get_origin(hint) is tuple and get_args(hint)[1:] == (...,):
        inner = _type(get_args(hint)[0])
        return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"
    if isinstance(hint, types.UnionType):
        return " | ".join(_type(part) for part in get_args(hint))
    raise TypeError(f"{hint!r} has no TypeScript type here")


def _quoted(value: str) -> str:
    return f'"{value}"'


if __name__ == "__main__":
    print(typescript(), end="")
