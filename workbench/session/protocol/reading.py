"""Reads JSON from a view as records of `messages`, by their types, or refuses it in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast, get_args

from workbench.errors import WorkbenchError, nearest
from workbench.session.protocol.messages import Request
from workbench.type_hints import Hint, field_hints, fits

Record = TypeVar("Record")

_WORDS: Mapping[str, str] = {
    "text": "a text",
    "whole number": "a whole number",
    "number": "a number",
    "truth": "true or false",
    "list": "a list",
    "tuple": "a list",
}


def record(name: str, value: Any, kind: type[Record]) -> Record:
    """Read a record of a class. Raises WorkbenchError where fields are missing or of wrong types;
    the sentence calls the value `name`.
    """
    if not isinstance(value, Mapping):
        raise WorkbenchError(f"{name} is {shown(value)}; expected an object")
    hints = field_hints(cast(type, kind))
    missing = [field for field in hints if field not in value]
    if missing:
        raise WorkbenchError(f"{name} lacks {', '.join(missing)}")
    given = {field: _read(f"{name}.{field}", value[field], hint) for field, hint in hints.items()}
    return kind(**given)


def shown(value: Any) -> str:
    """Return a value as it stands in a sentence."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _read(name: str, value: Any, hint: Hint) -> Any:
    """Read the value as the hint says. JSON has one kind of number, so 2.0 is a whole number
    too.
    """
    if (value is None and hint.optional) or hint.what == "anything":
        return value
    if hint.what == "record":
        return record(name, value, hint.type)
    if hint.what == "whole number" and isinstance(value, float) and value.is_integer():
        return int(value)
    if hint.what in ("list", "tuple") and isinstance(value, list | tuple):
        parts = hint.parts * len(value) if hint.what == "list" else hint.parts
        if len(parts) == len(value):
            pairs = enumerate(zip(value, parts, strict=True))
            return tuple(_read(f"{name}[{n}]", item, part) for n, (item, part) in pairs)
    if hint.what == "mapping" and isinstance(value, Mapping):
        return {str(key): _read(f"{name}.{key}", x, hint.parts[1]) for key, x in value.items()}
    if fits(value, hint):
        return value
    choices = " or ".join(map(repr, hint.choices))
    expected = choices or _WORDS.get(hint.what, "an object")
    raise WorkbenchError(f"{name} is {shown(value)}; expected {expected}")


RECORDS: Mapping[str, type[Request]] = {
    field_hints(one)["type"].choices[0]: one for one in get_args(Request)
}
"""Every request by its type."""


def read(value: Any) -> Request:
    """Read a request from JSON. Raises WorkbenchError where it is unknown, incomplete or of wrong
    types.
    """
    if not isinstance(value, Mapping):
        raise WorkbenchError(f"a request is an object; found {shown(value)}")
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in RECORDS:
        known = nearest(str(kind), RECORDS, "requests")
        raise WorkbenchError(f"unknown request {shown(kind)}: {known}")
    return record(kind, value, RECORDS[kind])


def number_of(value: Any) -> int | None:
    """Return the id of a request that may be broken otherwise."""
    number = value.get("id") if isinstance(value, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
