"""Clones of an array for some of its readers: of all of it, or at positions that the readers
compute. They have the origin of the original, hence the same draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.polyhedral.dependences import undefined_read
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.relations import extent_of, project_out, union, with_dims
from workbench.program.values import Array, Body, Program, Read, Statement
from workbench.transforms.inlining import NotMovable, moved
from workbench.transforms.rules.rewriting import rebuilt
from workbench.transforms.rules.sharing import variables

Index: TypeAlias = tuple[Expression | Body, ...]


@dataclass(frozen=True)
class Clone:
    """An array, the equations that define it, and how its readers read it.

    `taken`: reads at computed positions become reads of the clone; without, all plain reads of the
    original do.
    """

    array: Array
    statements: tuple[Statement, ...]
    taken: tuple[tuple[Read, Read], ...] = ()

    def read_by(self, body: Body, original: str) -> Body:
        """The body reading the clone."""
        taken = dict(self.taken)

        def change(b: Body) -> Body:
            if isinstance(b, Read) and b in taken:
                return taken[b]
            found = rebuilt(b, change)
            if taken or not isinstance(found, Read) or found.array != original:
                return found
            return found if is_computed(found.index) else replace(found, array=self.array.name)

        return change(body)


def is_computed(index: Index) -> bool:
    """Whether a position is computed (a gather)."""
    return any(not isinstance(e, Expression) for e in index)


def readers_of(program: Program, array: str) -> list[str]:
    """The statements that read an array."""
    return [s.name for s in program.statements if any(r.array == array for r in s.reads)]


def groups(
    program: Program, array: str, names: Sequence[str]
) -> list[tuple[Index | None, list[str]]]:
    """The readers of each clone: one for all plain reads (None), one for each computed position."""
    found: dict[Index | None, list[str]] = {}
    for name in names:
        for read in program.statement[name].reads:
            if read.array != array:
                continue
            own = found.setdefault(read.index if is_computed(read.index) else None, [])
            if name not in own:
                own.append(name)
    return sorted(found.items(), key=lambda item: item[0] is not None)


def whole(program: Program, array: str, name: str) -> Clone:
    """A second array with a clone of each equation."""
    found = []
    for s in program.writers[array]:
        piece = s.name.removeprefix(array)
        own = name + piece if s.name.startswith(array) else f"{name}[{piece}]"
        found.append(replace(s, name=own, array=name))
    return Clone(replace(program.array[array], name=name), tuple(found))


def gathered(program: Program, array: str, at: Index, names: Sequence[str], name: str) -> Clone:
    """The array's body at the positions `at`, over the dims these vary over. Raises NotMovable."""
    original, record = program.writers[array][0], program.array[array]
    if len(program.writers[array]) > 1:
        raise NotMovable(f"several equations define {array}")
    if original.combiner is not None:
        raise NotMovable(f"{array} is a {original.combiner}, whose range would have to move too")
    moves = dict(zip(original.dims, _positions(original, at), strict=True))
    read = Read(array, at, record.dtype, record.shape)
    dims, domain = _points(program, read, names)
    write = tuple(variable(d) for d in dims)
    clone = replace(
        original,
        name=name,
        dims=dims,
        domain=domain,
        array=name,
        write=write,
        body=moved(original.body, moves),
    )
    _expect_defined(program, clone)
    new = replace(record, name=name, dims=dims, extent=extent_of(domain))
    return Clone(new, (clone,), ((read, Read(name, write, record.dtype, record.shape)),))


def _positions(original: Statement, at: Index) -> list[Expression | Body]:
    """The position of each dimension of the statement."""
    by_index = dict(zip(original.write, at, strict=True))
    if any(variable(d) not in by_index for d in original.dims):
        raise NotMovable(f"{original.array} is not written at its own dims")
    return [by_index[variable(d)] for d in original.dims]


def _points(program: Program, read: Read, names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The dims over which positions vary, and the points at which the readers have them."""
    varies = variables(read)
    dims: tuple[str, ...] = ()
    domain: str | None = None
    for name in names:
        s = program.statement[name]
        own = s.dims + s.reduction_dims
        dims = dims or tuple(d for d in own if d in varies)
        points = project_out(s.reduction or s.domain, [d for d in own if d not in varies])
        points = with_dims(points, dims)
        domain = points if domain is None else union(domain, points)
    assert domain is not None
    return dims, domain


def _expect_defined(program: Program, clone: Statement) -> None:
    """A computed position may be any of the array's, and all that it needs must be there."""
    near = {r.array for r in clone.reads}
    written = [replace(s.instances, reads=()) for s in program.statements if s.array in near]
    extents = {a.name: a.extent for a in program.arrays}
    missing = undefined_read([*written, clone.instances], extents)
    if missing is not None:
        element = ", ".join(map(str, missing.element))
        raise NotMovable(f"it would read {missing.array}[{element}], which nothing defines")
