"""Clones of an array for some of its readers: of the whole array, or of the elements that they
read. They have the origin of the original, hence the same draws.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.names import free
from workbench.polyhedral.dependences.flow import undefined_read
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.relations import (
    bounds,
    dims_of,
    domain_with,
    extent_of,
    is_box,
    is_one_to_one,
    project_out,
    union,
    with_dims,
)
from workbench.polyhedral.tree import Loop, loops_above, paths
from workbench.program.values import Array, Body, Program, Read, Statement
from workbench.transforms.equations.inlining import NotMovable, moved, moved_index
from workbench.transforms.rules.rewriting import rebuilt
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


@dataclass(frozen=True)
class Clone:
    """An array, the equations that define it, and the replacement of each read of the original."""

    array: Array
    statements: tuple[Statement, ...]
    taken: tuple[tuple[Read, Read], ...]

    def read_by(self, body: Body) -> Body:
        """Return the body with reads of the clone."""
        taken = dict(self.taken)

        def change(b: Body) -> Body:
            return taken[b] if isinstance(b, Read) and b in taken else rebuilt(b, change)

        return change(body)


def is_computed(index: Index) -> bool:
    """Tell whether a position is computed (a gather)."""
    return any(not isinstance(e, Expression) for e in index)


def readers_of(program: Program, array: str) -> list[str]:
    """Return the statements that read an array."""
    return [s.name for s in program.statements if any(r.array == array for r in s.reads)]


def groups(program: Program, array: str, names: Sequence[str]) -> list[CloneGroup]:
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
    dims, domain = _points(program, replace(group, along=(dim,)))
    return is_one_to_one(domain, dims, [variable(d) for d in dims if d != dim])


def _are_others(program: Program, group: CloneGroup) -> bool:
    """Tell whether plain reads are at other indices than the array's own dims (the position in a
    block, one step ahead, the last one) or along further loops, and no element is read twice there.
    """
    (read,) = group.reads
    index = [e for e in read.index if isinstance(e, Expression)]
    if not group.along and index == [variable(d) for d in program.array[read.array].dims]:
        return False
    dims, domain = _points(program, group)
    return is_one_to_one(domain, dims, (*index, *map(variable, group.along)))


def whole(program: Program, array: str, group: CloneGroup, name: str) -> Clone:
    """Make a second array with a clone of each equation."""
    clones = []
    for s in program.writers[array]:
        piece = s.name.removeprefix(array)
        own = name + piece if s.name.startswith(array) else f"{name}[{piece}]"
        clones.append(replace(s, name=own, array=name))
    taken = tuple((read, replace(read, array=name)) for read in group.reads)
    return Clone(replace(program.array[array], name=name), tuple(clones), taken)


def gathered(program: Program, array: str, group: CloneGroup, name: str) -> Clone:
    """Return the array's body at a group's positions, over the dims of these. Raises NotMovable."""
    assert group.at is not None
    original, record = program.writers[array][0], program.array[array]
    if len(program.writers[array]) > 1:
        raise NotMovable(f"several equations define {array}")
    if original.combiner is not None:
        raise NotMovable(f"{array} is a {original.combiner}, whose range would have to move too")
    (read,) = group.reads
    dims, domain = _points(program, group)
    written, domain, first = _counted(program, group, dims, domain)
    from_first = {d: variable(n) + first[d] for d, n in zip(dims, written, strict=True)}
    at = [
        moved_index(e, from_first) if isinstance(e, Expression) else moved(e, from_first)
        for e in group.at
    ]
    moves = dict(zip(original.dims, _positions(original, at), strict=True))
    clone = replace(
        original,
        name=name,
        dims=written,
        domain=domain,
        array=name,
        write=tuple(map(variable, written)),
        body=moved(original.body, moves),
    )
    _expect_defined(program, clone)
    new = replace(record, name=name, dims=written, extent=extent_of(domain))
    index = tuple(variable(d) - first[d] for d in dims)
    return Clone(new, (clone,), ((read, Read(name, index, record.dtype, record.shape)),))


def _counted(
    program: Program, group: CloneGroup, dims: tuple[str, ...], domain: str
) -> tuple[tuple[str, ...], str, dict[str, Expression]]:
    """Return the points with the readers' combined values in each iteration of a loop (the values
    in a block) counted from the first one there, under other names; and that first value, 0 for
    other dims.
    """
    first = dict.fromkeys(dims, expression(0))
    names = {d: d for d in dims}
    for d in dims:
        alone = all(d in program.statement[name].reduction_dims for name in group.names)
        if not alone or not is_box(domain, (d,)):
            continue
        ((lower, _),) = bounds(domain, (d,))
        if not lower.variables & set(group.along):
            continue
        first[d], names[d] = lower, free(f"{d}_in", dims)
        now = dims_of(domain)
        wide = with_dims(domain, (*now, names[d]))
        wide = domain_with(wide, [(variable(names[d]), variable(d) - lower)])
        domain = with_dims(project_out(wide, (d,)), [names[d] if x == d else x for x in now])
    return tuple(names.values()), domain, first


def _positions(original: Statement, at: Sequence[Expression | Body]) -> list[Expression | Body]:
    """Return the position of each dimension of the statement."""
    by_index = dict(zip(original.write, at, strict=True))
    if any(variable(d) not in by_index for d in original.dims):
        raise NotMovable(f"{original.array} is not written at its own dims")
    return [by_index[variable(d)] for d in original.dims]


def _points(program: Program, group: CloneGroup) -> tuple[tuple[str, ...], str]:
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


def _expect_defined(program: Program, clone: Statement) -> None:
    """Refuse computed positions unless the whole array and its operands are defined there."""
    near = {r.array for r in clone.reads}
    written = [replace(s.instances, reads=()) for s in program.statements if s.array in near]
    extents = {a.name: a.extent for a in program.arrays}
    missing = undefined_read([*written, clone.instances], extents)
    if missing is not None:
        element = ", ".join(map(str, missing.element))
        raise NotMovable(f"it would read {missing.array}[{element}], which nothing defines")
