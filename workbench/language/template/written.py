"""A program as the Python that makes it: the user's function, what it needs, and the call."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

from workbench.language.tracing.trace import is_template

PLAIN = (bool, int, float, str, tuple, list, dict, type(None))
"""The types of values that their `repr` makes again, if what they hold does."""


def written(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return Python source whose `program` is what the call of a template returns: imports, the
    functions and the constants that it uses from where it stands, itself. Empty where its source is
    not known.
    """
    name = function.__name__
    given = ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in named.items())])
    if is_template(function.__code__.co_filename):
        return f"from {_home(function)} import {name}\n\nprogram = {name}({given})\n"
    needs = _Needs()
    try:
        needs.add(name, function)
    except (OSError, TypeError):
        return ""
    template = name if needs.definitions[name].startswith("@") else f"wb.program({name})"
    parts = ["\n".join(sorted({"import workbench as wb", *needs.imports}))]
    parts += ["\n".join(needs.values)] if needs.values else []
    parts += needs.definitions.values()
    return "\n\n\n".join(parts) + f"\n\nprogram = {template}({given})\n"


class _Needs:
    """What functions need from around them: lines of imports, values, definitions by name."""

    def __init__(self) -> None:
        self.imports: list[str] = []
        self.values: list[str] = []
        self.definitions: dict[str, str] = {}
        self._seen: set[str] = set()

    def add(self, name: str, function: Any) -> None:
        """Add a definition behind what it needs itself. Raises OSError where there is no source."""
        self._seen.add(name)
        plain = inspect.unwrap(function)
        for used in dict.fromkeys(_names(plain.__code__)):
            if used in plain.__globals__ and used not in self._seen:
                self._add_global(used, plain.__globals__[used], plain.__module__)
        self.definitions[name] = textwrap.dedent(inspect.getsource(plain)).rstrip()

    def _add_global(self, name: str, value: Any, home: str) -> None:
        self._seen.add(name)
        own = getattr(value, "__name__", name)
        as_named = "" if own == name else f" as {name}"
        has_code = hasattr(inspect.unwrap(value), "__code__")
        if isinstance(value, ModuleType):
            before, _, last = own.rpartition(".")
            short = f"from {before} import {last}" if before else f"import {last}"
            self.imports.append(short if last == name else f"import {own} as {name}")
        elif has_code and _home(value) == home:
            self.add(name, value)
        elif has_code or inspect.isclass(value) or inspect.isbuiltin(value):
            self.imports.append(f"from {_home(value)} import {own}{as_named}")
        elif isinstance(value, PLAIN):
            self.values.append(f"{name} = {value!r}")
        else:  # nobody knows how it was made
            self.values.append(f"{name} = ...  # {textwrap.shorten(repr(value), 80)}")


def _home(value: Any) -> str:
    """Return the module that a value is imported from; empty where it is of none."""
    return getattr(value, "__module__", None) or ""


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and the functions inside of it look up around them."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
