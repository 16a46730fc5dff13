from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.examples import (
    BlockOrder,
    Equation,
    T,
    all_sizes,
    b,
    element,
    equation,
    extents,
    flow_pairs,
    instances,
    k,
    programs,
    reinforce,
    t,
    times,
)
from workbench.polyhedral.dependences.flow import flow
from workbench.polyhedral.dependences.legality import Violation, violation, violations
from workbench.polyhedral.ordering.as_written import order
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree

WAYS: tuple[BlockOrder, ...] = ("forwards", "backwards")
"""Pairs in two blocks are in the wrong order in one of these."""


def dependences(equations: list[Equation]):
    return flow(instances(equations), extents(equations))


def as_axis(tree: Tree, dim: str) -> Tree:
    """The tree with every loop over `dim` an axis."""
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Block):
        return Block(tuple(as_axis(child, dim) for child in tree.children))
    kind = "axis" if tree.dim == dim else tree.kind
    return replace(tree, child=as_axis(tree.child, dim), kind=kind)


@st.composite
def trees(draw: st.DrawFn, equations: list[Equation]) -> Tree:
    """Any tree over the statements, legal or not: loops, axes, loops over blocks, some apart."""

    def grow(names: list[str], left: dict[str, list[str]], tiles: dict[str, int]) -> Tree:
        shared = sorted(set.intersection(*(set(left[n]) for n in names)))
        if len(names) > 1 and (not shared or draw(st.booleans())):
            cut = draw(st.integers(1, len(names) - 1))
            return Block((grow(names[:cut], left, tiles), grow(names[cut:], left, tiles)))
        if not shared:
            return Leaf(names[0])
        dim = draw(st.sampled_from(shared))
        rest = {n: [d for d in left[n] if d != dim] for n in left}
        kind = draw(st.sampled_from(["loop", "loop", "axis", "blocks"]))
        if kind == "axis":
            return Loop(dim, grow(names, rest, tiles), "axis")
        shifts = tuple((n, draw(st.integers(-1, 1))) for n in names)
        if kind == "blocks" and tiles.get(dim, 4) > 2:
            size = draw(st.integers(2, tiles.get(dim, 4) - 1))
            child = grow(names, left, {**tiles, dim: size})
            apart = draw(st.booleans())
            return Loop(dim, child, "loop", not apart and draw(st.booleans()), shifts, size, apart)
        return Loop(dim, grow(names, rest, tiles), "loop", draw(st.booleans()), shifts)

    names = draw(st.permutations([q.name for q in equations]))
    return grow(names, {q.name: [d for d, _, _ in q.bounds] for q in equations}, {})


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_verdict_and_witness_agree_with_enumeration(data: st.DataObject) -> None:
    equations = data.draw(programs())
    tree = data.draw(trees(equations))
    found = violations(tree, dependences(equations))
    broken = {(v.dependence.source, v.dependence.sink, v.dependence.access) for v in found}
    seen = set()
    for sizes in [*all_sizes("BIT", 2), {"B": 1, "I": 2, "T": 4}]:
        for way in WAYS:
            at = times(tree, equations, sizes, way)
            for p, q, _, number in flow_pairs(equations, sizes):
                if at[p] >= at[q]:
                    seen.add((p[0], q[0], number))
    assert seen <= broken
    for v in found:
        check_witness(v, tree, equations)
    assert (violation(tree, dependences(equations)) is None) == (not found)


def check_witness(v: Violation, tree: Tree, equations: list[Equation]) -> None:
    sizes = {"B": 1, "I": 1, "T": 1, **v.witness.sizes}
    p, q = (
        (name, tuple(values.values()))
        for name, values in zip(v.witness.statements, v.witness.instances, strict=True)
    )
    assert (p, q, v.dependence.array, v.dependence.access) in flow_pairs(equations, sizes)
    ways = [times(tree, equations, sizes, way) for way in WAYS]
    assert any(at[p] >= at[q] for at in ways)
    (source,) = (s for s in equations if s.name == v.dependence.source)
    assert v.witness.element == element(source.write, {**sizes, **v.witness.instances[0]})


def test_recurrence_as_an_axis_needs_its_own_result() -> None:
    found = dependences(reinforce())
    tree = as_axis(order(instances(reinforce()), found, "bitem"), "t")
    v = violation(tree, found)
    assert v is not None and v.place == "sequence"
    assert v.witness.statements == ("step", "act")
    assert v.witness.instances == ({"b": 0, "i": 0, "t": 0}, {"b": 0, "i": 0, "t": 1})
    assert v.witness.sizes == {"B": 1, "I": 1, "T": 2}
    assert [w.place for w in violations(tree, found)] == ["sequence", "leaf"]


def test_lanes_around_a_time_loop_are_legal() -> None:
    found = dependences(reinforce())
    tree = as_axis(order(instances(reinforce()), found, "bitem"), "b")
    assert violation(tree, found) is None


def test_return_to_go_fused_forwards_shows_the_reader_first() -> None:
    reward = equation("reward", "t", "r", [t])
    to_go = equation("to_go", "t", "G", [t], ("r", [k]), reduction=(("k", t, T),))
    fused = Loop("t", Block((Leaf("reward"), Leaf("to_go"))))
    v = violation(fused, dependences([reward, to_go]))
    assert v is not None and v.place == "loop" and v.dim == "t"
    assert v.witness.instances == ({"t": 1}, {"t": 0}) and v.witness.sizes == {"T": 2}
    assert v.description == "the loop over t runs forwards"
    backwards = replace(fused, backwards=True)
    assert violation(backwards, dependences([reward, to_go])) is None


def test_blocks_in_any_order_have_nothing_to_do_with_each_other() -> None:
    first = equation("first", "b", "x", [b, 0])
    step = equation("step", "bt", "x", [b, t + 1], ("x", [b, t]), ("x", [0, t]))
    loop = Loop("b", Loop("b", Block((Leaf("first"), Loop("t", Leaf("step"))))), tile=2)
    tree = replace(loop, apart=True)
    assert violation(loop, dependences([first, step])) is None
    v = violation(tree, dependences([first, step]))
    assert v is not None and v.place == "loop" and v.dim == "b"
    assert v.description == "the loop over blocks of 2 values of b runs in any order"
    assert v.witness.instances == ({"b": 0}, {"b": 2, "t": 0})
    assert v.witness.sizes == {"B": 3, "T": 1}
    alone = replace(step, reads=step.reads[:1])
    assert violation(tree, dependences([first, alone])) is None


def test_shifted_statements_in_blocks_in_any_order_are_compared_as_they_run() -> None:
    behind = [equation("x", "t", "x", [t]), equation("y", "t", "y", [t], ("x", [t - 1]))]
    tree = Loop("t", Loop("t", Block((Leaf("x"), Leaf("y")))), tile=2, apart=True)
    v = violation(tree, dependences(behind))
    assert v is not None and v.witness.instances == ({"t": 1}, {"t": 2})
    same = replace(tree, child=replace(tree.child, offsets=(("x", 1),)), offsets=(("x", 1),))
    assert violation(same, dependences(behind)) is None
