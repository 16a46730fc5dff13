"""Programs as keys of remembered answers, compared by identity.

Programs are immutable, and steps keep the parts that they do not change, so answers about those
parts stay valid. Comparing or hashing programs by value would take longer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Generic, TypeVar

from workbench.program.values import Program

Asker = TypeVar("Asker")
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


class Itself:
    """A key of a program, equal only for the very same program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def _parts(self) -> tuple[object, ...]:
        return (self.program,)

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._parts())))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Itself)
        return all(p is q for p, q in zip(self._parts(), other._parts(), strict=True))


class ButForStorage(Itself):
    """A key of a program without its storage: steps that change only storage keep it equal."""

    def _parts(self) -> tuple[object, ...]:
        p = self.program
        return p.statements, p.arrays, p.outputs, p.schedule


class Asked(Itself, Generic[Asker]):
    """A key of a program and the object that asks about it, equal only for the very same two."""

    def __init__(self, program: Program, asker: Asker) -> None:
        super().__init__(program)
        self.asker = asker

    def _parts(self) -> tuple[object, ...]:
        return self.program, self.asker


def remembered(
    method: Callable[[Asker, Program], Computed],
) -> Callable[[Asker, Program], Computed]:
    """Keep a method's last answers about programs.

    So a checked step is rewritten from the answer of its check.
    """

    @lru_cache(maxsize=16)
    def known(asked: Asked[Asker]) -> Computed:
        return method(asked.asker, asked.program)

    @wraps(method)
    def ask(asker: Asker, program: Program) -> Computed:
        return known(Asked(program, asker))

    return ask
