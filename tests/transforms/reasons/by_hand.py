"""Who orders two instances, found by walking down the schedule with both of them.

It shares no code with `polyhedral/dependences`: instances and elements are listed, as
`tests/soundness/order.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.soundness.order import Accessed, Point, accessed, given_of, run_at, time_in
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, statements
from workbench.program.sizes import resolve
from workbench.program.values import Program

Instance = tuple[str, Point]
PairKey = tuple[str, str, str]


def orderer(tree: Tree, program: Program, first: Instance, second: Instance) -> str:
    """What makes the first instance run before the second; "nothing" where that is not so."""
    if isinstance(tree, Leaf):
        return "nothing"
    if isinstance(tree, Block):
        (at,), (to,) = (
            [k for k, child in enumerate(tree.children) if name in set(statements(child))]
            for name, _ in (first, second)
        )
        if at == to:
            return orderer(tree.children[at], program, first, second)
        return "sequence" if at < to else "nothing"
    if tree.kind == "axis":
        return orderer(tree.child, program, first, second)
    at, to = (time_in(tree, program.statement[name], point) for name, point in (first, second))
    if at == to:
        return orderer(tree.child, program, first, second)
    if tree.apart:
        return "nothing"
    return f"loop {tree.name}" if (at < to) != tree.backwards else "nothing"


def all_accesses(program: Program, sizes: Mapping[str, int]) -> dict[Instance, Accessed]:
    """What every instance touches."""
    known = resolve(program.equations, given_of(program, sizes))
    return {
        (name, point): accessed(program, program.statement[name], point, known)
        for name, points in run_at(program, known).items()
        for point in points
    }


def flow_by_hand(program: Program, sizes: Mapping[str, int]) -> dict[PairKey, set[str]]:
    """For each writer, reader and array what orders their instances."""
    touched = all_accesses(program, sizes)
    writer = {access.written: instance for instance, access in touched.items()}
    found: dict[PairKey, set[str]] = {}
    for instance, access in touched.items():
        for array, element in access.reads:
            source = writer[array, element]
            by = orderer(program.schedule, program, source, instance)
            found.setdefault((source[0], instance[0], array), set()).add(by)
    return found


def own_pairs(program: Program, sizes: Mapping[str, int]) -> Iterator[tuple[str, Point, Point]]:
    """Each statement that reads its own results, with the writing and the reading instance."""
    touched = all_accesses(program, sizes)
    writer = {access.written: instance for instance, access in touched.items()}
    for (name, point), access in touched.items():
        for read in access.reads:
            source, at = writer[read]
            if source == name:
                yield name, at, point


def slots_by_hand(
    program: Program, sizes: Mapping[str, int], array: str, position: int, distance: int
) -> dict[PairKey, set[str]]:
    """For each reader of an array, and the writer of the element at a distance along one dimension,
    what keeps the writer behind.
    """
    touched = all_accesses(program, sizes)
    writer = {access.written: instance for instance, access in touched.items()}
    found: dict[PairKey, set[str]] = {}
    for instance, element in _reads(touched, array):
        ahead = (*element[:position], element[position] + distance, *element[position + 1 :])
        heir = writer.get((array, ahead))
        if heir is not None:
            by = orderer(program.schedule, program, instance, heir)
            by = "operation" if heir == instance else by
            found.setdefault((instance[0], heir[0], array), set()).add(by)
    return found


def handed_by_hand(
    program: Program, sizes: Mapping[str, int], array: str, to: str
) -> dict[PairKey, set[str]]:
    """The same for two arrays of one shape, of which the second lies in the first's memory."""
    touched = all_accesses(program, sizes)
    writer = {access.written: instance for instance, access in touched.items()}
    found: dict[PairKey, set[str]] = {}
    for instance, element in _reads(touched, array):
        heir = writer[to, element]
        by = orderer(program.schedule, program, instance, heir)
        by = "operation" if heir == instance else by
        found.setdefault((instance[0], heir[0], array), set()).add(by)
    return found


def _reads(touched: Mapping[Instance, Accessed], array: str) -> Iterator[tuple[Instance, Point]]:
    for instance, access in touched.items():
        for name, element in access.reads:
            if name == array:
                yield instance, element


def moved_by_hand(before: Program, after: Program) -> set[str]:
    """The statements that have other loops than before, or another equation."""
    was, now = (dict(_around(p.schedule, ())) for p in (before, after))
    return {
        name
        for name in now
        if was.get(name) != now[name] or before.statement.get(name) != after.statement[name]
    }


def _around(tree: Tree, above: tuple[object, ...]) -> Iterator[tuple[str, tuple[object, ...]]]:
    if isinstance(tree, Leaf):
        own = tuple(
            (
                loop.name,
                loop.kind,
                loop.backwards,
                loop.apart,
                dict(loop.offsets).get(tree.statement, 0),
            )
            for loop in above
            if isinstance(loop, Loop)
        )
        yield tree.statement, own
        return
    for child in tree.children if isinstance(tree, Block) else (tree.child,):
        yield from _around(child, (*above, tree))
