"""Fuse: what becomes one loop, how far it is shifted, what is refused and what helps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.transforms.order.moments import assert_breaks
from tests.transforms.order.ordering import assert_computes_the_same, horizon, refusal, separate
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, sequence
from workbench.program.dependences import dependences
from workbench.transforms import (
    Contract,
    Distribute,
    Fuse,
    Incrementalize,
    Interchange,
    Place,
    Tile,
    Vectorize,
)
from workbench.transforms.step.argument_names import all_meant
from workbench.transforms.step.step_json import from_json, schema
from workbench.transforms.trees.joining import joined
from workbench.transforms.trees.sites import site


@wb.program
def ahead(B: int = 2, T: int = 9, n: int = 4) -> dict[str, Any]:
    """A state, and what is n steps ahead of it, in a loop of its own."""
    b, t = wb.dims(b=B, t=T)
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = wb.uniform(over=b)
    state[b, t + 1] = 0.9 * state
    worth = state[b, t : wb.minimum(t + n, T + 1)].sum()
    return {"worth": worth}


@wb.program
def suffix(T: int = 5) -> dict[str, Any]:
    (t,) = wb.dims(t=T)
    state = wb.recurrent("state", (), over=t)
    state[0] = 1.0
    state[t + 1] = 0.9 * state
    return {"later": state[t:T].sum()}


@wb.program
def apart(T: int = 4) -> dict[str, Any]:
    """Two recurrences, one forwards, one backwards, and a draw that may run either way."""
    (t,) = wb.dims(t=T)
    up = wb.recurrent("up", (), over=t)
    up[0] = 1.0
    up[t + 1] = 0.9 * up
    down = wb.recurrent("down", (), over=t)
    down[T] = 0.0
    down[t] = 0.5 * down[t + 1] + up
    squared = up * up
    half = 0.5 * up
    return {"down": down, "squared": squared, "half": half}


@wb.program
def drawn_suffix(T: int = 5) -> dict[str, Any]:
    """What comes later of something that may be drawn in any order."""
    (t,) = wb.dims(t=T)
    draw = wb.uniform(over=t)
    return {"later": draw[t:T].sum()}


@wb.program
def mirrored(T: int = 7) -> dict[str, Any]:
    """A backward recurrence, and what was two steps later in its order."""
    (t,) = wb.dims(t=T)
    down = wb.recurrent("down", (), over=t)
    down[T] = 1.0
    down[t] = 0.9 * down[t + 1]
    worth = down[wb.maximum(t - 2, 0)] + 1.0
    return {"worth": worth}


@wb.program
def culprit(T: int = 5) -> dict[str, Any]:
    """Two statements of one loop: one needs the present, the other all that comes."""
    (t,) = wb.dims(t=T)
    state = wb.recurrent("state", (), over=t)
    state[0] = 1.0
    state[t + 1] = 0.9 * state
    later = state[t:T].sum()
    now = wb.sin(state)
    return {"later": later, "now": now}


@wb.program
def between(T: int = 4) -> dict[str, Any]:
    """Two recurrences; between them what the second starts from, and what the first ends in."""
    (t,) = wb.dims(t=T)
    first = wb.recurrent("first", (), over=t)
    first[0] = 1.0
    first[t + 1] = 0.9 * first
    start = wb.uniform()
    end = wb.exp(first[T])
    second = wb.recurrent("second", (), over=t)
    second[0] = start
    second[t + 1] = 0.5 * second + first[t + 1]
    return {"end": end, "second": second}


@wb.program
def blocks(T: int = 9) -> dict[str, Any]:
    (t,) = wb.dims(t=T)
    state = wb.recurrent("state", (), over=t)
    state[0] = 1.0
    state[t + 1] = 0.9 * state
    square = state * state
    return {"total": square.sum(over=t)}


@wb.program
def crossed(P: int = 3, Q: int = 3) -> dict[str, Any]:
    p, q = wb.dims(p=P, q=Q)
    rows = wb.uniform(over=p)
    columns = wb.uniform(over=q)
    return {"rows": rows, "columns": columns}


def refused_tree(variant: wb.Variant, step: Fuse, backwards: bool = False) -> Tree:
    program = variant.program
    at = site(program.schedule, all_meant(program, step.statements), dependences(program.equations))
    return joined(at, [0] * len(at.loops), backwards)


# -- what becomes one loop -------------------------------------------------------------------------


def test_loops_of_two_dims_become_one_nest() -> None:
    found = separate(ahead(n=1)).apply(Fuse(("state[t+1]", "worth")))
    assert found.schedule.endswith("for b:\n    for t:\n        state[t+1]\n        worth\n")
    assert found.notes == ()
    assert_computes_the_same(found, {"T": 4})


def test_inner_loops_that_may_not_join_stay_and_say_why() -> None:
    found = separate(ahead()).apply(Fuse(("state[t+1]", "worth")))
    assert found.schedule.endswith(
        "for b:\n    for t:\n        state[t+1]\n    for t:\n        worth\n"
    )
    assert found.notes == (
        "the loops over t inside stay apart: worth[b=0, t=0] reads state[0, 2], which state[t+1] "
        "at b=0, t=1 writes (smallest case: B=1, T=2)",
    )
    assert_computes_the_same(found, {"T": 4})


def test_three_loops_become_one() -> None:
    found = separate(apart()).apply(Fuse(("up[t+1]", "squared", "half")))
    assert "for t:\n    up[t+1]\n    squared\n    half\n" in found.schedule
    assert_computes_the_same(found, {"T": 3})


def test_axes_join() -> None:
    program = wb.variant(apart()).apply(Vectorize("t", ("squared",)))
    program = program.apply(Vectorize("t", ("half",)))
    two = program.check(Fuse(("squared", "half")))
    assert two is None or two.kind == "no effect"
    one = separate(apart()).apply(Vectorize("t", ("squared", "half")))
    joined_axes = one.apply(Fuse(("squared", "half")))
    assert "axis t:\n    squared\n    half\n" in joined_axes.schedule
    assert_computes_the_same(joined_axes, {"T": 3})


def test_what_stands_between_moves_where_dependences_ask() -> None:
    found = separate(between()).apply(Fuse(("first[t+1]", "second[t+1]")))
    lines = found.schedule.split("\n")
    together = lines.index("    first[t+1]")
    assert lines[together + 1] == "    second[t+1]"
    assert lines.index("second[0]") < together < lines.index("end")
    assert_computes_the_same(found, {"T": 3})


def test_joined_loop_runs_the_other_way_where_only_that_is_legal() -> None:
    found = separate(drawn_suffix()).apply(Fuse(("draw", "later")))
    assert found.schedule == "for t reversed:\n    draw\n    later\n"
    assert found.notes == (
        "the loop over t around draw now runs backwards",
        "the loop over t around later now runs backwards",
    )
    assert_computes_the_same(found, {"T": 4})


def test_directions_that_differ_join_where_one_can_turn() -> None:
    found = separate(apart()).apply(Fuse(("down", "squared")))
    assert "for t reversed:" in found.schedule
    assert_computes_the_same(found, {"T": 3})


def test_shifted_loop_runs_behind() -> None:
    step = Fuse(("state[t+1]", "worth"), shifts=(("worth", 2),))
    found = wb.variant(ahead()).apply(step)
    assert "for t:    # shifted: worth +2\n" in found.schedule
    for T in (1, 2, 3, 7):
        assert_computes_the_same(found, {"T": T})


def test_shifted_loop_with_an_axis_inside() -> None:
    found = wb.variant(ahead()).apply(Fuse(("state[t+1]", "worth"), (("worth", 2),)))
    found = found.apply(Vectorize("b"))
    assert found.schedule.startswith("axis b:")
    for T in (1, 2, 7):
        assert_computes_the_same(found, {"T": T})


def test_shift_of_a_backward_loop_runs_behind_too() -> None:
    step = refusal(wb.variant(mirrored()), Fuse(("down", "worth"))).instead[0]
    assert step == Fuse(("down", "worth"), (("worth", 2),))
    found = wb.variant(mirrored()).apply(step)
    assert "for t reversed:    # shifted: down +2\n" in found.schedule
    for T in (1, 2, 3, 7):
        assert_computes_the_same(found, {"T": T})


def test_tiled_loops_join_and_shift_by_blocks() -> None:
    program = separate(ahead(B=1)).program
    tiled = wb.variant(replace(program, schedule=_tiled(program.schedule, "t", 4)))
    found = tiled.apply(Fuse(("state[t+1]", "worth")))
    step = refusal(found, Fuse(("state[t+1]", "worth"))).instead[0]
    assert step == Fuse(("state[t+1]", "worth"), (("worth", 1),))
    shifted = found.apply(step)
    assert "for t in blocks of 4:    # shifted: worth +4\n" in shifted.schedule
    for T in (3, 4, 9):
        assert_computes_the_same(shifted, {"T": T})


def _tiled(tree: Tree, dim: str, size: int) -> Tree:
    if isinstance(tree, Leaf):
        return tree
    if isinstance(tree, Block):
        return sequence([_tiled(child, dim, size) for child in tree.children])
    child = _tiled(tree.child, dim, size)
    return (
        Loop(dim, replace(tree, child=child), tile=size)
        if tree.dim == dim
        else replace(tree, child=child)
    )


# -- what is refused, and what helps ---------------------------------------------------------------


def test_dependence_that_runs_backwards_refused_with_the_least_shift() -> None:
    before, step = wb.variant(ahead()), Fuse(("state[t+1]", "worth"))
    found = refusal(before, step)
    assert found.kind == "dependence"
    assert found.sentence == (
        "Fuse(('state[t+1]', 'worth')): worth[b=0, t=0] reads state[0, 2], which state[t+1] at "
        "b=0, t=1 writes, but the loop over t runs forwards (smallest case: B=1, T=2)"
    )
    assert_breaks(before.program, refused_tree(before, step), found.witness)
    assert found.instead == (Fuse(("state[t+1]", "worth"), (("worth", 2),)),)
    assert before.check(found.instead[0]) is None
    one_less = refusal(before, replace(step, shifts=(("worth", 1),)))
    assert one_less.kind == "dependence" and one_less.instead == found.instead


def test_suffix_of_a_recurrence_refused_without_a_shift() -> None:
    before, step = wb.variant(suffix()), Fuse(("state[t+1]", "later"))
    found = refusal(before, step)
    assert found.kind == "dependence" and found.instead == ()
    assert_breaks(before.program, refused_tree(before, step), found.witness)


def test_culprit_in_the_loop_is_distributed_first() -> None:
    before = separate(culprit()).apply(Fuse(("later", "now")))
    step = Fuse(("state[t+1]", "now"))
    found = refusal(before, step)
    assert found.kind == "dependence"
    assert Distribute(("now",), "t") in found.repairs
    after = before.apply(Distribute(("now",), "t")).apply(step)
    assert "    state[t+1]\n    now\n" in after.schedule
    assert_computes_the_same(after, {"T": 4})


def test_what_is_caught_between_is_named_and_placed_by_the_repairs() -> None:
    before, step = wb.variant(horizon()), Fuse(("state[t+1]", "target"))
    found = refusal(before, step)
    assert found.kind == "dependence"
    assert found.sentence == (
        "Fuse(('state[t+1]', 'target')): value[T] between the loops can stand neither behind the "
        "joined loop: target[t=0] reads value[1], which value[T] writes (smallest case: T=1); nor "
        "before it: value[T] reads state[1], which state[t+1] at t=0 writes (smallest case: T=1)"
    )
    assert_breaks(before.program, refused_tree(before, step), found.witness)
    assert found.repairs == (Place(("value[T]",), "t"),)
    placed = before.apply(found.repairs[0])
    (second,) = refusal(placed, step).instead
    assert second == Fuse(("state[t+1]", "target", "value[T]"), (("target", 2),))
    fused = placed.apply(second)
    assert fused.schedule == (
        "state[0]\nfor t:    # shifted: target +2\n    state[t+1]\n    value\n    value[T]\n"
        "    target\n"
    )
    for T in (1, 2, 3, 8):
        assert_computes_the_same(fused, {"T": T})


def test_axis_and_loop_refused_with_vectorize() -> None:
    before = separate(apart()).apply(Vectorize("t", ("squared",)))
    found = refusal(before, Fuse(("squared", "half")))
    assert found.kind == "capability"
    assert found.sentence == (
        "Fuse(('squared', 'half')): the axis over t around squared and the loop over t around half "
        "are not over the same dimension in the same manner"
    )
    assert found.repairs == (Vectorize("t", ("half",)),)
    after = before.apply(found.repairs[0]).apply(Fuse(("squared", "half")))
    assert "axis t:\n    squared\n    half\n" in after.schedule


def test_loops_in_another_order_refused_with_interchange() -> None:
    before = separate(ahead(n=1)).apply(Interchange("b", "t", ("worth",)))
    step = Fuse(("state[t+1]", "worth"))
    found = refusal(before, step)
    assert found.kind == "capability"
    assert Interchange("t", "b", ("worth",)) in found.repairs
    assert_computes_the_same(before.apply(found.repairs[0]).apply(step), {"T": 4})


def test_blocks_and_loop_refused_with_tile() -> None:
    before = wb.variant(blocks()).apply(Incrementalize("total", "t", 4))
    step = Fuse(("state[t+1]", "total.partial"))
    found = refusal(before, step)
    assert found.kind == "capability"
    assert "the loop over t around state[t+1] and the loop over t_block4" in found.sentence
    (tile,) = found.repairs
    assert isinstance(tile, Tile) and (tile.dim, tile.size) == ("t", 4)
    after = before.apply(tile).apply(step)
    assert after.schedule == (
        "state[0]\nfor t in blocks of 4:\n    for t:\n        state[t+1]\n        square\n"
        "    total.partial\ntotal\n"
    )
    for T in (3, 4, 9):
        assert_computes_the_same(after, {"T": T})
    held = after.apply(Contract("square"))
    assert "square over t (min(T, 4) of T)" in held.storage
    assert_computes_the_same(held, {"T": 9})


def test_learning_behind_by_a_shift_keeps_a_window() -> None:
    fused = wb.variant(ahead(n=9)).apply(Fuse(("state[t+1]", "worth"), (("worth", 7),)))
    held = fused.apply(Contract())
    assert "state over b (1 of B), t (min(T + 1, 9) of T + 1)" in held.storage
    for T in (1, 7, 8, 20):
        assert_computes_the_same(held, {"T": T})


def test_loops_over_different_dims_refused() -> None:
    before = separate(crossed())
    found = refusal(before, Fuse(("rows", "columns")))
    assert found.kind == "capability" and found.repairs == ()
    assert "the loop over p around rows and the loop over q around columns" in found.sentence


def test_statement_without_a_loop_refused_with_place() -> None:
    before = separate(between())
    found = refusal(before, Fuse(("first[t+1]", "end")))
    assert found.kind == "capability"
    assert found.sentence.endswith(
        "end stands beside the loop over t around first[t+1], in no loop of its own"
    )
    (step,) = found.repairs
    assert step == Place(("end",), "t")
    assert_computes_the_same(before.apply(step).apply(Fuse(("first[t+1]", "end"))), {"T": 3})


def test_no_effect_refused_in_one_loop() -> None:
    found = refusal(wb.variant(horizon()), Fuse(("state[t+1]", "value")))
    assert found.kind == "no effect"
    assert found.sentence.endswith(": state[t+1], value stand in one loop already")


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (Fuse(("state[t+1]", "worht")), "unknown statement worht: did you mean worth?"),
        (Fuse(("worth",)), "name at least two statements of different loops"),
        (Fuse(("state[t+1]", "worth"), (("worth", -1),)), "worth is shifted by -1; expected at"),
        (
            Fuse(("state[t+1]", "worth"), (("state[0]", 1),)),
            "state[0] is shifted, but not among the statements",
        ),
        (
            Fuse(("state[t+1]", "worth"), (("worth", 1), ("worth", 2))),
            "one loop cannot be shifted by 1 and 2",
        ),
    ],
)
def test_bad_input_refused(step: Fuse, sentence: str) -> None:
    found = refusal(wb.variant(ahead()), step)
    assert found.kind == "input"
    assert sentence in found.sentence


def test_shift_of_an_axis_refused() -> None:
    before = separate(apart()).apply(Vectorize("t", ("squared", "half")))
    found = refusal(before, Fuse(("squared", "half"), (("half", 1),)))
    assert found.sentence.endswith("an axis has no iterations to be shifted by")


def test_name_of_an_array_stands_for_its_main_piece() -> None:
    by_array = refusal(wb.variant(ahead()), Fuse(("state", "worth")))
    by_statement = refusal(wb.variant(ahead()), Fuse(("state[t+1]", "worth")))
    assert by_array.witness == by_statement.witness


def test_step_survives_json() -> None:
    import jsonschema  # takes seconds, in every process that collects this file

    step = Fuse(("state", "worth"), shifts=(("worth", 2),))
    jsonschema.validate(step.to_json()["arguments"], schema(Fuse))
    assert from_json(step.to_json()) == step
    assert eval(repr(step), {"Fuse": Fuse}) == step


def test_moves_offer_neighbouring_loops() -> None:
    offered = [m.step for m in wb.variant(ahead()).moves() if isinstance(m.step, Fuse)]
    assert offered == [Fuse(("state[t+1]", "worth"))]
