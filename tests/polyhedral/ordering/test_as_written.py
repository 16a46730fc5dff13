import pytest
from hypothesis import given, settings

from tests.polyhedral.examples import (
    Equation,
    I,
    T,
    all_sizes,
    b,
    equation,
    extents,
    flow_pairs,
    i,
    instances,
    k,
    ppo,
    programs,
    reinforce,
    t,
    times,
)
from workbench.polyhedral.dependences.flow import flow
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.ordering.as_written import (
    NoOrder,
    components,
    find_cycle,
    order,
    order_below,
)
from workbench.polyhedral.tree import Block, Leaf, Loop, paths, statements, text


def ordered(equations: list[Equation]):
    return order(instances(equations), flow(instances(equations), extents(equations)), "bitem")


def runs_forward(tree, equations: list[Equation], sizes: dict[str, int]) -> bool:
    at = times(tree, equations, sizes)
    return all(at[p] < at[q] for p, q, _, _ in flow_pairs(equations, sizes))


def test_reinforce_reads_as_one_would_write_it() -> None:
    assert text(ordered(reinforce())) == (
        "theta_0\n"
        "for i:\n"
        "    for b:\n"
        "        state_0\n"
        "        for t:\n"
        "            act\n"
        "            step\n"
        "            reward\n"
        "        for t:\n"
        "            to_go\n"
        "    loss\n"
        "    update\n"
    )


def test_ppo_reads_as_one_would_write_it() -> None:
    """The reversal is found, what each update starts from stands inside the loop over updates."""
    assert text(ordered(ppo())) == (
        "theta_0\n"
        "for b:\n"
        "    state_0\n"
        "for i:\n"
        "    for b:\n"
        "        gae_T\n"
        "        for t:\n"
        "            act\n"
        "            step\n"
        "            value\n"
        "        state_i\n"
        "        value_T\n"
        "        for t reversed:\n"
        "            gae\n"
        "    for e:\n"
        "        shuffle\n"
        "        for m:\n"
        "            batch\n"
        "            update\n"
    )


@pytest.mark.parametrize("program", [reinforce, ppo])
def test_learning_programs_run_forward(program) -> None:
    for sizes in ({"B": 2, "I": 2, "T": 3, "E": 2, "M": 2}, dict.fromkeys("BITEM", 1)):
        assert runs_forward(ordered(program()), program(), sizes)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_order_runs_every_dependence_forward(equations: list[Equation]) -> None:
    try:
        tree = ordered(equations)
    except NoOrder:
        return
    assert sorted(statements(tree)) == sorted(q.name for q in equations)
    for q in equations:
        loops = [n.dim for n, _ in paths(tree)[q.name] if isinstance(n, Loop)]
        assert sorted(loops) == sorted(d for d, _, _ in q.bounds)
    for sizes in ({"B": 2, "I": 3, "T": 3}, {"B": 1, "I": 1, "T": 4}):
        assert runs_forward(tree, equations, sizes)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_cycle_is_one_and_no_order_means_none_was_missed(equations: list[Equation]) -> None:
    found = flow(instances(equations), extents(equations))
    cycle = find_cycle(instances(equations), found)
    if cycle is not None:
        with pytest.raises(NoOrder):
            ordered(equations)
        sizes = {"B": 1, "I": 1, "T": 1, **cycle.sizes}
        edges = {(q, p) for p, q, _, _ in flow_pairs(equations, sizes)}
        nodes = [(name, tuple(at.values())) for name, at in cycle.instances]
        assert all(edge in edges for edge in zip(nodes, [*nodes[1:], nodes[0]], strict=True))


def test_cycle_without_delay_is_the_shortest_at_the_smallest_sizes() -> None:
    x = equation("x", "t", "x", [t], ("y", [T - 1 - t]))
    y = equation("y", "t", "y", [t], ("x", [t]))
    with pytest.raises(NoOrder) as refused:
        ordered([x, y])
    assert refused.value.component == ("x", "y")
    cycle = find_cycle(instances([x, y]), flow(instances([x, y]), extents([x, y])))
    assert cycle is not None
    assert cycle.sizes == {"T": 1}
    assert cycle.instances == (("x", {"t": 0}), ("y", {"t": 0}))


def test_no_order_without_a_cycle() -> None:
    """Each even element needs the odd one behind it, each odd one the even one before: no cycle."""
    even = equation("even", "t", "x", [2 * t], ("x", [2 * t + 3]))
    odd = equation("odd", "t", "x", [2 * t + 1], ("x", [2 * t - 2]))
    found = flow(instances([even, odd]), extents([even, odd]))
    try:
        tree = order(instances([even, odd]), found, "t")
    except NoOrder:
        assert find_cycle(instances([even, odd]), found) is not None
    else:
        assert runs_forward(tree, [even, odd], {"T": 4})


def test_shift_is_found_by_shortest_paths() -> None:
    x = equation("x", "t", "x", [t], ("y", [t - 2]))
    y = equation("y", "t", "y", [t], ("x", [t + 1]))
    tree = ordered([x, y])
    assert isinstance(tree, Loop) and tree.offsets == (("y", 1),)
    for sizes in all_sizes("T", 5):
        assert runs_forward(tree, [x, y], sizes)


def test_shift_of_a_backward_loop() -> None:
    x = equation("x", "t", "x", [t], ("y", [t + 2]))
    y = equation("y", "t", "y", [t], ("x", [t - 1]))
    tree = ordered([x, y])
    assert isinstance(tree, Loop) and tree.offsets and tree.backwards
    for sizes in all_sizes("T", 5):
        assert runs_forward(tree, [x, y], sizes)


def test_components_are_in_textual_order() -> None:
    found = flow(instances(reinforce()), extents(reinforce()))
    names = [q.name for q in reinforce()]
    assert components(names, found.all) == [
        ("theta_0",),
        ("state_0",),
        ("act", "step", "reward", "to_go", "loss", "update"),
    ]


def test_region_below_a_loop() -> None:
    equations = [q for q in reinforce() if q.name in ("act", "step")]
    found = flow(instances(equations), extents(equations))
    dims = {"act": ("b", "t"), "step": ("b", "t")}
    tree = order_below(instances(equations), found.within(Loop("i", Leaf(""))), dims, "bt")
    assert tree == Loop("b", Loop("t", Block((Leaf("act"), Leaf("step")))))


def test_blocks_stand_around_the_loops_within_them() -> None:
    equations = [q for q in reinforce() if q.name in ("act", "step", "reward")]
    found = flow(instances(equations), extents(equations))
    dims = {
        "act": ("i", "b", "t_block4", "t"),
        "step": ("t", "t_block4", "b", "i"),
        "reward": ("i", "b", "t"),
    }
    tree = order_below(instances(equations), found, dims, "ibt", {"t_block4": ("t", 4)})
    together = Loop("t", Loop("t", Block((Leaf("act"), Leaf("step")))), tile=4)
    assert tree == Loop("i", Loop("b", Block((together, Loop("t", Leaf("reward"))))))
    assert violation(tree, found) is None


def test_shifts_that_order_instances_order_their_blocks() -> None:
    x = equation("x", "t", "x", [t], ("y", [t + 1]), bounds={"t": (0, T - 1)})
    y = equation("y", "t", "y", [t], ("x", [t - 3]), bounds={"t": (3, T)})
    found = flow(instances([x, y]), extents([x, y]))
    dims = dict.fromkeys(("x", "y"), ("t_block4", "t"))
    tree = order_below(instances([x, y]), found, dims, (), {"t_block4": ("t", 4)})
    assert isinstance(tree, Loop) and tree.tile == 4 and tree.offsets
    assert violation(tree, found) is None


def test_blocks_without_an_order_name_what_waits_for_itself() -> None:
    """One statement in blocks and one not, each waiting for the other: no loop holds both."""
    x = equation("x", "t", "x", [t], ("y", [t - 1]), bounds={"t": (1, T)})
    y = equation("y", "t", "y", [t], ("x", [t]), bounds={"t": (1, T)})
    found = flow(instances([x, y]), extents([x, y]))
    with pytest.raises(NoOrder) as caught:
        dims = {"x": ("t_block4", "t"), "y": ("t",)}
        order_below(instances([x, y]), found, dims, (), {"t_block4": ("t", 4)})
    assert set(caught.value.component) == {"x", "y"}


def test_unbounded_distance_is_no_order() -> None:
    x = equation("x", "t", "x", [t], ("x", [k]), reduction=(("k", 0, T),))
    with pytest.raises(NoOrder):
        ordered([x])
    assert b != i and I != T
