from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.dependences.test_legality import as_axis, dependences, trees
from tests.polyhedral.examples import (
    BlockOrder,
    Equation,
    I,
    T,
    all_sizes,
    element,
    equation,
    extents,
    i,
    instances,
    k,
    loop_value,
    ppo,
    programs,
    reinforce,
    t,
    times,
)
from tests.polyhedral.lifetimes.one_array import lifetime, windows
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.expression import Expression, expression, minimum, size
from workbench.polyhedral.ordering.as_written import NoOrder, order
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, paths
from workbench.polyhedral.tree import statements as statements_of


def by_name(equations: list[Equation]):
    return {q.name: q.instances for q in equations}


def storage_works(
    tree: Tree,
    equations: list[Equation],
    array: str,
    folded: tuple[Expression | None, ...],
    sizes: dict[str, int],
    share: bool = False,
    apart: BlockOrder = "forwards",
    private: Sequence[Loop] = (),
) -> bool:
    """Run the schedule with circular storage: does every read find the element it asks for?

    Instances of one time run in either order; an instance writes before it reads, unless it may
    `share` the element it reads. Each block of the loops `private` has its own copy of the array.
    """
    at = times(tree, equations, sizes, apart)
    points: dict = {}
    for q in equations:
        for name, values in q.points(sizes, reduced=True):
            points.setdefault((q.name, name), (q, []))[1].append(values)
        for name, _ in q.points(sizes):
            points.setdefault((q.name, name), (q, []))

    def slot(where: tuple[int, ...]) -> tuple[int, ...]:
        moduli = [None if w is None else w.evaluate(sizes) for w in folded]
        return tuple(x if w is None else x % w for x, w in zip(where, moduli, strict=True))

    held = {id(loop): set(statements_of(loop)) for loop in private}
    for reverse in (False, True):
        memory: dict = {}
        for _, group in groupby(sorted(at, key=at.__getitem__), key=at.__getitem__):
            for instance in sorted(group, reverse=reverse):
                q, inner = points[instance]
                own = dict(zip([n for n, _, _ in q.bounds], instance[1], strict=True))
                block = tuple(loop_value(n, q.name, own) for n in private if q.name in held[id(n)])
                for step in ("read", "write") if share else ("write", "read"):
                    if step == "write" and q.write.array == array:
                        where = element(q.write, {**sizes, **own})
                        memory[block, slot(where)] = where
                    if step == "read":
                        for values in inner:
                            for access in q.reads:
                                where = element(access, values)
                                if access.array != array:
                                    continue
                                if memory.get((block, slot(where))) != where:
                                    return False
    return True


def well_defined(equations: list[Equation]) -> list[Equation]:
    """The program without reads of elements that nothing writes."""
    from dataclasses import replace

    from workbench.polyhedral.dependences.flow import undefined_read

    current = equations
    while (
        w := undefined_read(instances(current), instances(current), extents(current))
    ) is not None:
        current = [
            replace(q, reads=tuple(a for a in q.reads if a.array != w.array))
            if q.name == w.statements[0]
            else q
            for q in current
        ]
    return current


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_windows_keep_every_live_element(data: st.DataObject) -> None:
    equations = well_defined(data.draw(programs()))
    found = dependences(equations)
    try:
        tree = order(instances(equations), found, "bit")
    except NoOrder:
        return
    random_tree = data.draw(trees(equations))
    if violation(random_tree, found) is None:
        tree = random_tree
    share = data.draw(st.booleans())
    statements = by_name(equations)
    if share:
        from dataclasses import replace

        statements = {n: replace(s, may_alias=("x", "y", "z")) for n, s in statements.items()}
    for array, extent in extents(equations).items():
        folded = windows(array, extent, tree, statements)
        for sizes in ({"B": 2, "I": 2, "T": 4}, {"B": 1, "I": 3, "T": 1}, {"B": 2, "I": 1, "T": 2}):
            assert storage_works(tree, equations, array, folded, sizes, share)


def state_read_at(*back: int) -> list[Equation]:
    first = [equation(f"x_{n}", "", "x", [n]) for n in range(max(back))]
    step = equation("step", "t", "x", [t + max(back)], *(("x", [t + max(back) - n]) for n in back))
    return [*first, step]


@pytest.mark.parametrize("back", [(1,), (2,), (1, 3), (4,)])
@pytest.mark.parametrize("share", [False, True])
def test_window_of_a_recurrence_is_the_least(back: tuple[int, ...], share: bool) -> None:
    from dataclasses import replace

    equations = state_read_at(*back)
    statements = by_name(equations)
    if share:
        statements["step"] = replace(statements["step"], may_alias=("x",))
    tree = order(instances(equations), dependences(equations), "t")
    extent = extents(equations)["x"]
    (folded,) = windows("x", extent, tree, statements)
    assert folded == max(back) + (0 if share else 1)
    assert storage_works(tree, equations, "x", (folded,), {"T": 9}, share)
    if folded != 1:
        assert not storage_works(tree, equations, "x", (folded - 1,), {"T": 9}, share)


def test_bounded_replay_is_a_ring_buffer() -> None:
    h = size("H")
    push = equation("push", "t", "x", [t])
    learn = equation(
        "learn", "t", "y", [t], ("x", [k]), reduction=(("k", maximum_zero(t - h + 1), t + 1),)
    )
    tree = Loop("t", Block((Leaf("push"), Leaf("learn"))))
    (folded,) = windows("x", extents([push])["x"], tree, by_name([push, learn]))
    assert folded is not None
    for n, m in [(1, 1), (3, 2), (2, 5), (7, 3)]:
        assert folded.evaluate({"T": n, "H": m}) == min(n, m)
    assert folded == minimum(h, T) or folded == minimum(T, h)


def maximum_zero(x: Expression) -> Expression:
    from workbench.polyhedral.expression import maximum

    return maximum(x, 0)


def test_order_of_dims_is_chosen_by_size() -> None:
    """x[i, t] read in row i + 1: two rows of T, or T + 1 slots of one; the lesser at the sizes."""
    first = equation("first", "t", "x", [0, t])
    row = equation("row", "it", "x", [i + 1, t], ("x", [i, t]))
    tree = order(instances([first, row]), dependences([first, row]), "it")
    extent = extents([first, row])["x"]
    for sizes in ({"I": 3, "T": 3}, {"I": 2, "T": 4}):
        folded = windows("x", extent, tree, by_name([first, row]), sizes=sizes)
        assert storage_works(tree, [first, row], "x", folded, sizes)


def test_outputs_stay_full_and_axes_too() -> None:
    found = dependences(reinforce())
    tree = as_axis(order(instances(reinforce()), found, "bitem"), "b")
    bounds = extents(reinforce())
    state = lifetime("state", bounds["state"], tree, by_name(reinforce()))
    assert state.windows == (None, 1, 2) and state.loops == 1
    out = lifetime("loss", bounds["loss"], tree, by_name(reinforce()), live_out=True)
    assert out.windows == (None,) and out.loops == 0
    kept = lifetime("state", bounds["state"], tree, by_name(reinforce()), keep={2})
    assert kept.windows == (None, 1, None)


def test_loops_count_where_nothing_crosses() -> None:
    found = dependences(reinforce())
    tree = order(instances(reinforce()), found, "bitem")
    bounds = extents(reinforce())
    depth = {a: lifetime(a, bounds[a], tree, by_name(reinforce())).loops for a in bounds}
    assert depth == {"theta": 0, "state": 2, "action": 1, "reward": 2, "G": 1, "loss": 1}
    assert [n.dim for n, _ in paths(tree)["reward"] if isinstance(n, Loop)][:2] == ["i", "b"]


@pytest.mark.parametrize("program", [reinforce, ppo])
@pytest.mark.parametrize("axis", ["", "b"])
def test_learning_programs_run_in_their_windows(program, axis: str) -> None:
    tree = as_axis(order(instances(program()), dependences(program()), "bitem"), axis)
    for array, extent in extents(program()).items():
        folded = windows(array, extent, tree, by_name(program()))
        for sizes in ({"B": 2, "I": 2, "T": 3, "E": 2, "M": 2}, dict.fromkeys("BITEM", 1)):
            assert storage_works(tree, program(), array, folded, sizes)


def test_parameters_need_two_slots_or_one_in_place() -> None:
    from dataclasses import replace

    tree = order(instances(ppo()), dependences(ppo()), "bitem")
    statements, extent = by_name(ppo()), extents(ppo())["theta"]
    folded = windows("theta", extent, tree, statements)
    assert [w.evaluate({"E": 3, "M": 3}) for w in folded if w is not None] == [2, 2, 2]
    statements["update"] = replace(statements["update"], may_alias=("theta",))
    assert windows("theta", extent, tree, statements) == (expression(1),) * 3
    assert all_sizes("T", 1) and I != T
