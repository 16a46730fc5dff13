"""Steps as JSON: reading them back, and the JSON Schema of their arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from workbench.errors import WorkbenchError, nearest
from workbench.program.values import Program
from workbench.transforms.step.arguments import as_tuple, expected, names_of
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.type_hints import Hint, field_hints, fits


class ArgumentError(WorkbenchError):
    """JSON that is no step because arguments are wrong or missing; `reasons` has a sentence for
    each.
    """

    def __init__(self, message: str, reasons: Mapping[str, str]) -> None:
        super().__init__(message)
        self.reasons = reasons


def from_json(value: Mapping[str, Any]) -> Transform:
    """Return the step that `to_json` wrote. Raises WorkbenchError, naming the nearest, and
    ArgumentError where arguments are the reason.
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
    declared = field_hints(transform)
    arguments, wrong = {}, {}
    for key, item in entries.items():
        if key not in fields:
            raise WorkbenchError(
                f"{name} has no argument {key!r}: {nearest(key, fields, 'arguments')}"
            )
        arguments[key] = as_tuple(item)
        if not fits(arguments[key], declared[key]):
            wrong[key] = f"{name}: {key} is {item!r}; expected {expected(declared[key])}"
    missing = [
        key
        for key, field in fields.items()
        if key not in arguments
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    lacks = f"{name} lacks its argument"
    if wrong or missing:
        sentence = next(iter(wrong.values()), f"{lacks} {', '.join(missing)}")
        raise ArgumentError(sentence, wrong | {key: f"{lacks} {key}" for key in missing})
    return transform(**arguments)


def known_names(program: Program) -> dict[str, tuple[str, ...]]:
    """Return the names that arguments of steps may hold, in lists to which `schema` refers."""
    marks = {n.listed: n for transform in REGISTRY.values() for n in names_of(transform).values()}
    return {listed: tuple(dict.fromkeys(n.known(program))) for listed, n in marks.items()}


def schema(transform: type[Transform]) -> dict[str, Any]:
    """Return a JSON Schema of the transform's parameters, derived from its fields. `names` is the
    kind of an argument's names, `known` the list of `known_names` that has them.
    """
    declared = field_hints(transform)
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
        properties[argument] |= {"names": names.kind, "known": names.listed}
    return {
        "title": transform.__name__,
        "description": (transform.__doc__ or "").strip().split("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


_TYPES = {"text": "string", "whole number": "integer", "number": "number", "truth": "boolean"}


def _type_schema(hint: Hint) -> dict[str, Any]:
    if hint.optional:
        return {"anyOf": [_type_schema(hint.given), {"type": "null"}]}
    if hint.what in _TYPES:
        return {"type": _TYPES[hint.what]}
    if hint.what == "choice":
        return {"enum": list(hint.choices)}
    parts = [_type_schema(part) for part in hint.parts]
    if hint.what == "list":
        return {"type": "array", "items": parts[0]}
    if hint.what == "tuple":
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}
    raise TypeError(f"no schema for a parameter of type {hint}")
