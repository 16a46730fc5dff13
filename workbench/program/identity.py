"""Programs as keys of what is known of them.

Programs are immutable and steps keep the parts that they do not change, so that what follows from
those need not be computed again; to compare or hash programs by value would take longer.
"""

from __future__ import annotations

from workbench.program.values import Program


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
