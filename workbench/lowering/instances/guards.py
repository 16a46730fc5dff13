"""The instances of which array operations may be left out: those whose episode has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression
from workbench.program.values import Call, Literal, Program, Statement


@dataclass(frozen=True)
class Guarded:
    """A statement whose instances need the element `index` of the array `open` to be true.

    The steps of episodes are `along` one of its dims. `zero`: where it is not true, a sum of
    products still takes the result, which is 0 then.
    """

    open: Stored
    index: tuple[Expression, ...]
    along: int
    zero: bool

    @property
    def step(self) -> Expression:
        """The step of the episode."""
        return self.index[self.along]


def guarded(program: Program, stored: Mapping[str, Stored]) -> dict[str, Guarded]:
    """Return the statements that may be left out, by name; not what says itself what is open."""
    found: dict[str, Guarded] = {}
    ends = {end.open: end.dim for end in program.equations.ends}
    for s in program.statements:
        if s.guard is None or s.guard.array == s.array:
            continue
        index = tuple(e for e in s.guard.index if isinstance(e, Expression))
        opened = stored[s.guard.array]
        along = opened.array.dims.index(ends[s.guard.array])
        found[s.name] = Guarded(opened, index, along, _is_zero_elsewhere(s))
    return found


def _is_zero_elsewhere(s: Statement) -> bool:
    body = s.body
    if not isinstance(body, Call) or body.operation != "where" or body.arguments[0] != s.guard:
        return False
    otherwise = body.arguments[2]
    return isinstance(otherwise, Literal) and not otherwise.shape and otherwise.value == 0
