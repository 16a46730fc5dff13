"""A workbench as one value that can be stored: in a notebook's output, an exported page or a saved
file. Views draw it without Python.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

from workbench.measure.rounds import process
from workbench.session.protocol.messages import PROTOCOL, Part
from workbench.session.protocol.shareable import shareable
from workbench.session.protocol.state import State

LARGE = 200_000
"""The characters of JSON from which on a capsule is compressed."""


@dataclass(frozen=True)
class SavedPart:
    """A part of a variant, as `Want` asks for it."""

    part: Part
    variant: str
    arguments: Mapping[str, Any]
    value: Any

    @cached_property
    def json(self) -> str:
        """Return the part as JSON, written once."""
        return _text(plain(self))


class Plain(dict[str, Any]):
    """JSON-able values that need no second conversion."""


@dataclass(frozen=True)
class Capsule:
    """A state with every part that was kept. `protocol` and `release` name the version that wrote
    it.
    """

    protocol: int
    release: str
    state: State
    parts: tuple[SavedPart, ...]


def capsule(state: State, parts: tuple[SavedPart, ...]) -> Capsule:
    """Return a state and its parts as a capsule, without anybody's folders."""
    return Capsule(PROTOCOL, release(), shareable(state), parts)


def release() -> str:
    """Return the installed version of the workbench; "unknown" where it runs from plain files."""
    return process.release() or "unknown"


def plain(value: Any) -> Any:
    """Return a record as JSON-able values. JSON has no infinity and no NaN: null in their place."""
    if isinstance(value, Plain):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@dataclass(frozen=True)
class Packed:
    """A large capsule: the name of its workbench, and its JSON, compressed with gzip, in base64."""

    protocol: int
    release: str
    workbench: str
    gzip: str


def packed(kept: Capsule) -> Capsule | Packed:
    """Return the capsule, compressed where it is large: a notebook is read and saved as a whole."""
    text = to_json(kept)
    if len(text) < LARGE:
        return kept
    squeezed = gzip.compress(text.encode(), compresslevel=6, mtime=0)
    name = kept.state.workbench
    return Packed(kept.protocol, kept.release, name, base64.b64encode(squeezed).decode())


def to_json(value: Any) -> str:
    """Return a record as compact JSON text."""
    if not isinstance(value, Capsule):
        return _text(plain(value))
    head = _text({"protocol": value.protocol, "release": value.release})
    parts = ",".join(part.json for part in value.parts)
    return f'{head[:-1]},"state":{to_json(value.state)},"parts":[{parts}]}}'


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
