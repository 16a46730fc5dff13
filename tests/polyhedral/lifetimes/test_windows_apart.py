"""Windows of arrays in blocks that run in any order: a copy a block, or nothing in turn."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.dependences.test_legality import dependences
from tests.polyhedral.examples import (
    BlockOrder,
    Equation,
    b,
    equation,
    extents,
    instances,
    programs,
    t,
)
from tests.polyhedral.lifetimes.one_array import lifetime
from tests.polyhedral.lifetimes.test_shared_memory import SIZES, over, sharing_works
from tests.polyhedral.lifetimes.test_windows import by_name, storage_works, well_defined
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.expression import Expression, expression, minimum, size
from workbench.polyhedral.lifetimes.shared_memory import Pair, sharing_clash
from workbench.polyhedral.lifetimes.windows import together, whole_extent_clash
from workbench.polyhedral.ordering.as_written import NoOrder, order
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, loops, loops_above, mapped, paths

WAYS: tuple[BlockOrder, ...] = ("forwards", "backwards", "at once")


def in_blocks(tree: Tree, dim: str, size: int) -> Tree:
    """The tree with blocks around its loops over a dimension."""

    def blocks(node: Tree) -> Tree | None:
        if isinstance(node, Loop) and node.dim == dim:
            return replace(node, child=node, backwards=False, tile=size)
        return None

    return mapped(tree, blocks)


def marked(tree: Tree, loop: Loop) -> Tree:
    """The tree with the blocks of a loop in any order."""
    return mapped(tree, lambda node: replace(loop, apart=True) if node is loop else None)


def with_apart(data: st.DataObject, tree: Tree, equations: list[Equation]) -> Tree:
    """The tree with some of its loops in blocks, those in any order that may be."""
    found = dependences(equations)
    for dim in data.draw(st.lists(st.sampled_from("bit"), unique=True, max_size=2)):
        blocked = in_blocks(tree, dim, data.draw(st.integers(2, 3)))
        tree = blocked if violation(blocked, found) is None else tree
    while True:
        able = [
            loop
            for loop in loops(tree)
            if loop.tile is not None and not loop.apart and not loop.backwards
        ]
        legal = [other for loop in able if violation(other := marked(tree, loop), found) is None]
        if not legal:
            return tree
        tree = legal[0]


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_windows_keep_every_live_element_in_whatever_order_blocks_run(data: st.DataObject) -> None:
    equations = well_defined(data.draw(programs()))
    try:
        tree = order(instances(equations), dependences(equations), "bit")
    except NoOrder:
        return
    tree = with_apart(data, tree, equations)
    around = {name: loops_above(path, "loop") for name, path in paths(tree).items()}
    for array, extent in extents(equations).items():
        kept = data.draw(st.lists(st.integers(0, len(extent) - 1), unique=True)) if extent else []
        live = together({array: extent}, tree, by_name(equations), keep={array: kept})[array]
        found = live.folded(range(len(extent)))
        writer = next(q.name for q in equations if q.write.array == array)
        private = [loop for loop in around[writer][: found.loops] if loop.apart]
        for sizes in ({"B": 4, "I": 2, "T": 4}, {"B": 1, "I": 4, "T": 1}, {"B": 3, "I": 1, "T": 5}):
            for way in WAYS:
                assert storage_works(
                    tree, equations, array, found.windows, sizes, False, way, private
                )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_arrays_that_may_share_memory_never_meet_in_whatever_order(data: st.DataObject) -> None:
    equations = well_defined(data.draw(programs()))
    try:
        tree = order(instances(equations), dependences(equations), "bit")
    except NoOrder:
        return
    tree = with_apart(data, tree, equations)
    names = list(extents(equations))
    first, second = data.draw(st.permutations(names))[:2] if len(names) > 1 else (names * 2)
    if first == second:
        return
    pair = Pair(first, second, over(equations, first, second))
    if sharing_clash(pair, extents(equations), tree, by_name(equations)) is None:
        for sizes in SIZES:
            assert all(sharing_works(tree, equations, pair, sizes, way) for way in WAYS)


def rollout() -> list[Equation]:
    """A state over b and t, of which one step is read: the rewards are read later."""
    return [
        equation("first", "b", "x", [b, 0]),
        equation("step", "bt", "x", [b, t + 1], ("x", [b, t])),
        equation("reward", "bt", "r", [b, t], ("x", [b, t])),
    ]


def blocks_of(*parts: Tree, apart: bool = True) -> Loop:
    return Loop("b", Loop("b", Block(parts), "axis"), tile=4, apart=apart)


ROLLOUT = blocks_of(Leaf("first"), Loop("t", Block((Leaf("step"), Leaf("reward")))))


def test_array_of_one_loop_has_a_copy_in_each_block() -> None:
    state = extents(rollout())["x"]
    found = lifetime("x", state, ROLLOUT, by_name(rollout()))
    assert found.windows == (minimum(size("B"), 4), expression(2))
    assert found.loops == 1


def test_array_that_is_read_in_another_loop_has_one_copy() -> None:
    last = equation("last", "b", "y", [b], ("x", [b, size("T")]))
    equations = [*rollout(), last]
    tree = Block((ROLLOUT, blocks_of(Leaf("last"))))
    state = extents(equations)["x"]
    apart = lifetime("x", state, tree, by_name(equations))
    assert apart.loops == 0
    assert apart.windows == (None, expression(2))  # blocks are told apart by b


def test_array_that_is_kept_whole_has_no_copies_in_blocks() -> None:
    """Along t alone it is folded: blocks are told apart by b, which is whole."""
    state = extents(rollout())["x"]
    live = together({"x": state}, ROLLOUT, by_name(rollout()))["x"]
    assert (live.folded([1]).loops, live.own_copies([1])) == (0, 0)
    assert (live.folded([0, 1]).loops, live.own_copies([0, 1])) == (1, 1)
    assert live.folded([1]).windows == (None, expression(2))


def test_blocks_that_run_at_once_need_places_of_their_own_where_they_have_no_copies() -> None:
    """b = 2 and 3 have one half and two parities, and blocks of 3 part them."""
    half, odd = b // 2, b % 2
    write = equation("write", "b", "z", [half, odd])
    read = equation("read", "b", "y", [b], ("z", [half, odd]))
    extent = ((expression(0), (size("B") + 1) // 2), (expression(0), expression(2)))

    def tree(size: int, apart: bool) -> Loop:
        return Loop("b", Loop("b", Block((Leaf("write"), Leaf("read")))), tile=size, apart=apart)

    def windows(size: int, apart: bool) -> tuple[Expression | None, ...]:
        live = together({"z": extent}, tree(size, apart), by_name([write, read]))["z"]
        found = live.folded([1])
        assert (found.loops, live.own_copies([1])) == (0, 0)
        return found.windows

    assert windows(3, apart=False) == windows(2, apart=True) == (None, expression(1))
    whole, slots = windows(3, apart=True)
    assert whole is None and slots is not None
    assert [slots.evaluate({"B": count}) for count in (3, 4, 9)] == [1, 2, 2]
    blocks, statements = tree(3, apart=True), by_name([write, read])
    found = whole_extent_clash("z", extent, blocks, statements, 1, [])
    assert found is not None
    assert found.witness.statements == ("write", "read")
    assert sorted(at["b"] for at in found.witness.instances) == [2, 3]
    assert whole_extent_clash("z", extent, tree(2, apart=True), statements, 1, []) is None
