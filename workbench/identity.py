"""Answers remembered by identity.

Programs are immutable, and steps keep the equations, schedules and statements that they do not
change, so answers about these stay valid. Comparing or hashing them by value would take longer, and
equal ones may have other lines.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, TypeVarTuple

Given = TypeVarTuple("Given")
Computed = TypeVar("Computed")


class Same:
    """A key of several objects, equal only for the very same objects."""

    __slots__ = ("_hash", "objects")

    def __init__(self, *objects: Any) -> None:
        self.objects = objects
        self._hash = hash(tuple(map(id, objects)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Same):
            return NotImplemented
        mine, others = self.objects, other.objects
        return len(mine) == len(others) and all(map(operator.is_, mine, others))


def remembered(
    last: int, same: int = 1
) -> Callable[[Callable[[*Given], Computed]], Callable[[*Given], Computed]]:
    """Keep a function's last answers. Its first `same` arguments are to be the very same objects,
    the others equal. All are given, and by position, so that one question has one key.
    """

    def keeping(function: Callable[[*Given], Computed]) -> Callable[[*Given], Computed]:
        def asked(key: Same, *others: Any) -> Computed:
            given: Any = (*key.objects, *others)
            return function(*given)

        known: Callable[..., Computed] = lru_cache(maxsize=last)(asked)

        @wraps(function)
        def ask(*given: *Given) -> Computed:
            return known(Same(*given[:same]), *given[same:])

        return ask

    return keeping
