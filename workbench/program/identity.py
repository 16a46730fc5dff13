"""Programs as keys of what is known of them.

Programs are immutable and steps keep the parts that they do not change, so that what follows from
those need not be computed again; to compare or hash programs by value would take longer.
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
    """Objects as a key that is equal to those very objects alone."""

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
    """A program as a key that is equal to itself alone."""

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
    """A program as a key of what does not depend on its storage: equal to what steps that change
    only that make of it.
    """

    def _parts(self) -> tuple[object, ...]:
        p = self.program
        return p.statements, p.arrays, p.outputs, p.schedule


class Asked(Itself, Generic[Asker]):
    """A program together with who asks something of it: itself alone, too."""

    def __init__(self, program: Program, asker: Asker) -> None:
        super().__init__(program)
        self.asker = asker

    def _parts(self) -> tuple[object, ...]:
        return self.program, self.asker


def remembered(
    method: Callable[[Asker, Program], Computed],
) -> Callable[[Asker, Program], Computed]:
    """A method that answers a question about a program, with its last answers kept: a step that has
    been checked is rewritten from what the check found.
    """

    @lru_cache(maxsize=16)
    def known(asked: Asked[Asker]) -> Computed:
        return method(asked.asker, asked.program)

    @wraps(method)
    def ask(asker: Asker, program: Program) -> Computed:
        return known(Asked(program, asker))

    return ask
