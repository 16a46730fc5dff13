"""isl's proposals as trees: legal by enumeration-tested legality, and what cannot be said."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.polyhedral.examples import (
    Equation,
    T,
    equation,
    extents,
    i,
    instances,
    k,
    ppo,
    programs,
    reinforce,
    t,
)
from workbench.polyhedral.dependences.flow import Dependence, Dependences, flow
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.ordering.as_written import NoOrder, order
from workbench.polyhedral.ordering.groups import GroupRegion, groups
from workbench.polyhedral.ordering.isl_proposal import Inexpressible
from workbench.polyhedral.ordering.isl_solver import Fusion, NotFound, proposed
from workbench.polyhedral.sets.as_text import parse_set
from workbench.polyhedral.tree import Tree, statements, text


def proposal(equations: Sequence[Equation], fusion: Fusion = "most") -> Tree:
    found = flow(instances(equations), extents(equations))
    return proposed(
        instances(equations), found, {q.name: q.instances.dims for q in equations}, fusion
    )


@settings(max_examples=80)
@given(programs(), st.sampled_from(["most", "least"]))
def test_proposal_is_legal_and_whole(equations: list[Equation], fusion: Fusion) -> None:
    found = flow(instances(equations), extents(equations))
    try:
        tree = proposal(equations, fusion)
    except (Inexpressible, NotFound):
        return
    assert sorted(statements(tree)) == sorted(q.name for q in equations)
    if any(d.source == d.sink and _needs_itself(d, found) for d in found.all):
        return  # isl accepts x[t] -> x[t]; `violation` does not
    assert violation(tree, found) is None


def _needs_itself(d: Dependence, found: Dependences) -> bool:
    pairs = found.relation(d)
    return not pairs.is_disjoint(isl.Map.identity(pairs.get_space()))


def test_consumer_far_ahead_is_shifted() -> None:
    state = equation("state", "t", "s", [t + 1], ("s", [t]))
    target = equation(
        "target", "t", "g", [t], ("s", [k]), reduction=(("k", t, t + 4),),
        bounds={"t": (0, T - 4)},
    )  # fmt: skip
    first = equation("first", "", "s", [0])
    tree = proposal([first, state, target])
    assert text(tree) == "first\nfor t:    # shifted: target +2\n    state\n    target\n"


def test_shifts_that_are_whole_loops_apart_become_two_loops() -> None:
    up = equation("up", "t", "u", [t], ("u", [t - 1]), bounds={"t": (1, T)})
    first = equation("first", "", "u", [0])
    down = equation("down", "t", "d", [t], ("d", [t + 1]), ("u", [T - 1]))
    last = equation("last", "", "d", [T])
    equations = [first, up, last, down]
    tree = proposal(equations)
    assert violation(tree, flow(instances(equations), extents(equations))) is None
    assert "for t reversed:\n" in text(tree) and "for t:\n" in text(tree)


def test_value_added_to_make_loops_exchangeable_is_taken_off_again() -> None:
    grid = equation(
        "grid", "it", "x", [i + 1, t], ("x", [i, t - 1]), ("x", [i, t + 1]),
        bounds={"t": (1, T - 1)},
    )  # fmt: skip
    assert text(proposal([grid])) == "for i:\n    for t:\n        grid\n"


def test_loop_over_a_sum_of_dimensions_is_said_in_words() -> None:
    grid = equation("grid", "it", "x", [i, t], ("x", [i - 2, t + 1]), ("x", [i + 1, t - 2]))
    said = r"isl proposes a loop in which grid stands at \{ grid\["
    with pytest.raises(Inexpressible, match=said):
        proposal([grid])


def test_statement_in_the_middle_of_a_loop_is_named() -> None:
    state = equation("state", "t", "s", [t + 1], ("s", [t]))
    first = equation("first", "", "s", [0])
    end = equation("end", "", "v", [T], ("s", [T]))
    value = equation("value", "t", "v", [t], ("s", [t]))
    near = (("k", t, t + 4),)
    target = equation("target", "t", "g", [t], ("v", [k]), reduction=near, bounds={"t": (0, T - 2)})
    with pytest.raises(Inexpressible) as caught:
        proposal([first, state, value, end, target])
    assert caught.value.outside == ("end",) and caught.value.dim == "t"


def test_cycle_has_no_order() -> None:
    x, y = equation("x", "t", "x", [t], ("y", [t])), equation("y", "t", "y", [t], ("x", [t]))
    with pytest.raises(NotFound):
        proposal([x, y])


# -- groups ----------------------------------------------------------------------------------------


def grouped(equations: list[Equation]) -> list[tuple[str, ...]]:
    found = flow(instances(equations), extents(equations))
    region = GroupRegion(
        {q.name: parse_set(q.instances.domain) for q in equations},
        found,
        {q.name: q.instances.dims for q in equations},
    )
    return groups(order(instances(equations), found, "bitem"), region)


def test_neighbours_with_one_domain_are_one_group() -> None:
    assert grouped(reinforce()) == [
        ("theta_0",),
        ("state_0",),
        ("act", "step"),
        ("reward",),
        ("to_go",),
        ("loss", "update"),
    ]


def test_every_statement_is_in_one_group() -> None:
    found = grouped(ppo())
    assert sorted(n for g in found for n in g) == sorted(q.name for q in ppo())
    assert len(found) < len(ppo())


@settings(max_examples=60)
@given(programs())
def test_groups_leave_an_order(equations: list[Equation]) -> None:
    try:
        found = grouped(equations)
    except NoOrder:
        return
    assert sorted(n for g in found for n in g) == sorted(q.name for q in equations)
