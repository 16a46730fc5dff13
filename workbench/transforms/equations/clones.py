"""Clones of an array for some of its readers: of the whole array, or of the elements that they
read. They have the origin of the original, hence the same draws.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.names import free
from workbench.polyhedral.dependences.flow import undefined_read
from workbench.polyhedral.expression import Expression, expression, variable
from workbench.polyhedral.sets.relations import (
    bounds,
    dims_of,
    domain_with,
    extent_of,
    is_box,
    project_out,
    with_dims,
)
from workbench.program.bodies import Body, Read, walk
from workbench.program.text.infix import element_text, equation
from workbench.program.values import Array, Equations, Program, Statement
from workbench.transforms.equations.inlining import NotMovable, moved, moved_index
from workbench.transforms.equations.readers import CloneGroup, is_computed, points_of
from workbench.transforms.rules.rewriting import rebuilt
from workbench.transforms.rules.row import is_external
from workbench.transforms.trees.insertion import fresh_name


@dataclass(frozen=True)
class Clone:
    """An array, the equations that define it, and the replacement of each read of the original."""

    array: Array
    statements: tuple[Statement, ...]
    taken: tuple[tuple[Read, Read], ...]

    def read_in(self, equations: Equations, names: Collection[str]) -> Equations:
        """Return the equations in which the statements `names` read the clone."""
        changed = tuple(
            replace(s, body=self._read_by(s.body)) if s.name in names else s
            for s in equations.statements
        )
        return replace(equations, statements=changed)

    def _read_by(self, body: Body) -> Body:
        taken = dict(self.taken)

        def change(b: Body) -> Body:
            return taken[b] if isinstance(b, Read) and b in taken else rebuilt(b, change)

        return change(body)


def why_only_once(program: Program, s: Statement) -> str | None:
    """Explain why a statement cannot run a second time, for some readers of its array."""
    called = [b.options["name"] for b in walk(s.body) if is_external(b)]
    if called:
        return (
            f"{equation(s, program.equations)} calls the external object {called[0]}, "
            "which would answer otherwise the second time"
        )
    own = next((r for r in s.reads if r.array == s.array), None)
    if own is not None:
        return (
            f"{s.array} cannot be computed slice by slice: {element_text(s.array, s.write)} needs "
            f"{element_text(s.array, own.index)}, so the clone would need all that is kept now"
        )
    return None


def clone_for(program: Program, array: str, group: CloneGroup) -> Clone:
    """Return a clone at a group's positions; of the whole array where elements cannot be cloned
    alone. Raises NotMovable where then the positions are computed.
    """
    name = fresh_name(program, f"{array}.again")
    if group.at is None:
        return _whole(program, array, group, name)
    try:
        return _gathered(program, array, group, name)
    except NotMovable:
        if is_computed(group.at):
            raise
        return _whole(program, array, group, name)


def _whole(program: Program, array: str, group: CloneGroup, name: str) -> Clone:
    """Make a second array with a clone of each equation."""
    clones = []
    for s in program.writers[array]:
        piece = s.name.removeprefix(array)
        own = name + piece if s.name.startswith(array) else f"{name}[{piece}]"
        clones.append(replace(s, name=own, array=name))
    taken = tuple((read, replace(read, array=name)) for read in group.reads)
    again = replace(program.array[array], name=name, described=program.array[array].again_called)
    return Clone(again, tuple(clones), taken)


def _gathered(program: Program, array: str, group: CloneGroup, name: str) -> Clone:
    """Return the array's body at a group's positions, over the dims of these. Raises NotMovable."""
    assert group.at is not None
    original, record = program.writers[array][0], program.array[array]
    if len(program.writers[array]) > 1:
        raise NotMovable(f"several equations define {array}")
    if original.combiner is not None:
        raise NotMovable(f"{array} is a {original.combiner}, whose range would have to move too")
    (read,) = group.reads
    dims, domain = points_of(program, group)
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
        guards=tuple(_moved_guards(original.guards, moves)),
    )
    _expect_defined(program, clone)
    new = replace(
        record,
        name=name,
        dims=written,
        extent=extent_of(domain),
        described=record.again_called,
    )
    index = tuple(variable(d) - first[d] for d in dims)
    return Clone(new, (clone,), ((read, Read(name, index, record.dtype, record.shape)),))


def _moved_guards(guards: Iterable[Read], moves: Mapping[str, Expression | Body]) -> Iterator[Read]:
    """Yield the guards of a clone, but for those at computed positions, which are not known."""
    for guard in guards:
        there = moved(guard, moves)
        assert isinstance(there, Read)
        if all(isinstance(e, Expression) for e in there.index):
            yield there


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


def _expect_defined(program: Program, clone: Statement) -> None:
    """Refuse computed positions unless the whole array and its operands are defined there."""
    near = {r.array for r in clone.reads}
    written = [s.instances for s in (*program.statements, clone) if s.array in near]
    extents = {a.name: a.extent for a in program.arrays}
    missing = undefined_read([clone.instances], written, extents)
    if missing is not None:
        element = ", ".join(map(str, missing.element))
        raise NotMovable(f"it would read {missing.array}[{element}], which nothing defines")
