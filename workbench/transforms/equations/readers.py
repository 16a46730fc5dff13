"""Readers of an array: those that stand apart from its writers, and the groups of their reads that
one clone serves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.relations import is_one_to_one, project_out, union, with_dims
from workbench.polyhedral.tree import Loop, loops_above, paths
from workbench.program.bodies import Body, Read
from workbench.program.values import Program
from workbench.transforms.rules.sharing import variables

Index: TypeAlias = tuple[Expression | Body, ...]


@dataclass(frozen=True)
class CloneGroup:
    """Reads of an array that one clone serves, and the statements that have them.

    `at` is their common index where the clone has just the elements there, computed anew in each
    iteration of loops over the dims `along`; None where the clone is of the whole array.
    """

    reads: tuple[Read, ...]
    names: tuple[str, ...]
    at: Index | None = None
    along: tuple[str, ...] = ()


def is_computed(index: Index) -> bool:
    """Tell whether a position is computed (a gather)."""
    return any(not isinstance(e, Expression) for e in index)


def readers_of(program: Program, array: str) -> list[str]:
    """Return the statements that read an array."""
    users = program.equations.users[array]
    return [s.name for s in users if any(r.array == array for r in s.reads)]


def readers_apart(program: Program, array: str) -> list[str]:
    """Return the readers outside of the innermost loops of the writers; none where a writer has no
    loop, since everything stands beside it then.
    """
    readers = readers_of(program, array)
    if not readers:
        return []
    at = paths(program.schedule)
    innermost = []
    for s in program.writers[array]:
        around = loops_above(at[s.name], "loop")
        if not around:
            return []
        innermost.append(around[-1])
    return [
        name
        for name in readers
        if not any(node is home for node, _ in at[name] for home in innermost)
    ]


def clone_groups(program: Program, array: str, names: Sequence[str]) -> list[CloneGroup]:
    """Group reads by loop: each loop has its own clone, since a clone that later loops read too
    would have to be kept for them. Where only the elements at an index are needed, each index has
    its own.
    """
    at = paths(program.schedule)
    places: dict[int, tuple[tuple[Loop, ...], dict[Read, dict[str, None]]]] = {}
    for name in names:
        loops = loops_above(at[name], "loop")
        _, reads = places.setdefault(id(loops[-1]) if loops else 0, (loops, {}))
        for read in program.statement[name].reads:
            if read.array == array:
                reads.setdefault(read, {})[name] = None
    return [group for loops, reads in places.values() for group in _in_place(program, loops, reads)]


def _in_place(
    program: Program, loops: Sequence[Loop], reads: Mapping[Read, Collection[str]]
) -> Iterator[CloneGroup]:
    """Yield the groups of reads in one innermost loop, the one of the whole array first."""
    alone = len([read for read in reads if not is_computed(read.index)]) == 1
    rest: dict[Read, Collection[str]] = {}
    at: list[CloneGroup] = []
    for read, names in reads.items():
        group = CloneGroup((read,), tuple(names), read.index)
        group = replace(group, along=_along(program, loops, group))
        if is_computed(read.index) or ((alone or group.along) and _are_others(program, group)):
            at.append(group)
        else:
            rest[read] = names
    if rest:
        yield CloneGroup(
            tuple(rest), tuple(dict.fromkeys(n for names in rest.values() for n in names))
        )
    yield from at


def _along(program: Program, loops: Sequence[Loop], group: CloneGroup) -> tuple[str, ...]:
    """Return the loops each of whose iterations reads elements of its own (those of a block), and
    those in whose every iteration a loop further inside runs over elements. Outside of them a clone
    would have to be kept whole.
    """
    reader, own = program.statement[group.names[0]], variables(group.reads[0])
    around: list[str] = []
    inner = False
    for loop in reversed(loops):
        dim = loop.name if loop.name in reader.dims else loop.dim
        if dim in own:
            inner = True
        elif _tells_apart(program, group, dim):
            inner = True
            around.append(dim)
        elif inner and loop.tile is None:
            around.append(dim)
        elif inner:
            return ()  # a clone does not stand in blocks of what it does not vary over
    return tuple(around)


def _tells_apart(program: Program, group: CloneGroup, dim: str) -> bool:
    """Tell whether no two iterations of a loop read the same elements."""
    dims, domain = points_of(program, replace(group, along=(dim,)))
    return is_one_to_one(domain, dims, [variable(d) for d in dims if d != dim])


def _are_others(program: Program, group: CloneGroup) -> bool:
    """Tell whether plain reads are at other indices than the array's own dims (the position in a
    block, one step ahead, the last one) or along further loops, and no element is read twice there.
    """
    (read,) = group.reads
    index = [e for e in read.index if isinstance(e, Expression)]
    if not group.along and index == [variable(d) for d in program.array[read.array].dims]:
        return False
    dims, domain = points_of(program, group)
    return is_one_to_one(domain, dims, (*index, *map(variable, group.along)))


def points_of(program: Program, group: CloneGroup) -> tuple[tuple[str, ...], str]:
    """Return the dims over which the positions of a group vary or along which it is computed, and
    the points at which the readers have them.
    """
    varies = {*variables(group.reads[0]), *group.along}
    dims: tuple[str, ...] = ()
    domain: str | None = None
    for name in group.names:
        s = program.statement[name]
        own = s.dims + s.reduction_dims
        dims = dims or tuple(d for d in own if d in varies)
        points = project_out(s.reduction or s.domain, [d for d in own if d not in varies])
        points = with_dims(points, dims)
        domain = points if domain is None else union(domain, points)
    assert domain is not None
    return dims, domain
