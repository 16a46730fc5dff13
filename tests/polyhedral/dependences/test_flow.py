from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.polyhedral.examples import (
    B,
    Equation,
    I,
    T,
    all_sizes,
    b,
    element,
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
)
from workbench.polyhedral.accesses import Access
from workbench.polyhedral.dependences.cycles import _points
from workbench.polyhedral.dependences.flow import flow, outside, overlap, undefined_read
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.expression import expression
from workbench.polyhedral.sets.counting import at_sizes
from workbench.polyhedral.tree import Leaf, Loop


def enumerated(equations: list[Equation], sizes: dict[str, int]) -> set:
    found = flow(instances(equations), extents(equations))
    pairs = set()
    for d in found.all:
        rank = len(found.statements[d.source].dims)
        for p in _points(at_sizes(found.relation(d).wrap().flatten(), sizes)):
            pairs.add(((d.source, p[:rank]), (d.sink, p[rank:]), d.array, d.access))
    return pairs


def undefined(equations: list[Equation]) -> Witness | None:
    return undefined_read(instances(equations), instances(equations), extents(equations))


@settings(max_examples=60, deadline=None)
@given(programs())
def test_dependences_are_those_of_enumeration(equations: list[Equation]) -> None:
    for sizes in ({"B": 2, "I": 2, "T": 3}, {"B": 1, "I": 3, "T": 1}):
        assert enumerated(equations, sizes) == flow_pairs(equations, sizes)


@pytest.mark.parametrize("program", [reinforce, ppo])
def test_dependences_of_learning_programs(program) -> None:
    sizes = {"B": 2, "I": 2, "T": 3, "E": 2, "M": 2}
    assert enumerated(program(), sizes) == flow_pairs(program(), sizes)
    assert undefined(program()) is None
    assert overlap(instances(program()), extents(program())) is None
    assert outside(instances(program()), extents(program())) is None


def test_text_has_the_users_names() -> None:
    found = flow(instances(reinforce()), extents(reinforce()))
    (carried,) = [d for d in found.all if d.source == "step" and d.sink == "act"]
    assert found.text(carried) == (
        "[B, I, T] -> { [b, i, t] -> [b' = b, i' = i, t' = 1 + t] : "
        "0 <= b < B and 0 <= i < I and 0 <= t <= -2 + T }"
    )


def test_gather_depends_on_every_element() -> None:
    write = equation("w", "t", "x", [t])
    read = equation("r", "i", "y", [i], ("x", [t]))
    gather = replace(read.instances, reads=(Access("x", (None,)),))
    found = flow([write.instances, gather], extents([write]))
    (d,) = found.all
    assert at_sizes(found.relation(d).wrap(), {"I": 2, "T": 3}).count_val().to_python() == 6


def test_undefined_read_shows_the_smallest() -> None:
    first = equation("first", "b", "x", [b, 0])
    step = equation("step", "bt", "x", [b, t + 1], ("x", [b, t - 1]))
    witness = undefined([first, step])
    assert witness is not None
    assert witness.statements == ("step",) and witness.array == "x"
    assert witness.instances == ({"b": 0, "t": 0},) and witness.element == (0, -1)
    assert witness.sizes == {"B": 1, "T": 1}


def test_undefined_read_of_a_reduction_names_the_point() -> None:
    x = equation("x", "t", "x", [t])
    window = equation("y", "t", "y", [t], ("x", [k]), reduction=(("k", t, t + 3),))
    witness = undefined([x, window])
    assert witness is not None
    assert witness.instances == ({"t": 0, "k": 1},) and witness.sizes == {"T": 1}
    assert outside(instances([x, window]), extents([x, window])) == witness


def test_outside_but_not_undefined_is_told_apart() -> None:
    x = equation("x", "t", "x", [2 * t])
    y = equation("y", "t", "y", [t], ("x", [t]))
    assert outside(instances([x, y]), extents([x, y])) is None
    witness = undefined([x, y])
    assert witness is not None and witness.element == (1,) and witness.sizes == {"T": 2}


def test_overlap_of_two_pieces() -> None:
    first = equation("first", "b", "x", [b, 1])
    rest = equation("rest", "bt", "x", [b, t])
    witness = overlap(instances([first, rest]), extents([first, rest]))
    assert witness is not None
    assert witness.statements == ("first", "rest")
    assert witness.instances == ({"b": 0}, {"b": 0, "t": 1})
    assert witness.element == (0, 1) and witness.sizes == {"B": 1, "T": 2}


def test_overlap_of_one_statement_with_itself() -> None:
    fold = equation("fold", "t", "x", [t // 2])
    witness = overlap(instances([fold]), extents([fold]))
    assert witness is not None
    assert witness.instances == ({"t": 0}, {"t": 1}) and witness.element == (0,)
    assert witness.sizes == {"T": 2}


@settings(max_examples=40, deadline=None)
@given(programs())
def test_undefined_read_agrees_with_enumeration(equations: list[Equation]) -> None:
    witness = undefined(equations)
    for sizes in all_sizes("BIT", 3):
        missing = _missing(equations, sizes)
        if witness is None:
            assert not missing
    if witness is not None:
        sizes = {"B": 1, "I": 1, "T": 1, **witness.sizes}
        values = tuple(witness.instances[0].values())
        assert (witness.statements[0], values, witness.array, witness.element) in _missing(
            equations, sizes
        )


def _missing(equations: list[Equation], sizes: dict[str, int]) -> set:
    written = {
        (q.write.array, element(q.write, values))
        for q in equations
        for _, values in q.points(sizes)
    }
    return {
        (
            q.name,
            tuple(values[n] for n, _, _ in q.bounds + q.reduction),
            a.array,
            element(a, values),
        )
        for q in equations
        for _, values in q.points(sizes, reduced=True)
        for a in q.reads
        if (a.array, element(a, values)) not in written
    }


def test_within_drops_what_a_loop_carries() -> None:
    found = flow(instances(reinforce()), extents(reinforce())).among(["act", "step"])
    assert len(found.all) == 3
    inside = found.within(Loop("t", Leaf("")))
    assert [(d.source, d.sink) for d in inside.all] == [("act", "step")]
    shifted = found.within(Loop("t", Leaf(""), offsets=(("act", -1),)))
    assert [(d.source, d.sink) for d in shifted.all] == [("step", "act")]


def test_an_unknown_size_is_not_needed() -> None:
    only = equation("x", "", "x", [expression(0)])
    found = flow(instances([only]), extents([only]))
    assert found.all == () and B != I != T
