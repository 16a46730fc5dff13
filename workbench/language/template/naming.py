"""Names of values, taken from the variables that hold them when a function returns.

The profile hook of the interpreter sees every return. Inner functions (an environment's `step`)
return first, so the outermost name, the user's, is the one that stays. A value without a variable
takes the name of the function that returned it (`entropy`). The result of `stop_gradient` takes the
name of its operand.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any

from workbench.errors import PACKAGE, is_library, is_own_file
from workbench.language.tracing.recurrent import Recurrent
from workbench.language.tracing.tensor import Node, Tensor
from workbench.language.tracing.trace import Trace, source_line

_WRITTEN_LIKE_A_USER = (
    str(PACKAGE / "algorithms"),
    str(PACKAGE / "environments"),
    *(str(PACKAGE / "language" / name) for name in ("nn", "optim.py", "rl.py", "distributions")),
)


@contextlib.contextmanager
def naming(trace: Trace) -> Iterator[None]:
    """Name values by the local variables that hold them while the body runs."""
    started: list[int] = []

    def hook(frame: FrameType, event: str, returned: object) -> None:
        if event == "call":
            started.append(trace.written)
        elif event == "return" and started:
            first = started.pop()
            if not started and returned is not None:
                trace.returned = source_line(frame)
            if _is_named(frame):
                _name(frame, first, outermost=not started)
                _hint(frame.f_code.co_name, first, returned)

    previous = sys.getprofile()
    sys.setprofile(hook)
    try:
        yield
    finally:
        _resume(previous)


def _resume(previous: Any) -> None:
    """Set a profile hook again. That of `cProfile` and `%prun` is no function: it sets itself."""
    if previous is None or callable(previous):
        sys.setprofile(previous)
    else:
        previous.enable()


def _is_named(frame: FrameType) -> bool:
    code = frame.f_code
    return not code.co_name.startswith("<") and _is_like_a_users(code.co_filename)


@lru_cache(maxsize=4096)
def _is_like_a_users(file: str) -> bool:
    if is_library(file):
        return False
    return not is_own_file(file) or file.startswith(_WRITTEN_LIKE_A_USER)


def _name(frame: FrameType, first: int, outermost: bool) -> None:
    seen: set[int] = set()
    for name, value in frame.f_locals.items():
        if not isinstance(value, Tensor) or name.startswith("_") or not value.is_plain:
            continue
        source = _stored(value)
        if outermost:
            source.aliases.append(name)
        if isinstance(source, Node) and source.number > first and id(source) not in seen:
            seen.add(id(source))
            source.name = name


def _stored(x: Tensor) -> Node | Recurrent:
    """Return the computed value of a variable that holds it as a constant to `gradient`."""
    source = x.source
    if isinstance(source, Node) and source.operation == "stop_gradient":
        (operand,) = source.operands
        return _stored(operand) if operand.is_plain else source
    return source


def _hint(function: str, first: int, returned: object) -> None:
    if not isinstance(returned, Tensor) or function.startswith("_"):
        return
    source = returned.source
    if isinstance(source, Node) and source.number > first and returned.is_plain:
        source.hint = function
