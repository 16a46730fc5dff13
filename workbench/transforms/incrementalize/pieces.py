"""The statements that replace one, while they are collected: names, arrays, extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.names import free
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import (
    domain_with,
    extent_of,
    is_empty,
    project_out,
    with_dims,
)
from workbench.program.bodies import Body, Read
from workbench.program.episodes.held import guards_over
from workbench.program.values import Array, Program, Statement


@dataclass
class Pieces:
    """New arrays and statements beside the program's, under unused names."""

    program: Program
    old: Statement
    arrays: list[Array] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)

    def array(self, what: str, like: Body, elements: str, dims: Sequence[str]) -> Array:
        """Add an array, named after the old statement's and its contents."""
        name = free(
            f"{self.old.array}.{what}", [*self.program.array, *(a.name for a in self.arrays)]
        )
        whole = self.program.array[self.old.array]
        record = Array(
            name,
            tuple(dims),
            extent_of(elements),
            like.dtype,
            like.shape,
            whole.scope,
            whole.part_called,
        )
        self.arrays.append(record)
        return record

    def add(
        self,
        array: Array,
        domain: str,
        dims: Sequence[str],
        write: Sequence[Expression],
        body: Body,
        over: Sequence[str] = (),
        reduction: str = "",
    ) -> None:
        """Add a statement of `array`, unless it has no instances at any sizes; with `over` it
        combines as the old one does.
        """
        if is_empty(domain):
            return
        told = [str(e).replace(" ", "") for e in write if e not in [variable(d) for d in dims]]
        name = free(
            array.name + (f"[{','.join(told)}]" if told else ""),
            [*(s for s in self.program.statement if s != self.old.name)]
            + [s.name for s in self.statements],
        )
        self.statements.append(
            replace(
                self.old,
                name=name,
                dims=tuple(dims),
                domain=domain,
                array=array.name,
                write=tuple(write),
                body=body,
                reduction_dims=tuple(over),
                reduction=reduction if over else "",
                combiner=self.old.combiner if over else None,
                guards=(),
            )
        )

    @property
    def guarded(self) -> tuple[Statement, ...]:
        """The statements, executed where the old one is: at its dimensions, but for recurrences,
        which come to what is needed through all that is not.
        """
        if not self.old.guards:
            return tuple(self.statements)
        recurring = {s.array for s in self.statements if any(r.array == s.array for r in s.reads)}
        return tuple(
            s if s.array in recurring else replace(s, guards=guards_over(self.old.guards, s.dims))
            for s in self.statements
        )


def read(array: Array, index: Sequence[Expression]) -> Read:
    """Return an element of an array as an operand."""
    return Read(array.name, tuple(index), array.dtype, array.shape)


def partial(old: Statement, dim: str, size: int, block: str, pieces: Pieces) -> None:
    """Add `s.partial`, which combines the points of one block of `dim`; `s` combines the blocks."""
    array = pieces.program.array[old.array]
    dims = (*old.dims, block)
    at, first = variable(dim), variable(block) * size
    points = domain_with(
        with_dims(old.reduction, (*dims, *old.reduction_dims)),
        at_least=[(at, first), (first + (size - 1), at)],
    )
    domain = project_out(points, old.reduction_dims)
    held = pieces.array("partial", read(array, old.write), domain, dims)
    own = tuple(variable(d) for d in dims)
    pieces.add(held, domain, dims, own, old.body, old.reduction_dims, points)
    pieces.add(array, old.domain, old.dims, old.write, read(held, own), (block,), domain)
