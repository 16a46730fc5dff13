"""Accumulate: a sum's points as a statement, added up where they are computed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tests.by_hand as h
import workbench as wb
from tests.backends.small_programs import scheduled
from tests.programs import PROGRAMS
from tests.transforms.order.ordering import assert_computes_the_same, refusal
from tests.truth import truth
from workbench.algorithms.reinforce import reinforce
from workbench.backends.numpy import NumPyBackend
from workbench.errors import RunError
from workbench.lowering.lower import lower
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import Leaf, Loop, Tree, sequence
from workbench.program.accumulating import Finish, derived
from workbench.program.dependences import dependences
from workbench.program.sizes import resolve
from workbench.program.text.infix import equation
from workbench.transforms import (
    Accumulate,
    Contract,
    Distribute,
    Donate,
    Fuse,
    Incrementalize,
    Place,
    Recompute,
    Reschedule,
    Simplify,
    Swap,
    Tile,
    Vectorize,
)
from workbench.transforms.step.transform import Transform, violated

TS = {"t": (0, h.T)}
LEAST: tuple[dict[str, int], ...] = ({}, {"T": 1}, {"B": 1}, {"B": 1, "T": 1}, {"B": 2, "T": 7})


@wb.program
def sums(B: int = 3, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=2, over=(b, t))
    positive = x[..., 0] > 0.0
    return {
        "total": x.sum(over=(b, t)),
        "row": x.sum(over=t),
        "count": positive.sum(over=t),
        "later": positive[b, t:T].sum(),
        "soon": x[b, t : wb.minimum(t + 3, T)].sum(),
        "highest": x.max(over=t),
        "lowest": x.min(over=(b, t)),
        "first": x[..., 0].argmax(over=t),
    }


def equations(variant: wb.Variant) -> dict[str, str]:
    return {s.name: equation(s, variant.program.equations) for s in variant.program.statements}


def assert_right(variant: wb.Variant, many: tuple[dict[str, int], ...] = LEAST) -> None:
    """It computes the same at many sizes, and holds what is predicted, to the byte."""
    for sizes in many:
        assert_computes_the_same(variant, sizes)
        ran = wb.run(variant, sizes=sizes, progress=False, backend="numpy")
        assert ran.peak_bytes == variant.predict(sizes, backend="numpy").peak_bytes["device"]


def test_sum_is_split_into_points_over_all_its_dims_and_the_result() -> None:
    found = wb.variant(sums()).apply(Accumulate("t", "total"))
    written = equations(found)
    assert written["total.points"] == "total.points[b, t] = x[b, t]"
    assert written["total"] == "total = sum(b, t) total.points[b, t]"
    assert "total.points, added up" in found.storage.splitlines()
    assert found.program.storage.added == ("total.points",)
    assert_right(found)


def test_without_statements_all_over_the_dim_but_what_cannot() -> None:
    found = wb.variant(sums()).apply(Accumulate("t"))
    points = {a for a in found.program.array if a.endswith(".points")}
    assert points == {f"{name}.points" for name in ("total", "row", "count", "highest", "lowest")}
    assert_right(found)
    assert_right(found.apply(Vectorize("b")))
    assert_right(found.apply(Vectorize("b")).apply(Vectorize("t")))
    assert_right(found.apply(Vectorize("b")).apply(Tile("t", 2)))
    assert_right(found.apply(Vectorize("t")).apply(Tile("t", 3)))


def test_triangular_sums_add_up_an_element_at_a_time() -> None:
    found = wb.variant(sums()).apply(Accumulate("t_1")).apply(Accumulate("t_2"))
    assert equations(found)["later.points"].startswith("later.points[b, t, t_1] = ")
    names = ("later.points", "soon.points")
    assert found.program.storage.added == names
    assert_right(found)
    folded = found.apply(Contract())
    assert "later.points over b (1 of B), t (1 of T), added up" in folded.storage.splitlines()
    assert_right(folded)
    assert_right(found.apply(Vectorize("b")).apply(Contract()))
    assert_right(found.apply(Vectorize("t", names)))


def test_maximum_starts_below_all_numbers() -> None:
    found = wb.variant(sums()).apply(Accumulate("t", ("highest", "lowest")))
    constants = [line for line in str(lower(found.program)).splitlines() if "constant" in line]
    assert any(line.endswith("constant -inf") for line in constants)
    assert any(line.endswith("constant inf") for line in constants)
    assert_right(found)
    wb.run(found, check_finite=True, progress=False, backend="numpy")


def test_whole_numbers_are_counted_and_compared() -> None:
    @wb.program
    def whole(B: int = 3, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        n = wb.cast(wb.normal(over=(b, t)) * 10.0, "int32")
        return {"all": n.sum(over=t), "most": n.max(over=t), "least": n.min(over=(b, t))}

    found = wb.variant(whole()).apply(Accumulate("t"))
    assert len(found.program.storage.added) == 3
    assert_right(found)
    assert_right(found.apply(Vectorize("b")))


def test_empty_sums_are_0() -> None:
    @wb.program
    def earlier(B: int = 2, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.normal(over=(b, t))
        return {"before": x[b, 0:t].sum(), "rest": x[b, t + 2 : wb.maximum(T, t + 2)].sum()}

    root = wb.variant(earlier())
    dims = dict.fromkeys(d for s in root.program.statements for d in s.reduction_dims)
    found = root
    for dim in dims:
        found = found.apply(Accumulate(dim))
    assert len(found.program.storage.added) == 2
    assert_right(found)
    assert_right(found.apply(Contract()))
    assert_right(found.apply(Vectorize("b")).apply(Contract()))


@pytest.mark.parametrize("axes", [(), ("t",), ("k",)])
def test_empty_maximum_is_refused_at_the_result(axes: tuple[str, ...]) -> None:
    body = h.read("x", h.k)
    p = h.equations(
        h.statement("x", [h.t], 1.0, {"t": (0, h.T)}),
        h.statement("y.points", [h.t, h.k], body, {"t": (0, h.T), "k": (h.t + 1, h.T)}),
        h.statement(
            "y",
            [h.t],
            h.read("y.points", h.t, h.k),
            {"t": (0, h.T)},
            {"k": (h.t + 1, h.T)},
            "max",
            name="y",
        ),
        sizes={"T": 3},
        dims={"t": h.T, "k": h.T},
        outputs=["y"],
    )
    stored = scheduled(p, axes)
    added = replace(stored, storage=replace(stored.storage, added=("y.points",)))
    assert isinstance(derived(added).statement["y"], Finish)
    for program in (stored, added):
        with pytest.raises(RunError, match=r"y at t=2 combines no elements.*an empty max"):
            NumPyBackend().compile(program).run()


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_candidate_computes_the_same(name: str) -> None:
    template, many = PROGRAMS[name]
    root = wb.variant(template())
    for step in Accumulate.candidates(root.program):
        after = root.apply(step)
        assert not [s for s in Accumulate.candidates(after.program) if s == step]
        for sizes in many[: 1 if len(root.program.statements) > 50 else 3]:
            assert_computes_the_same(after, sizes)


def test_offered_where_a_loop_computes_what_is_summed() -> None:
    root = wb.variant(sums())
    offered = [Accumulate(dim) for dim in ("b", "t", "t_1", "t_2")]
    assert list(Accumulate.candidates(root.program)) == offered
    axes = root.apply(Vectorize("t"))
    assert {step.dim for step in Accumulate.candidates(axes.program)} == {"b"}
    blocks = axes.apply(Tile("t", 2, ("x",)))
    assert Accumulate("t") in Accumulate.candidates(blocks.program)


def test_parts_that_blocks_left_are_added_up_in_the_loop_over_blocks() -> None:
    found = wb.variant(sums()).apply(Incrementalize("total", "t", 2))
    found = found.apply(Vectorize("b")).apply(Vectorize("t", ("x",))).apply(Tile("t", 2, ("x",)))
    found = found.apply(Accumulate("t_block2", "total"))
    assert equations(found)["total.points"].startswith(
        "total.points[t_block2] = total.partial[t_block2]"
    )
    joined = found.apply(Fuse(("total.partial", "total.points"))).apply(Contract())
    assert "total.partial over t_block2 (1 of (T + 1) // 2)" in joined.storage
    assert_right(joined, (*LEAST, {"T": 5}))


def test_points_stand_on_axes_where_their_operands_do() -> None:
    found = wb.variant(sums()).apply(Vectorize("b")).apply(Accumulate("t", "total"))
    assert "axis b:\n    for t:\n        total.points\ntotal" in found.schedule
    assert_right(found)


def test_range_takes_the_name_of_the_loop_that_computes_what_is_summed() -> None:
    @wb.program
    def other(T: int = 4) -> dict[str, Any]:
        t, u = wb.dims(t=T, u=T)
        x = wb.normal(over=t)
        return {"total": (x[u] * 2.0).sum(over=u)}

    found = wb.variant(other()).apply(Accumulate("u"))
    assert equations(found)["total.points"] == "total.points[t] = x[t] * 2.0"
    joined = found.apply(Fuse(("x", "total.points"))).apply(Contract())
    assert "x over t (1 of T)" in joined.storage
    assert_right(joined, ({}, {"T": 1}))


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "kind", "sentence"),
    [
        (Accumulate("t", "x"), "capability", "x does not sum over t"),
        (Accumulate("b", "row"), "capability", "row does not sum over b"),
        (Accumulate("t", "first"), "capability", "first is argmax: a place and not a sum"),
        (Accumulate("u", "later"), "input", "unknown dim u: the dims are b, t, t_1, t_2"),
        (Accumulate("t", "totl"), "input", "unknown statement totl: did you mean total?"),
    ],
)
def test_refused(step: Accumulate, kind: str, sentence: str) -> None:
    found = refusal(wb.variant(sums()), step)
    assert found.kind == kind
    assert sentence in found.sentence


def test_values_that_are_all_kept_refused() -> None:
    everything = h.statement("all", [], h.read("x", h.t), {}, TS, "collect", name="all")
    p = h.equations(h.statement("x", [h.t], 1.0, TS), everything, sizes={"T": 3}, dims={"t": h.T})
    found = Accumulate("t", "all").check(scheduled(p))
    assert found is not None and found.sentence.endswith(
        "all is collect: all its points are its value, so each has to be stored"
    )


def test_no_effect_refused_when_nothing_is_left() -> None:
    once = wb.variant(sums()).apply(Accumulate("t"))
    assert refusal(once, Accumulate("t", "total")).sentence == (
        "Accumulate('t', statements=('total',)): total adds up total.points already"
    )
    found = refusal(once, Accumulate("t"))
    assert found.kind == "no effect"
    assert found.sentence == "Accumulate('t'): nothing sums over t"


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (
            Incrementalize("total", "t", 2),
            "total.points[b, t]  for 0 <= t_block2 < (T + 1) // 2 would not combine each element "
            "of total.points once",
        ),
        (Swap("total.points"), "what is added up stays on the device"),
    ],
)
def test_storing_the_points_refused(step: Transform, reason: str) -> None:
    once = wb.variant(sums()).apply(Accumulate("t"))
    found = refusal(once, step)
    assert found.kind == "capability"
    assert reason in found.sentence


def test_points_that_would_be_stored_are_said_with_their_number() -> None:
    once = wb.variant(sums()).apply(Accumulate("t", "total"))
    found = refusal(once, Incrementalize("total", "t", 2))
    assert "would store total.points, all B x T elements, but total.points is added up by" in (
        found.sentence
    )


def test_contract_of_what_is_added_up_refused() -> None:
    once = wb.variant(sums()).apply(Accumulate("t", "row"))
    found = refusal(once, Contract("row.points", "t"))
    assert found.sentence == (
        "Contract('row.points', 't'): row.points is added up, and keeps nothing of t"
    )


def test_recompute_of_the_points_refused() -> None:
    once = wb.variant(sums()).apply(Accumulate("t", "total"))
    found = refusal(once, Recompute("total.points"))
    assert found.sentence == (
        "Recompute('total.points') would store total.points.again, all B x T elements, but "
        "total.points is added up by Accumulate: total would read total.points.again"
    )


def test_equal_sums_are_not_joined_by_their_points() -> None:
    @wb.program
    def twice(B: int = 2, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.normal(over=(b, t))
        return {"a": x.sum(over=t), "b2": x.sum(over=t) * 2.0}

    found = wb.variant(twice()).apply(Accumulate("t"))
    simple = found.check(Simplify())
    assert simple is None or simple.kind == "no effect"


@wb.program
def centred(B: int = 2, T: int = 4) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    s = x.sum(over=t)
    return {"y": x - s}


X, POINTS, SUM, Y = (Leaf(name) for name in ("x", "s.points", "s", "y"))


def loop(*parts: Tree) -> Tree:
    return Loop("t", sequence(list(parts)))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (
            (loop(POINTS), loop(X), SUM, loop(Y)),
            "s.points[b=0, t=0] reads x[0, 0], which x[b=0, t=0] writes, but s.points comes "
            "before x (smallest case: B=1, T=1)",
        ),
        (
            (loop(X), SUM, loop(POINTS), loop(Y)),
            "s[b=0] reads s.points[0, 0], which s.points[b=0, t=0] writes, but s comes before "
            "s.points (smallest case: B=1, T=1)",
        ),
        (
            (loop(X, POINTS, Y), SUM),
            "y[b=0, t=0] reads s[0], which s[b=0] writes, but y comes before s "
            "(smallest case: B=1, T=1)",
        ),
    ],
)
def test_illegal_places_have_the_witness_of_any_statement(
    parts: tuple[Tree, ...], sentence: str
) -> None:
    program = wb.variant(centred()).apply(Accumulate("t")).program
    tree = Loop("b", sequence(list(parts)))
    broken = violation(tree, dependences(program.equations))
    assert broken is not None
    placed = replace(program, schedule=tree)
    assert violated(placed, broken, "Step").sentence == f"Step: {sentence}"


def test_fuse_of_points_with_a_reader_of_the_sum_refused() -> None:
    found = refusal(wb.variant(centred()).apply(Accumulate("t")), Fuse(("s.points", "y")))
    assert found.kind == "dependence" and found.witness is not None
    assert found.sentence == (
        "Fuse(('s.points', 'y')): s between the loops can stand neither behind the joined loop: "
        "y[b=0, t=0] reads s[0], which s[b=0] writes (smallest case: B=1, T=1); nor before it: "
        "s[b=0] reads s.points[0, 0], which s.points[b=0, t=0] writes (smallest case: B=1, T=1)"
    )


def test_contract_of_sums_that_are_begun_before_others_are_read_refused() -> None:
    found = wb.variant(sums()).apply(Accumulate("t_1")).apply(Distribute(("later.points",), "t"))
    step = Contract("later.points", "t")
    said = refusal(found, step)
    assert said.sentence == (
        "Contract('later.points', 't'): later[b=0, t=0] has still to read later.points[0, 0] when "
        "later.points.start[b=0, t=2] writes later.points[0, 2], so all 3 slices along t are live "
        "at one time (smallest case of 3 slices: B=1, T=3)"
    )
    assert Fuse(("later.points", "later")) in said.repairs
    assert_right(found.apply(Fuse(("later.points", "later"))).apply(step))


def test_blocks_of_points_that_have_the_number_of_such_blocks_refused() -> None:
    found = wb.variant(sums()).apply(Incrementalize("total", "t", 2))
    found = found.apply(Accumulate("b", "total.partial"))
    name = "total.partial.points"
    for ready in (found, found.apply(Vectorize("t_block2"))):
        said = refusal(ready, Tile("t", 2, (name,)))
        assert said.sentence == (
            "Tile('t', 2, statements=('total.partial.points',)): total.partial.points runs in "
            "blocks of 2 already: it varies over t_block2"
        )
        assert_right(ready.apply(Tile("t", 2)))
        assert_right(ready.apply(Tile("t", 3, (name,))))


# -- in JSON, recipes and moves --------------------------------------------------------------------


def test_recipe_and_json_rebuild_it() -> None:
    root = wb.variant(sums())
    found = root.apply(Accumulate("t")).apply(Accumulate("t_1")).apply(Contract())
    again = root.replay(json.loads(json.dumps(found.to_json())))
    assert again.program == found.program and again.key == found.key
    assert any(isinstance(move.step, Accumulate) for move in root.moves())


# -- learning --------------------------------------------------------------------------------------


def gradients(variant: wb.Variant) -> list[str]:
    return [a for a in variant.program.storage.added if a.startswith("gradient.")]


def test_gradients_add_up_in_the_reversed_loop() -> None:
    """REINFORCE: each step equal to the program as written, and smaller in memory."""
    root = wb.variant(reinforce(B=5, I=2, T=6, hidden=(8,))).apply(Incrementalize("worth", "t"))
    sizes = (*LEAST, {"B": 1, "T": 1, "I": 1})
    split = root.apply(Accumulate("t"))
    assert_right(split, sizes)
    axes = split.apply(Vectorize("b"))
    assert_right(axes, sizes)
    fused = axes
    assert len(gradients(axes)) == 4
    for points in gradients(axes):
        fused = fused.apply(Fuse(("surrogate", points)))
    assert fused.schedule.count("reversed") == 1
    assert_right(fused, sizes)
    folded = fused.apply(Contract())
    assert_right(folded, sizes)
    last = folded.apply(Donate())
    assert_right(last, sizes)
    assert "gradient.policy.weight_1.points over i (1 of I), added up" in folded.storage
    before = root.apply(Vectorize("b")).apply(Contract()).apply(Donate())
    assert device(last) < device(before)


def device(variant: wb.Variant) -> int:
    return variant.predict(backend="numpy").peak_bytes["device"]


def test_reference_of_the_equations_agrees() -> None:
    found = wb.variant(sums()).apply(Accumulate("t")).apply(Accumulate("t_1"))
    expected = truth(found.root.program, {}, 3)
    own = truth(found.program, {}, 3)
    for output in found.program.outputs:
        np.testing.assert_allclose(
            own.array(output.array), expected.array(output.array), rtol=1e-12
        )


def in_a_window(estimator: str) -> wb.Variant:
    """Sums added up, isl's order for an update, windows: the same steps for every estimator."""
    program = reinforce(estimator=estimator, B=4, I=2, T=12, n=8, hidden=(8,))
    variant = wb.variant(program).apply(Vectorize("b")).apply(Accumulate("t"))
    variant = variant.apply(Place("episodes", "t", "first"))  # it counts what is alive at first
    step = Reschedule(("environment.start_uniform", "episode_return"))
    found = variant.check(step)
    if found is not None and found.repairs:
        assert all(isinstance(repair, Place) for repair in found.repairs[:1])
        variant = variant.apply(found.repairs[0])
        found = variant.check(step)
    if found is None:
        variant = variant.apply(step)
    return variant.apply(Contract())


def peaks(variant: wb.Variant) -> list[int]:
    """The most bytes held at T = 100, 200 and 400, as the run at 100 finds it too."""
    program = lower(variant.program)
    found = []
    for T in (100, 200, 400):
        sizes = resolve(variant.program.equations, {"T": T, "I": 1})
        found.append(max(point.bytes for point in program.timeline(sizes, "float32")))
    ran = wb.run(variant, sizes={"T": 100, "I": 1}, progress=False, backend="numpy")
    assert ran.peak_bytes == found[0]
    return found


def test_learning_from_n_step_returns_needs_a_window_and_from_whole_returns_the_episode() -> None:
    window = in_a_window("n_step")
    assert "surrogate +8" in window.schedule and "weight_1.points +8" in window.schedule
    assert_computes_the_same(window, {"T": 12})
    assert_computes_the_same(window, {"T": 5})
    short, middle, long = peaks(window)
    table = 3 * 4  # gamma's powers and where they stand, per step: the only bytes that grow
    assert (middle - short, long - middle) == (100 * table, 200 * table)
    assert short <= 12_573 and long <= 16_173  # of running sums: statements of their own
    episode = in_a_window("monte_carlo")
    assert_computes_the_same(episode, {"T": 12})
    whole = peaks(episode)
    assert whole[1] > 1.9 * whole[0] and whole[2] > 1.9 * whole[1]
    assert whole[0] > 2 * short and whole[2] > 8 * long
    assert whole[0] <= 50_885 and peaks(in_a_window("td_lambda"))[0] <= 96_449
