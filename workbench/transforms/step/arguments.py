"""The arguments of a step: their types, and which do not fit a program."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import nearest
from workbench.program.values import Program
from workbench.transforms.step.argument_names import KnownNames
from workbench.transforms.step.refusal import Refusal
from workbench.type_hints import Hint, field_hints, fits, read_hint

if TYPE_CHECKING:
    from workbench.transforms.step.transform import Transform


@functools.cache
def names_of(transform: type[Transform]) -> Mapping[str, KnownNames]:
    """Return for each parameter with names the kind of these names."""
    return {name: hint.marked for name, hint in field_hints(transform).items() if hint.marked}


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


def takes_names(hint: Hint) -> bool:
    """Tell whether a parameter is any number of names."""
    return hint.given == _NAMES


_NAMES = read_hint(tuple[str, ...])
_EXPECTED = {
    read_hint(str): "a name",
    read_hint(int): "a whole number",
    read_hint(float): "a number",
    read_hint(bool): "True or False",
    _NAMES: "names",
    read_hint(tuple[tuple[str, int], ...]): "pairs of a name and a whole number",
}


def expected(hint: Hint) -> str:
    """Describe the values a parameter may have."""
    return _EXPECTED.get(hint.given) or " or ".join(map(repr, hint.choices))


def misfit(step: Transform) -> Refusal | None:
    """Refuse an argument of the wrong type. Steps check ranges and choices themselves."""
    for name, hint in field_hints(type(step)).items():
        value = getattr(step, name)
        says_it = hint.what in ("whole number", "choice")
        empty = isinstance(value, tuple) and not value
        if empty and takes_names(hint) and hint.optional:
            sentence = f"{step}: {name} is empty; name some, or leave it out"
            return Refusal("input", sentence, argument=name)
        if not says_it and not fits(value, hint):
            sentence = f"{step}: {name} is {value!r}; expected {expected(hint)}"
            return Refusal("input", sentence, argument=name)
    return None


def as_tuple(item: Any) -> Any:
    """Turn lists into tuples."""
    return tuple(as_tuple(entry) for entry in item) if isinstance(item, list) else item
