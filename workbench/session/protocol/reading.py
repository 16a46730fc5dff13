"""Reads JSON from a view as records of `messages`, by their types, or refuses it in a sentence."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


from workbench.errors import nearest
from workbench.session.protocol.messages import Request

Record = TypeVar("Record", bound="DataclassInstance")

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def record(name: str, value: Any, kind: type[Record]) -> Record:
    """Read a record of a class. Raises WorkbenchError where fields are missing or of wrong types;
    the sentence calls the value `name`.
    """
    if not isinstance(value, Mapping):
        raise WorkbenchError(f"{name} is {shown(value)}; expected an object")
    known = get_type_hints(kind)
    hints = {field.name: known[field.name] for field in fields(kind)}
    missing = [field for field in hints if field not in value]
    if missing:
        raise WorkbenchError(f"{name} lacks {', '.join(missing)}")
    given = {field: _read(f"{name}.{field}", value[field], hint) for field, hint in hints.items()}
    return kind(**given)


def shown(value: Any) -> str:
    """Return a value as it stands in a sentence."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _read(name: str, value: Any, hint: Any) -> Any:
    """Read the value as the hint says. JSON has one kind of number, so 2.0 is a whole number
    too.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if is_dataclass(hint) and isinstance(hint, type):
        return record(name, value, hint)
    if isinstance(hint, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (inner,) = (part for part in arguments if part is not type(None))
        return _read(name, value, inner)
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if hint in _WORDS:
        fits = isinstance(value, (int, float) if hint is float else hint)
        if fits and (hint is bool or not isinstance(value, bool)):
            return value
    elif origin is Literal:
        if value in arguments:
            return value
    elif origin is tuple:
        kinds = arguments
        if isinstance(value, (list, tuple)) and arguments[1:] == (...,):
            kinds = (arguments[0],) * len(value)
        if isinstance(value, (list, tuple)) and len(kinds) == len(value):
            pairs = enumerate(zip(value, kinds, strict=True))
            return tuple(_read(f"{name}[{n}]", item, kind) for n, (item, kind) in pairs)
    elif origin is Mapping and isinstance(value, Mapping):
        return {str(key): _read(f"{name}.{key}", x, arguments[1]) for key, x in value.items()}
    raise WorkbenchError(f"{name} is {shown(value)}; expected {_expected(hint)}")


def _expected(hint: Any) -> str:
    if hint in _WORDS:
        return _WORDS[hint]
    if get_origin(hint) is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    return "a list" if get_origin(hint) is tuple else "an object"


RECORDS: Mapping[str, type[Request]] = {
    get_args(get_type_hints(one)["type"])[0]: one for one in get_args(Request)
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
