"""Type hints as values: what a field, an argument or a parameter may hold.

Schemas, readers, checks and TypeScript are written from these values, not from `typing`'s objects.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

What = Literal[
    "text", "whole number", "number", "truth", "anything",
    "choice", "list", "tuple", "mapping", "record", "other",
]  # fmt: skip


@dataclass(frozen=True)
class Hint:
    """The values that a type hint allows.

    `parts` are those of a list (its entries), a tuple (each place) and a mapping (key and value),
    `choices` those of a `Literal`; `type` is the class of all others. `mark` is what `Annotated`
    says of it.
    """

    what: What
    type: Any = None
    parts: tuple[Hint, ...] = ()
    choices: tuple[Any, ...] = ()
    optional: bool = False
    """It may be None too."""
    mark: Any = field(default=None, compare=False)

    @property
    def given(self) -> Hint:
        """Return the hint of what is not None."""
        return dataclasses.replace(self, optional=False)

    @property
    def marked(self) -> Any:
        """Return the mark of the hint, or of its first part that has one."""
        return self.mark or next((part.marked for part in self.parts if part.marked), None)


_SIMPLE: tuple[tuple[Any, What], ...] = (
    (str, "text"), (int, "whole number"), (float, "number"), (bool, "truth"), (Any, "anything"),
)  # fmt: skip


def read_hint(hint: Any) -> Hint:
    """Read a type hint; of unions only `X | None` is known."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return dataclasses.replace(read_hint(arguments[0]), mark=arguments[1])
    if origin in (typing.Union, types.UnionType) and arguments[1:] == (type(None),):
        return dataclasses.replace(read_hint(arguments[0]), optional=True)
    if origin is Literal:
        return Hint("choice", choices=arguments)
    if origin is tuple and arguments[1:] == (...,):
        return Hint("list", tuple, (read_hint(arguments[0]),))
    if origin is tuple:
        return Hint("tuple", tuple, tuple(map(read_hint, arguments)))
    if origin is Mapping:
        return Hint("mapping", Mapping, tuple(map(read_hint, arguments)))
    if dataclasses.is_dataclass(hint):
        return Hint("record", hint)
    return Hint(next((what for simple, what in _SIMPLE if simple is hint), "other"), hint)


@functools.cache
def field_hints(record: type) -> Mapping[str, Hint]:
    """Read the type hints of a dataclass's fields."""
    declared = typing.get_type_hints(record, include_extras=True)
    return {f.name: read_hint(declared[f.name]) for f in dataclasses.fields(record)}


def fits(value: Any, hint: Hint) -> bool:
    """Tell whether a value is one that a hint allows; whole numbers are numbers, truths are not."""
    if value is None and hint.optional:
        return True
    if hint.what == "choice":
        return value in hint.choices
    if hint.what in ("list", "tuple"):
        if not isinstance(value, tuple):
            return False
        parts = hint.parts * len(value) if hint.what == "list" else hint.parts
        return len(parts) == len(value) and all(map(fits, value, parts))
    allowed = (int, float) if hint.what == "number" else hint.type
    return isinstance(value, allowed) and (hint.what == "truth" or not isinstance(value, bool))
