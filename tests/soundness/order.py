"""A schedule tree executed by hand, instance by instance: which read comes before its write.

It shares no code with `polyhedral/legality.py`: instances are listed, grouped as the tree says, and
run in that order; an array operation reads everything before it writes anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from workbench.polyhedral.accesses import Between
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.scanning import scanner
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, block_dim, mapped
from workbench.program.accumulating import Adding
from workbench.program.bodies import Read
from workbench.program.sizes import resolve
from workbench.program.values import Program, Statement

Point = tuple[int, ...]
Points = Mapping[str, list[Point]]


@dataclass(frozen=True)
class Undefined:
    """An instance that reads an element before anybody has written it."""

    statement: str
    instance: Point
    array: str
    element: Point


@dataclass(frozen=True)
class Accessed:
    """What an instance reads, at all of its reduction points, and the one element it writes."""

    reads: list[tuple[str, Point]]
    written: tuple[str, Point]


def undefined_read(program: Program, tree: Tree, sizes: Mapping[str, int]) -> Undefined | None:
    """The first such read when the program runs in the order of `tree`; None where all is well.

    Statements that the tree lacks have run before.
    """
    known = resolve(program.equations, given_of(program, sizes))
    instances, held = run_at(program, known), set(_names(tree))
    written = {
        accessed(program, program.statement[name], point, known).written
        for name in instances.keys() - held
        for point in instances[name]
    }
    for name, points in operations(tree, program, instances):
        found = [accessed(program, program.statement[name], p, known) for p in points]
        for point, instance in zip(points, found, strict=True):
            for array, element in instance.reads:
                if (array, element) not in written:
                    return Undefined(name, point, array, element)
        written |= {instance.written for instance in found}
    return None


def block_orders(tree: Tree) -> Iterator[Tree]:
    """The tree with its blocks that are apart from the first to the last, and the other way: of
    two blocks each comes first once.
    """
    yield tree

    def turned(node: Tree) -> Tree | None:
        if not (isinstance(node, Loop) and node.apart):
            return None
        return replace(
            node, child=mapped(node.child, turned), apart=False, chunks=1, backwards=True
        )

    backwards = mapped(tree, turned)
    if backwards is not tree:
        yield backwards


def given_of(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """Those of some sizes that can be given: not the derived ones."""
    derived = {p.name for p in program.parameters if p.definition is not None}
    return {name: size for name, size in sizes.items() if name not in derived}


def run_at(program: Program, sizes: Mapping[str, int]) -> dict[str, list[Point]]:
    """The instances of every statement."""
    return {s.name: list(scanner(s.domain, sizes, 0)(())) for s in program.statements}


def accessed(
    program: Program, statement: Statement, point: Point, sizes: Mapping[str, int]
) -> Accessed:
    """What an instance touches."""
    written = _element(statement.write, _values(statement.dims, point, sizes))
    reads = list(_read(program, statement, point, sizes))
    if isinstance(statement, Adding):
        reads.append((statement.array, written))
    return Accessed(reads, (statement.array, written))


def operations(
    tree: Tree, program: Program, instances: Points
) -> Iterator[tuple[str, list[Point]]]:
    """Statements and the instances that run at once, in the order of the tree."""
    if isinstance(tree, Leaf):
        points = instances.get(tree.statement)
        if points:
            yield tree.statement, points
    elif isinstance(tree, Block):
        for child in tree.children:
            yield from operations(child, program, instances)
    elif tree.kind == "axis":
        yield from operations(tree.child, program, instances)
    else:
        at = {
            (name, point): time_in(tree, program.statement[name], point)
            for name, points in instances.items()
            if name in set(_names(tree))
            for point in points
        }
        for time in sorted(set(at.values()), reverse=tree.backwards):
            now = {
                name: [p for p in points if at.get((name, p)) == time]
                for name, points in instances.items()
            }
            yield from operations(tree.child, program, now)


def _names(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Leaf):
        yield tree.statement
    else:
        for child in tree.children if isinstance(tree, Block) else (tree.child,):
            yield from _names(child)


def time_in(loop: Loop, statement: Statement, point: Point) -> int:
    """The iteration of a loop in which an instance runs."""
    values = dict(zip(statement.dims, point, strict=True))
    shift = dict(loop.offsets).get(statement.name, 0)
    if loop.tile is None:
        return values[loop.dim] + shift
    block = block_dim(loop.dim, loop.tile)
    if block in values:
        return values[block] + shift
    return (values[loop.dim] + shift) // loop.tile


def _read(
    program: Program, statement: Statement, point: Point, sizes: Mapping[str, int]
) -> Iterator[tuple[str, Point]]:
    """The elements that an instance reads, at all of its reduction points."""
    points = [point]
    if statement.reduction_dims:
        inner = scanner(statement.reduction, sizes, len(statement.dims))(point)
        points = [(*point, *rest) for rest in inner]
    dims = (*statement.dims, *statement.reduction_dims)
    for at in points:
        values = _values(dims, at, sizes)
        for read in statement.reads:
            for element in _elements(program, read, values):
                yield read.array, element


def _values(dims: tuple[str, ...], point: Point, sizes: Mapping[str, int]) -> dict[str, int]:
    return {**sizes, **dict(zip(dims, point, strict=True))}


def _element(index: tuple[Any, ...], values: Mapping[str, int]) -> Point:
    return tuple(e.evaluate(values) for e in index)


def _elements(program: Program, read: Read, values: Mapping[str, int]) -> Iterator[Point]:
    """The element of a read; at a data-dependent index every element that it may be, as the index
    was promised to be or as the array has them.
    """
    extent = program.array[read.array].extent
    choices: list[range] = []
    for (low, high), e in zip(extent, read.access.index, strict=True):
        if isinstance(e, Expression):
            at = e.evaluate(values)
            choices.append(range(at, at + 1))
            continue
        if isinstance(e, Between):
            low, high = e.lower, e.upper
        choices.append(range(low.evaluate(values), high.evaluate(values)))
    yield from product(*choices)
