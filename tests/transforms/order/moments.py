"""When each instance runs under a tree, by enumeration: nothing here uses isl's relations."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.relations import points
from workbench.polyhedral.tree import Loop, Path, Tree, block_dim, paths
from workbench.program.values import Program, Statement


def moment(s: Statement, instance: Mapping[str, int], path: Path) -> tuple[int, ...]:
    """Loop values and positions in sequences, outermost first; axes take no time."""
    found = []
    for node, position in path:
        if not isinstance(node, Loop):
            found.append(position)
        elif node.kind == "loop":
            counted = node.tile and block_dim(node.dim, node.tile)
            if counted in s.dims:
                value = instance[counted] + node.offset(s.name)
            else:
                value = (instance[node.dim] + node.offset(s.name)) // (node.tile or 1)
            found.append(-value if node.backwards else value)
    return tuple(found)


def assert_breaks(program: Program, tree: Tree, witness: Witness) -> None:
    """At the witness's sizes its sink exists, reads the source's element, and runs no later."""
    known = {p.name: witness.sizes.get(p.name, 1) for p in program.parameters}
    ways = paths(tree)
    times = []
    for name, instance in zip(witness.statements, witness.instances, strict=True):
        s = program.statement[name]
        assert tuple(instance[d] for d in s.dims) in set(points(s.domain, known))
        times.append(moment(s, instance, ways[name]))
    source, sink = times
    assert source >= sink
    writer = program.statement[witness.statements[0]]
    values = {**known, **witness.instances[0]}
    assert writer.array == witness.array
    assert tuple(e.evaluate(values) for e in writer.write) == witness.element
    assert witness.element in elements_read(program, witness, known)


def elements_read(
    program: Program, witness: Witness, known: Mapping[str, int]
) -> set[tuple[int, ...]]:
    """The elements of the witness's array that its sink may read."""
    s = program.statement[witness.statements[1]]
    at = tuple(witness.instances[1][d] for d in s.dims)
    found = set()
    for point in points(s.reduction or s.domain, known):
        if point[: len(at)] != at:
            continue
        values = {**known, **dict(zip((*s.dims, *s.reduction_dims), point, strict=True))}
        for read in s.reads:
            if read.array == witness.array:
                if not all(isinstance(e, Expression) for e in read.index):
                    return {witness.element}  # a gather may read any element
                found.add(tuple(e.evaluate(values) for e in read.index))
    return found
