"""Two arrays in one piece of memory: what is allowed works, what is refused goes wrong."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.dependences.test_legality import dependences, trees
from tests.polyhedral.examples import (
    BlockOrder,
    Equation,
    T,
    element,
    equation,
    extents,
    instances,
    programs,
    t,
    times,
)
from tests.polyhedral.lifetimes.test_windows import by_name, well_defined
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.expression import expression
from workbench.polyhedral.lifetimes.shared_memory import Pair, SamePlace, sharing_clash
from workbench.polyhedral.ordering.as_written import NoOrder, order
from workbench.polyhedral.tree import Tree

SIZES = ({"B": 2, "I": 2, "T": 3}, {"B": 1, "I": 3, "T": 1}, {"B": 2, "I": 1, "T": 2})


def sharing_works(
    tree: Tree,
    equations: list[Equation],
    pair: Pair,
    sizes: dict[str, int],
    apart: BlockOrder = "forwards",
) -> bool:
    """Run the schedule with both arrays in one memory: does every read find what it asks for?

    Instances of one time run in either order; an instance writes before it reads.
    """
    at = times(tree, equations, sizes, apart)
    points: dict = {}
    for q in equations:
        for name, values in q.points(sizes, reduced=True):
            points.setdefault((q.name, name), (q, []))[1].append(values)
        for name, _ in q.points(sizes):
            points.setdefault((q.name, name), (q, []))

    def lost(array: str, where: tuple[int, ...], other: tuple[str, tuple[int, ...]]) -> bool:
        """Whether writing an element of one array destroys an element of the other."""
        if {array, other[0]} != {pair.first, pair.second}:
            return False
        one, two = (where, other[1]) if array == pair.first else (other[1], where)
        return all(one[s.first] == two[s.second] for s in pair.places)

    for reverse in (False, True):
        alive: set[tuple[str, tuple[int, ...]]] = set()
        for _, group in groupby(sorted(at, key=at.__getitem__), key=at.__getitem__):
            for instance in sorted(group, reverse=reverse):
                q, inner = points[instance]
                own = dict(zip([n for n, _, _ in q.bounds], instance[1], strict=True))
                array, where = q.write.array, element(q.write, {**sizes, **own})
                alive = {other for other in alive if not lost(array, where, other)}
                alive.add((array, where))
                for values in inner:
                    for access in q.reads:
                        if (access.array, element(access, values)) not in alive:
                            return False
    return True


def over(equations: list[Equation], first: str, second: str) -> tuple[SamePlace, ...]:
    """Equal coordinates in one place, where both arrays have the same extent; else nowhere."""
    bounds = extents(equations)
    if bounds[first] != bounds[second]:
        return ()
    return tuple(SamePlace(k, k, expression(0)) for k in range(len(bounds[first])))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_arrays_that_may_share_memory_never_meet_there(data: st.DataObject) -> None:
    equations = well_defined(data.draw(programs()))
    found = dependences(equations)
    try:
        tree = order(instances(equations), found, "bit")
    except NoOrder:
        return
    random_tree = data.draw(trees(equations))
    if violation(random_tree, found) is None:
        tree = random_tree
    bounds = extents(equations)
    for first in bounds:
        for second in bounds:
            if first >= second:
                continue
            pair = Pair(first, second, over(equations, first, second))
            clash = sharing_clash(pair, bounds, tree, by_name(equations))
            if clash is None:
                assert all(sharing_works(tree, equations, pair, sizes) for sizes in SIZES)
            elif clash.is_read:
                sizes = {**dict.fromkeys("BIT", 1), **clash.witness.sizes}
                assert not sharing_works(tree, equations, pair, sizes)


def test_operand_and_result_meet_unless_the_equation_is_elementwise() -> None:
    from dataclasses import replace

    x = equation("x", "t", "x", [t])
    y = equation("y", "t", "y", [t], ("x", [t]))
    equations = [x, y]
    tree = order(instances(equations), dependences(equations), "t")
    statements = by_name(equations)
    pair = Pair("x", "y", over(equations, "x", "y"))
    bounds = extents(equations)
    clash = sharing_clash(pair, bounds, tree, statements)
    assert clash is not None and clash.is_read
    assert clash.witness.statements == ("y", "y") and clash.witness.sizes == {"T": 1}
    statements["y"] = replace(statements["y"], may_alias=("x",))
    assert sharing_clash(pair, bounds, tree, statements) is None
    assert sharing_clash(Pair("x", "y"), bounds, tree, statements) is None


def test_a_place_taken_before_the_last_read_is_shown_with_two_instances() -> None:
    x = equation("x", "t", "x", [t])
    y = equation("y", "t", "y", [t])
    z = equation("z", "t", "z", [t], ("x", [T - 1 - t]))
    equations = [x, y, z]
    tree = order(instances(equations), dependences(equations), "t")
    pair = Pair("x", "y", over(equations, "x", "y"))
    clash = sharing_clash(pair, extents(equations), tree, by_name(equations))
    assert clash is not None
    assert clash.witness.statements == ("y", "z")
    assert clash.witness.element == clash.written == (0,)
