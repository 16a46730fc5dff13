"""Functions inside which the names of values are not looked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def unobserved(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` with naming off inside: the hook would see each of its many calls."""

    @wraps(function)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        hook = sys.getprofile()
        if not callable(hook):  # none, or that of cProfile
            return function(*arguments, **options)
        sys.setprofile(None)
        try:
            return function(*arguments, **options)
        finally:
            sys.setprofile(hook)  # in this frame, whose call the hook saw

    return run
