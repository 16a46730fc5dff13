"""The place of a new statement: in front of its first reader, as deep in the reader's loops as its
dimensions and the dependences allow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.names import free
from workbench.polyhedral.dependences.flow import Dependences, flow
from workbench.polyhedral.dependences.legality import Violation, violation
from workbench.polyhedral.sets.relations import is_box
from workbench.polyhedral.tree import (
    Block,
    Leaf,
    Loop,
    Path,
    Tree,
    axis_dims,
    block_dim,
    loops_above,
    paths,
    sequence,
    statements,
)
from workbench.program.values import Array, Equations, Program, Statement
from workbench.transforms.trees.axes import writes_along


def fresh_name(program: Program, wanted: str) -> str:
    """Return a name that no array, statement or alias has yet."""
    taken = {*program.array, *program.statement, *(alias.name for alias in program.aliases)}
    return free(wanted, taken)


@dataclass(frozen=True)
class Unplaced:
    """A program with a new statement at its nearest place, and a dependence that is violated there,
    as some are at every other.
    """

    program: Program
    violation: Violation


def with_array(
    program: Program,
    equations: Equations,
    array: Array,
    new: Sequence[Statement],
    readers: Collection[str],
) -> Program | Unplaced:
    """Return the program with one more array and the statements that write it, each as near to the
    first of the `readers` as is legal. In `equations`, which are the program's but for these, they
    read it already.
    """
    wanted = set(readers)
    first = next(name for name in statements(program.schedule) if name in wanted)
    added = _with_equations(equations, array, new, readers)
    for k in range(len(new)):
        there = _without(added, new[k + 1 :])
        result = _nearest(program, there, new[: k + 1], there.statement[first])
        if isinstance(result, Unplaced):
            return result
        program = result
    return program


def _nearest(
    program: Program, there: Equations, new: Sequence[Statement], reader: Statement
) -> Program | Unplaced:
    """Return the program with the equations `there`, which have one more statement, the last of the
    `new`, in front of the reader.
    """
    names = {s.name for s in new}
    nearest: Unplaced | None = None
    for tree in _places(program.schedule, new[-1], reader):
        after = replace(program, equations=there, schedule=tree)
        broken = violated(there, tree, names)
        if broken is None:
            return after
        nearest = nearest or Unplaced(after, broken)
    assert nearest is not None
    return nearest


def _without(equations: Equations, waiting: Sequence[Statement]) -> Equations:
    """Return the equations without the statements that have no place yet."""
    if not waiting:
        return equations
    names = {s.name for s in waiting}
    kept = tuple(s for s in equations.statements if s.name not in names)
    return replace(equations, statements=kept)


def _with_equations(
    equations: Equations, array: Array, new: Sequence[Statement], readers: Collection[str]
) -> Equations:
    """Return the equations with those of a new array in front of its first reader's."""
    names = [s.name for s in equations.statements]
    at = min(names.index(r) for r in readers)
    return replace(
        equations,
        arrays=(*equations.arrays, array),
        statements=(*equations.statements[:at], *new, *equations.statements[at:]),
    )


def _places(tree: Tree, statement: Statement, reader: Statement) -> Iterator[Tree]:
    """Yield trees with the statement in front of `reader`, then in front of the loops around it,
    further and further out. Loops over dims that the statement lacks stay outside of it, and so do
    axes over which its points fill no box. Dims without a loop of the reader (it combines along
    them) are array axes of the statement.
    """
    path = paths(tree)[reader.name]
    further = [d for d in statement.dims if d not in reader.dims]
    axes = (*axis_dims(tree)[reader.name], *further)
    deepest = next((k for k, (node, _) in enumerate(path) if not _inside(node, statement)), None)
    for depth in range(len(path) if deepest is None else deepest, -1, -1):
        at = path[depth][0] if depth < len(path) else Leaf(reader.name)
        if isinstance(at, Block):
            continue
        outside = [n for n, _ in path[:depth] if isinstance(n, Loop) and n.tile is None]
        covered = [n.dim for n in outside if n.kind == "axis" and n.dim in statement.dims]
        if covered and not is_box(statement.domain, covered):
            continue
        rest = _ordered([d for d in statement.dims if d not in {n.dim for n in outside}], path)
        own = _around(statement, rest, [d for d in axes if d in rest], covered)
        yield _inserted(path[:depth], sequence([own, at]), statement.name, reader.name)


def violated(equations: Equations, tree: Tree, names: Collection[str]) -> Violation | None:
    """Return the first dependence of the statements `names`, in either direction, that a tree
    violates.
    """
    return violation(tree, touching(equations, names))


def touching(equations: Equations, names: Collection[str]) -> Dependences:
    """Return the dependences of the statements `names`, in either direction."""
    own = [s for s in equations.statements if s.name in names]
    read = {r.array for s in own for r in s.reads}
    written = {s.array for s in own}
    near = [
        s.instances
        for s in equations.statements
        if s.array in read or not written.isdisjoint(s.touched)
    ]
    needs = flow(near, {a.name: a.extent for a in equations.arrays})
    kept = {d: k for d, k in needs.keys.items() if d.source in names or d.sink in names}
    return Dependences(needs.statements, tuple(kept), kept)


def _inside(node: Tree, statement: Statement) -> bool:
    """Tell whether the statement can stand inside the node."""
    if not isinstance(node, Loop):
        return True
    if node.dim in statement.dims:
        return node.kind == "loop" or writes_along(statement, node.dim)
    return node.tile is not None and block_dim(node.dim, node.tile) in statement.dims


def _ordered(dims: Sequence[str], path: Path) -> list[str]:
    """Return the dims that the path has, in its order, then the others."""
    around = [loop.dim for loop in loops_above(path) if loop.dim in dims]
    return list(dict.fromkeys((*around, *dims)))


def _around(
    statement: Statement, dims: Sequence[str], axes: Sequence[str], covered: Sequence[str]
) -> Tree:
    """Return the statement in loops of its own; `axes` as array axes where its points fill a box
    there, together with the axes `covered` around it.
    """
    axes = [d for d in axes if writes_along(statement, d)]
    if axes and not is_box(statement.domain, [*covered, *axes]):
        axes = []
    inside: Tree = Leaf(statement.name)
    for dim in reversed([*(d for d in dims if d not in axes), *axes]):
        inside = Loop(dim, inside, kind="axis" if dim in axes else "loop")
    return inside


def _inserted(path: Path, child_with: Tree, name: str, reader: str) -> Tree:
    for node, position in reversed(path):
        if isinstance(node, Loop):
            shift = node.offset(reader)
            offsets = (*node.offsets, (name, shift)) if shift else node.offsets
            child_with = replace(node, child=child_with, offsets=offsets)
        else:
            children = list(node.children)
            children[position] = child_with
            child_with = sequence(children)
    return child_with
