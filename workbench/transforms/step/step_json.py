"""Steps as JSON: reading them back, and the JSON Schema of their arguments."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

from workbench.errors import WorkbenchError, nearest
from workbench.program.values import Program
from workbench.transforms.step.arguments import as_tuple, expected, fits, hints, names_of
from workbench.transforms.step.transform import REGISTRY, Transform


class ArgumentError(WorkbenchError):
    """JSON that is no step because an argument is wrong or missing; `argument` names it."""

    def __init__(self, message: str, argument: str) -> None:
        super().__init__(message)
        self.argument = argument


def from_json(value: Mapping[str, Any]) -> Transform:
    """Return the step that `to_json` wrote. Raises WorkbenchError, naming the nearest, and
    ArgumentError where an argument is the reason.
    """
    name = value.get("transform")
    if not isinstance(name, str) or name not in REGISTRY:
        raise WorkbenchError(
            f"unknown transform {name!r}: {nearest(str(name), REGISTRY, 'transforms')}"
        )
    transform, entries = REGISTRY[name], value.get("arguments", {})
    if not isinstance(entries, Mapping):
        raise WorkbenchError(f"{name}: arguments are {entries!r}; expected an object")
    fields = {field.name: field for field in dataclasses.fields(transform)}
    declared = hints(transform)
    arguments = {}
    for key, item in entries.items():
        if key not in fields:
            raise WorkbenchError(
                f"{name} has no argument {key!r}: {nearest(key, fields, 'arguments')}"
            )
        arguments[key] = as_tuple(item)
        if not fits(arguments[key], declared[key]):
            sentence = f"{name}: {key} is {item!r}; expected {expected(declared[key])}"
            raise ArgumentError(sentence, key)
    missing = [
        key
        for key, field in fields.items()
        if key not in arguments
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ArgumentError(f"{name} lacks its argument {', '.join(missing)}", missing[0])
    return transform(**arguments)


def schema(transform: type[Transform], program: Program | None = None) -> dict[str, Any]:
    """Return a JSON Schema of the transform's parameters, derived from its fields. `names` is the
    kind of an argument's names; `known` lists them where a program is given.
    """
    declared = hints(transform)
    properties, required = {}, []
    for field in dataclasses.fields(transform):
        properties[field.name] = _type_schema(declared[field.name])
        if field.default is dataclasses.MISSING:
            required.append(field.name)
        else:
            default = field.default
            properties[field.name]["default"] = (
                list(default) if isinstance(default, tuple) else default
            )
        if field.name in transform.least:
            properties[field.name]["minimum"] = transform.least[field.name]
    for argument, names in names_of(transform).items():
        properties[argument]["names"] = names.kind
        if program is not None:
            properties[argument]["known"] = list(dict.fromkeys(names.known(program)))
    return {
        "title": transform.__name__,
        "description": (transform.__doc__ or "").strip().split("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _type_schema(hint: Any) -> dict[str, Any]:
    origin = typing.get_origin(hint)
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type_schema(part) for part in typing.get_args(hint)]}
    if origin is tuple:
        parts = typing.get_args(hint)
        if parts[-1] is not Ellipsis:
            items = [_type_schema(part) for part in parts]
            return {"type": "array", "prefixItems": items, "minItems": len(parts), "items": False}
        return {"type": "array", "items": _type_schema(parts[0])}
    if origin is Literal:
        return {"enum": list(typing.get_args(hint))}
    raise TypeError(f"no schema for a parameter of type {hint}")
