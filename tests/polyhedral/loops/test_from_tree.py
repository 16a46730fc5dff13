from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.dependences.test_legality import as_axis, dependences, trees
from tests.polyhedral.examples import (
    Equation,
    I,
    T,
    equation,
    extents,
    instances,
    loop_value,
    ppo,
    programs,
    reinforce,
    t,
    times,
)
from workbench.polyhedral.accesses import Access
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.expression import expression, minimum, variable
from workbench.polyhedral.loops.from_tree import _loops as generated
from workbench.polyhedral.loops.from_tree import loops
from workbench.polyhedral.loops.nodes import Guard, Instance, LoopNode, Node
from workbench.polyhedral.ordering.as_written import order
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, axis_dims, paths


def executed(nodes: tuple[Node, ...], values: Mapping[str, int]) -> Iterator[tuple[str, dict]]:
    for node in nodes:
        if isinstance(node, Instance):
            yield node.statement, {d: x.evaluate(values) for d, x in node.values}
        elif isinstance(node, Guard):
            if node.condition.holds(lambda e: e.evaluate(values)):
                yield from executed(node.body, values)
        else:
            span = range(node.lower.evaluate(values), node.upper.evaluate(values))
            for v in reversed(span) if node.backwards else span:
                yield from executed(node.body, {**values, node.variable: v})


def expected(tree: Tree, equations: list[Equation], sizes: dict[str, int]) -> list[tuple]:
    """Instances without their axis dims (but with the blocks of those), in the order of the tree's
    times.
    """
    axes, at, around = axis_dims(tree), times(tree, equations, sizes), paths(tree)
    dims = {q.name: [n for n, _, _ in q.bounds] for q in equations}
    found = {}
    for (name, values), when in at.items():
        instance = dict(zip(dims[name], values, strict=True))
        pairs = [(d, v) for d, v in instance.items() if d not in axes[name]]
        for node, _ in around[name]:
            if isinstance(node, Loop) and node.tile is not None and node.dim in axes[name]:
                pairs.append((f"@{node.name}", loop_value(node, name, instance)))
        found[name, tuple(pairs)] = when
    return sorted(found, key=found.__getitem__)


def check(tree: Tree, equations: list[Equation], sizes: dict[str, int]) -> None:
    nodes = loops(tree, {q.name: q.instances for q in equations})
    ran = [(name, tuple(values.items())) for name, values in executed(nodes, sizes)]
    assert ran == expected(tree, equations, sizes)


def names(nodes: tuple[Node, ...]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Instance):
            yield node.statement
        else:
            yield from names(node.body)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_loops_execute_the_domains_in_the_trees_order(data: st.DataObject) -> None:
    equations = data.draw(programs())
    tree = data.draw(trees(equations))
    for sizes in ({"B": 2, "I": 2, "T": 3}, {"B": 1, "I": 1, "T": 1}, {"B": 1, "I": 3, "T": 2}):
        check(tree, equations, sizes)


@pytest.mark.parametrize("program", [reinforce, ppo])
@pytest.mark.parametrize("axis", ["", "b", "t"])
def test_learning_programs(program, axis: str) -> None:
    tree = as_axis(order(instances(program()), dependences(program()), "bitem"), axis)
    check(tree, program(), {"B": 2, "I": 2, "T": 3, "E": 2, "M": 2})
    nodes = loops(tree, {q.name: q.instances for q in program()})
    assert set(names(nodes)) == {q.name for q in program()}


def test_backward_loop_has_a_positive_variable() -> None:
    gae = [q for q in ppo() if q.name == "gae"]
    (node,) = loops(
        Loop("b", Loop("i", Loop("t", Leaf("gae"), backwards=True))),
        {q.name: q.instances for q in gae},
    )
    inner = node.body[0].body[0]
    assert isinstance(inner, LoopNode)
    assert (inner.variable, inner.lower, inner.upper, inner.backwards) == ("t", 0, T, True)
    (leaf,) = inner.body
    assert isinstance(leaf, Instance) and dict(leaf.values)["t"] == t


def test_shift_is_substituted() -> None:
    x = equation("x", "t", "x", [t])
    y = equation("y", "t", "y", [t], ("x", [t]))
    tree = Loop("t", Block((Leaf("x"), Leaf("y"))), offsets=(("y", 2),))
    for n in (1, 2, 5):
        check(tree, [x, y], {"T": n})


def test_one_iteration_vanishes_and_last_is_peeled() -> None:
    first = equation("first", "i", "x", [0, i_dim()], bounds={"i": (0, 1)})
    nodes = loops(Loop("i", Leaf("first")), {"first": first.instances})
    assert nodes == (Instance("first", (("i", expression(0)),)),)
    long = equation("long", "t", "x", [t], bounds={"t": (0, T + 1)})
    short = equation("short", "t", "y", [t])
    check(Loop("t", Block((Leaf("long"), Leaf("short")))), [long, short], {"T": 3})


def test_parts_of_a_loop_are_generated_alone_where_all_have_the_same_loop() -> None:
    full = [equation(name, "it", name, [i_dim(), t]) for name in ("x", "y")]
    longer = equation("long", "it", "z", [i_dim(), t], bounds={"i": (0, I + 1)})
    for equations in (full, [*full, longer], [longer, *full]):
        inner = [Loop("t", Leaf(q.name)) for q in equations]
        for tree in (
            Loop("i", Block(tuple(inner))),
            Loop("i", Block(tuple(inner)), backwards=True),
            Loop("i", Block((inner[0], Loop("t", Leaf(equations[1].name), "axis"), *inner[2:]))),
        ):
            for sizes in ({"I": 1, "T": 2}, {"I": 3, "T": 2}):
                check(tree, list(equations), sizes)


def test_without_statements_there_are_no_loops() -> None:
    assert loops(Block(()), {}) == ()


def test_what_a_step_leaves_as_it_is_is_not_generated_again() -> None:
    equations = [equation(name, "it", name, [i_dim(), t]) for name in ("p", "q", "r")]
    found = {q.name: q.instances for q in equations}
    parts: list[Tree] = [Loop("t", Leaf(q.name)) for q in equations]
    loops(Loop("i", Block(tuple(parts))), found)
    before = generated.cache_info()
    parts[1] = Loop("t", Leaf("q"), backwards=True)
    (node,) = loops(Loop("i", Block(tuple(parts))), found)
    after = generated.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)
    assert isinstance(node, LoopNode)
    assert [part.backwards for part in node.body if isinstance(part, LoopNode)] == [
        False,
        True,
        False,
    ]


def shown(nodes: tuple[Node, ...], indent: str = "") -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Instance):
            values = ", ".join(f"{d}={x}" for d, x in node.values)
            yield f"{indent}{node.statement} at {values}"
        elif isinstance(node, Guard):
            yield f"{indent}if {node.condition.text}:"
            yield from shown(node.body, indent + "  ")
        else:
            way = " reversed" if node.backwards else ""
            yield f"{indent}for {node.variable} in {node.lower}:{node.upper}{way}:"
            yield from shown(node.body, indent + "  ")


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (
            Loop("t", Loop("i", Loop("t", Leaf("x"))), tile=4),
            "for t_block4 in 0:(T + 3) // 4:\n"
            "  for i in 0:I:\n"
            "    for t in 4 * t_block4:min(T, 4 * t_block4 + 4):\n"
            "      x at i=i, t=t",
        ),
        (
            Loop("t", Loop("i", Loop("t", Leaf("x"), backwards=True)), backwards=True, tile=4),
            "for t_block4 in 0:(T + 3) // 4 reversed:\n"
            "  for i in 0:I:\n"
            "    for t in 4 * t_block4:min(T, 4 * t_block4 + 4) reversed:\n"
            "      x at i=i, t=t",
        ),
        (
            Loop("t", Loop("t", Loop("i", Loop("t", Leaf("x"))), tile=8), tile=64),
            "for t_block64 in 0:(T + 63) // 64:\n"
            "  for t_block8 in 8 * t_block64:min(8 * t_block64 + 8, (T + 7) // 8):\n"
            "    for i in 0:I:\n"
            "      for t in 8 * t_block8:min(T, 8 * t_block8 + 8):\n"
            "        x at i=i, t=t",
        ),
        (
            Loop("t", Loop("i", Loop("t", Leaf("x"), "axis")), tile=4),
            "for t_block4 in 0:(T + 3) // 4:\n  for i in 0:I:\n    x at i=i, @t_block4=t_block4",
        ),
    ],
)
def test_blocks_read_as_one_would_write_them(tree: Tree, text: str) -> None:
    x = equation("x", "it", "x", [i_dim(), t])
    assert "\n".join(shown(loops(tree, {"x": x.instances}))) == text
    for n in (1, 4, 11):
        check(tree, [x], {"I": 2, "T": n})


def test_statement_over_blocks_stands_beside_what_runs_within_them() -> None:
    n = variable("t_block4")
    x = equation("x", "t", "x", [t])
    partial = Equation(
        "partial",
        (("t_block4", expression(0), (T + 3) // 4),),
        Access("p", (n,)),
        (Access("x", (variable("k"),)),),
        (("k", n * 4, minimum(T, n * 4 + 4)),),
    )
    tree = Loop("t", Block((Loop("t", Leaf("x")), Leaf("partial"))), tile=4)
    assert violation(tree, dependences([x, partial])) is None
    for size in (1, 4, 6, 9):
        check(tree, [x, partial], {"T": size})
    early = Loop("t", Block((Leaf("partial"), Loop("t", Leaf("x")))), tile=4)
    found = violation(early, dependences([x, partial]))
    assert found is not None and found.place == "sequence"
    assert found.witness.instances == ({"t": 0}, {"t_block4": 0})


def i_dim():
    from tests.polyhedral.examples import i

    return i


def test_nested_dims_of_one_name_get_numbers() -> None:
    """Two statements in one loop, the same dim in an inner place of another branch: no clash."""
    x = equation("x", "it", "x", [i_dim(), t])
    tree = Loop("t", Loop("i", Leaf("x")))
    (node,) = loops(tree, {"x": x.instances})
    assert isinstance(node, LoopNode) and node.variable == "t"
    (inner,) = node.body
    assert isinstance(inner, LoopNode) and (inner.variable, inner.upper) == ("i", I)
    assert extents([x])["x"][1] == (0, T)


def test_strided_domain() -> None:
    from dataclasses import replace

    from workbench.polyhedral.sets.relations import domain_with

    x = equation("x", "t", "x", [t])
    even = replace(x.instances, domain=domain_with(x.instances.domain, [(t % 2, expression(0))]))
    nodes = loops(Loop("t", Leaf("x")), {"x": even})
    assert [v["t"] for _, v in executed(nodes, {"T": 5})] == [0, 2, 4]
    nodes = loops(Loop("t", Leaf("x"), backwards=True), {"x": even})
    assert [v["t"] for _, v in executed(nodes, {"T": 5})] == [4, 2, 0]
