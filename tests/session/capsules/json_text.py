"""JSON whose differences can be read: what fits stands on one line."""

from __future__ import annotations

import json
from typing import Any

from workbench.session.protocol.capsule import plain

WIDTH = 100


def json_text(value: object) -> str:
    """The text of a golden file: numbers have six digits, as another processor's last digits may
    differ.
    """
    return _text(_rounded(plain(value)), 0) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _text(value: Any, indent: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or len(line) + indent <= WIDTH:
        return line
    inner = indent + 1
    if isinstance(value, dict):
        ends = "{}"
        lines = [
            f"{json.dumps(name, ensure_ascii=False)}: {_text(entry, inner)}"
            for name, entry in value.items()
        ]
    else:
        ends = "[]"
        lines = [_text(entry, inner) for entry in value]
    between = ",\n" + " " * inner
    return f"{ends[0]}\n{' ' * inner}{between.join(lines)}\n{' ' * indent}{ends[1]}"
