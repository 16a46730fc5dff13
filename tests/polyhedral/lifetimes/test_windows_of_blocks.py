"""Windows along array axes that run in blocks: whole blocks, whose slots are neighbours."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.dependences.test_legality import dependences, trees
from tests.polyhedral.examples import Equation, T, equation, extents, instances, loop_value, t
from tests.polyhedral.lifetimes.one_array import lifetime, windows
from tests.polyhedral.lifetimes.test_windows import by_name, programs, storage_works, well_defined
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.expression import Expression, expression, minimum
from workbench.polyhedral.ordering.as_written import NoOrder, order
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, paths


def in_blocks(*names: str, size: int = 4) -> Tree:
    return Loop("t", Loop("t", Block(tuple(map(Leaf, names))), "axis"), tile=size)


def used_by(*reads: Expression) -> list[Equation]:
    return [
        equation("x", "t", "x", [t]),
        equation("y", "t", "y", [t], *(("x", [e]) for e in reads), bounds={"t": (9, T)}),
    ]


def test_array_used_within_a_block_keeps_one_block() -> None:
    equations = used_by(t)
    found = lifetime("x", extents(equations)["x"], in_blocks("x", "y"), by_name(equations))
    assert found.windows == (minimum(T, 4),)
    assert found.loops == 1


@pytest.mark.parametrize(("back", "slots"), [(4, 8), (8, 12)])
def test_array_read_whole_blocks_later_keeps_whole_blocks(back: int, slots: int) -> None:
    equations = used_by(t - back)
    found = lifetime("x", extents(equations)["x"], in_blocks("x", "y"), by_name(equations))
    assert found.windows == (minimum(T, slots),)
    assert found.loops == 0


@pytest.mark.parametrize("reads", [(t - 1,), (t, t - 3), (t - 4, t - 5)])
def test_array_whose_slices_would_wrap_keeps_its_extent(reads: tuple[Expression, ...]) -> None:
    equations = used_by(*reads)
    tree = in_blocks("x", "y")
    assert violation(tree, dependences(equations)) is None
    assert windows("x", extents(equations)["x"], tree, by_name(equations)) == (None,)


def test_reads_in_a_loop_within_the_block_may_be_anywhere() -> None:
    equations = used_by(t - 1)
    tree = Loop("t", Block((Loop("t", Leaf("x"), "axis"), Loop("t", Leaf("y")))), tile=4)
    assert windows("x", extents(equations)["x"], tree, by_name(equations)) == (minimum(T, 8),)


def test_shifted_statement_keeps_to_blocks_of_what_it_touches() -> None:
    """y runs one ahead and reads what x writes at the block's value: aligned, but not y itself."""
    x = equation("x", "t", "x", [t])
    y = equation("y", "t", "y", [t], ("x", [t + 1]), bounds={"t": (0, T - 1)})
    z = equation("z", "t", "z", [t], ("y", [t]), bounds={"t": (0, T - 1)})
    inner = Loop("t", Block((Leaf("x"), Leaf("y"), Leaf("z"))), "axis")
    tree = Loop("t", inner, offsets=(("y", 1), ("z", 1)), tile=4)
    equations = [x, y, z]
    assert violation(tree, dependences(equations)) is None
    found = {a: windows(a, e, tree, by_name(equations)) for a, e in extents(equations).items()}
    assert found == {"x": (minimum(T, 4),), "y": (None,), "z": (None,)}


def test_whole_axis_elsewhere_keeps_the_extent() -> None:
    equations = used_by(t)
    tree = Block((Loop("t", Loop("t", Leaf("x"), "axis"), tile=4), Loop("t", Leaf("y"), "axis")))
    assert windows("x", extents(equations)["x"], tree, by_name(equations)) == (None,)


def test_array_that_counts_from_one_keeps_its_extent() -> None:
    x = equation("x", "t", "x", [t], bounds={"t": (1, T + 1)})
    y = equation("y", "t", "y", [t], ("x", [t]), bounds={"t": (1, T + 1)})
    assert windows("x", extents([x])["x"], in_blocks("x", "y"), by_name([x, y])) == (None,)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_slots_of_a_block_are_neighbours(data: st.DataObject) -> None:
    equations = well_defined(data.draw(programs()))
    tree = data.draw(trees(equations))
    if violation(tree, dependences(equations)) is not None:
        try:
            tree = order(instances(equations), dependences(equations), "bit")
        except NoOrder:
            return
    around, sizes = paths(tree), {"B": 2, "I": 2, "T": 7}
    for array, extent in extents(equations).items():
        folded = windows(array, extent, tree, by_name(equations))
        assert storage_works(tree, equations, array, folded, sizes)
        for q in equations:
            loops = [n for n, _ in around[q.name] if isinstance(n, Loop)]
            axes = {n.dim for n in loops if n.kind == "axis"}
            for access in (q.write, *q.reads):
                if access.array != array:
                    continue
                for e, window in zip(access.index, folded, strict=True):
                    if window is None or not e.variables & axes:
                        continue
                    for slots in slots_by_iteration(q, e, loops, sizes, window):
                        assert slots == list(range(slots[0], slots[0] + len(slots)))


def slots_by_iteration(
    q: Equation, e: Expression, loops: list[Loop], sizes: dict[str, int], window: Expression
) -> list[list[int]]:
    """For each iteration of the loops around an axis the slots at which it has its values."""
    found: dict[tuple[int, ...], list[int]] = {}
    names = [n for n, _, _ in q.bounds]
    for at, values in q.points(sizes):
        own = dict(zip(names, at, strict=True))
        iteration = tuple(loop_value(n, q.name, own) for n in loops if n.kind == "loop")
        others = tuple(v for d, v in own.items() if d not in e.variables)
        slot = e.evaluate(values) % window.evaluate(sizes)
        found.setdefault((*iteration, *others), []).append(slot)
    return list(found.values())


def test_window_of_blocks_is_taken_modulo_a_number() -> None:
    from workbench.lowering.loops.records import Buffer
    from workbench.lowering.values.stored import Stored
    from workbench.program.values import Array

    array = Array("x", ("t",), ((expression(0), T),), "float")
    window = minimum(T, 4)
    stored = Stored(array, (0,), 1, (window,), Buffer("x", "float", (window,)))
    assert stored.slot(0, t * 4) == 0
    assert stored.slot(0, t * 4 + 9) == 1
