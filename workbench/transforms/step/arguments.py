"""The arguments of a step: their types, and which do not fit a program."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from workbench.errors import nearest
from workbench.program.values import Program
from workbench.transforms.step.argument_names import KnownNames
from workbench.transforms.step.refusal import Refusal

if TYPE_CHECKING:
    from workbench.transforms.step.transform import Transform


@functools.cache
def hints(transform: type[Transform]) -> Mapping[str, Any]:
    """Return the types of a transform's parameters."""
    declared = typing.get_type_hints(transform)
    return {field.name: declared[field.name] for field in dataclasses.fields(transform)}


@functools.cache
def names_of(transform: type[Transform]) -> Mapping[str, KnownNames]:
    """Return for each parameter with names the kind of these names."""
    declared = typing.get_type_hints(transform, include_extras=True)
    marks = {field.name: _mark(declared[field.name]) for field in dataclasses.fields(transform)}
    return {argument: mark for argument, mark in marks.items() if mark is not None}


def _mark(hint: Any) -> KnownNames | None:
    """Return the mark of a type, or of a part of it."""
    if typing.get_origin(hint) is Annotated:
        return next((extra for extra in hint.__metadata__ if isinstance(extra, KnownNames)), None)
    return next((mark for part in typing.get_args(hint) if (mark := _mark(part))), None)


def names_in(value: Any) -> list[str]:
    """Return the names that an argument holds."""
    if isinstance(value, tuple):
        return [name for entry in value for name in names_in(entry)]
    return [value] if isinstance(value, str) else []


def unknown(step: Transform, program: Program) -> Refusal | None:
    """Refuse a name that a program does not know, with the nearest."""
    for argument, names in names_of(type(step)).items():
        texts = names_in(getattr(step, argument))
        if not texts:
            continue
        what, choices = names.within(program, step)
        strange = next((name for name in texts if name not in choices), None)
        if strange is not None:
            lacking = f"{names.lacking} {names.kind} {strange}"
            sentence = f"{step}: {lacking}: {nearest(strange, choices, what)}"
            return Refusal("input", sentence, argument=argument)
    return None


def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types a parameter may have, without None."""
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    parts = typing.get_args(hint) if union else (hint,)
    return tuple(part for part in parts if part is not type(None))


def takes_names(hint: Any) -> bool:
    """Tell whether a parameter is any number of names."""
    return tuple[str, ...] in alternatives(hint)


def _can_be_left_out(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


_EXPECTED = {
    str: "a name",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    tuple[str, ...]: "names",
    tuple[tuple[str, int], ...]: "pairs of a name and a whole number",
}


def expected(hint: Any) -> str:
    """Describe the values a parameter may have."""
    listed = []
    for part in alternatives(hint):
        choices = [repr(c) for c in typing.get_args(part)]
        listed.append(_EXPECTED[part] if part in _EXPECTED else " or ".join(choices))
    return " or ".join(listed)


def misfit(step: Transform) -> Refusal | None:
    """Refuse an argument of the wrong type. Steps check ranges and choices themselves."""
    for name, hint in hints(type(step)).items():
        value, parts = getattr(step, name), alternatives(hint)
        says_it = int in parts or any(typing.get_origin(part) is Literal for part in parts)
        empty = isinstance(value, tuple) and not value
        if empty and takes_names(hint) and _can_be_left_out(hint):
            sentence = f"{step}: {name} is empty; name some, or leave it out"
            return Refusal("input", sentence, argument=name)
        if not says_it and not fits(value, hint):
            sentence = f"{step}: {name} is {value!r}; expected {expected(hint)}"
            return Refusal("input", sentence, argument=name)
    return None


def as_tuple(item: Any) -> Any:
    """Turn lists into tuples."""
    return tuple(as_tuple(entry) for entry in item) if isinstance(item, list) else item


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value read from JSON is of a parameter's type."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(parts) == 2 and parts[1] is Ellipsis:
            return all(fits(entry, parts[0]) for entry in value)
        return len(value) == len(parts) and all(map(fits, value, parts))
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)
