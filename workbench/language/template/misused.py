"""Calls and attributes of the workbench that Python refuses, told with what there is."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

from workbench.errors import nearest
from workbench.language.tracing.trace import is_users

_CALL = re.compile(r"([\w.<>]+)\(\) (got|missing|takes) ")


def misused(error: TypeError | AttributeError) -> str | None:
    """Explain why a call of the workbench's, or an attribute, is none; None where an error is about
    something else.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not is_users(frames[-1]):  # it happened inside of what was called
        return None
    if isinstance(error, AttributeError):
        return _no_attribute(error.obj, error.name or "")
    call = _CALL.match(str(error))
    name = "" if call is None else call[1].removesuffix(".__init__")
    functions = _functions().get(name)
    if call is None or not functions:
        return None
    expected = " or ".join(f"{name}{_signature(x)}" for x in functions)
    return f"{name}() {str(error)[call.start(2) :]}; expected {expected}"


def _no_attribute(x: object, name: str) -> str | None:
    if isinstance(x, ModuleType) or not type(x).__module__.startswith(f"{_PACKAGE}."):
        return None
    known = [n for n in dir(x) if not n.startswith("_")]
    return f"a {type(x).__name__} has no attribute {name}; {nearest(name, known, 'attributes')}"


_PACKAGE = __name__.partition(".")[0]


@lru_cache(maxsize=1)
def _functions() -> dict[str, list[Callable[..., Any]]]:
    """Return the functions and classes of the language, and their methods, by the name in Python's
    messages, which does not say in which module.
    """
    found: dict[str, list[Callable[..., Any]]] = {}
    for place, module in sorted(sys.modules.items()):
        if not place.startswith(f"{_PACKAGE}.language."):
            continue
        for x in vars(module).values():
            if callable(x) and getattr(x, "__module__", None) == place:
                for each in (x, *(vars(x).values() if inspect.isclass(x) else ())):
                    if callable(each) and not getattr(each, "__name__", "_").startswith("_"):
                        found.setdefault(each.__qualname__, []).append(each)
    return found


def _signature(function: Callable[..., Any]) -> str:
    """Return the parameters with their defaults, without `self`."""
    parameters = inspect.signature(function).parameters.values()
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters if p.name != "self"]
    return str(inspect.Signature(bare))
