"""Persist: what is in one loop over blocks, what a block keeps, how sums are added, what is
refused.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.block_orders import ORDERS, blocks_in
from tests.native_runs import check_native, run_native
from tests.transforms.order.moments import assert_breaks
from tests.truth import truth
from workbench.algorithms import ALGORITHMS
from workbench.backends.numpy import NumPyBackend
from workbench.codegen.kernel_records import Loop, walk
from workbench.codegen.kernels import program_kernels
from workbench.lowering.lower import lower
from workbench.lowering.memory.lives import private
from workbench.polyhedral.expression import expression
from workbench.polyhedral.tree import loops, replaced, statements, text
from workbench.program.accumulating import Adding, derived
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Accumulate, Contract, Distribute, Donate, Persist, Vectorize
from workbench.transforms.step.step_json import from_json, schema
from workbench.transforms.step.transform import Transform, apply, check

REINFORCE = {"B": 5, "I": 2, "T": 6, "hidden": (3,)}
PPO = {"B": 4, "I": 2, "T": 5, "hidden": (3,), "E": 2, "M": 2}


def taken(program: Program, *steps: Transform) -> Program:
    for step in steps:
        program = apply(program, step).program
    return program


@cache
def algorithm(name: str) -> Program:
    return ALGORITHMS[name](**{"reinforce": REINFORCE, "ppo": PPO}[name])


@cache
def persisted(name: str, *steps: Transform) -> Program:
    return taken(algorithm(name), *steps)


def regions(program: Program) -> list[list[str]]:
    """The statements of each loop whose blocks are apart."""
    return [list(statements(loop)) for loop in loops(program.schedule) if loop.apart]


def assert_same_in_every_order(program: Program, root: Program, sizes: dict[str, int]) -> None:
    expected = truth(root, sizes, 3)
    for order in ORDERS:
        with blocks_in(order):
            done = NumPyBackend().compile(program).run(sizes, 3, "float64")
        for name, found in done.outputs.items():
            np.testing.assert_allclose(found, expected.array(name), rtol=1e-9, atol=1e-9)
        known = resolve(program.equations, sizes)
        assert done.peak_bytes == lower(program).peak(known, "float64")
    check_native(program, done.outputs, sizes, 3)


# -- learning --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes", [{}, {"B": 1, "T": 2}, {"B": 16, "T": 1}, {"B": 33, "T": 3}, {"B": 2, "I": 1}]
)
@pytest.mark.parametrize("size", [2, 16])
def test_reinforce_in_blocks_learns_the_same(size: int, sizes: dict[str, int]) -> None:
    program = persisted("reinforce", Persist("b", size))
    assert_same_in_every_order(program, algorithm("reinforce"), REINFORCE_SIZES | sizes)


REINFORCE_SIZES = {"B": 5, "I": 2, "T": 6}


def test_reinforce_in_blocks_of_one_learns_the_same_without_lanes_along_them() -> None:
    program = persisted("reinforce", Persist("b", 1), Contract(), Donate())
    assert_same_in_every_order(program, algorithm("reinforce"), REINFORCE_SIZES)
    expected = truth(algorithm("reinforce"), REINFORCE_SIZES, 3)
    found = run_native(program, REINFORCE_SIZES, 3, threads=2)
    for name, values in found.items():
        np.testing.assert_allclose(values, expected.array(name), rtol=1e-9, atol=1e-9)
    kernels = program_kernels(program).kernels
    lanes = [r for k in kernels for r in walk(k.records) if isinstance(r, Loop) and r.lanes]
    assert lanes and not any(r.variable.startswith("b") for r in lanes)


@pytest.mark.parametrize("sizes", [{}, {"B": 2, "T": 1}, {"B": 8, "T": 3}, {"B": 6, "T": 7}])
@pytest.mark.parametrize("steps", [(Persist("b", 3), Persist("k", 4)), (Persist("k", 32),)])
def test_ppo_in_blocks_learns_the_same(steps: tuple[Transform, ...], sizes: dict[str, int]) -> None:
    assert_same_in_every_order(persisted("ppo", *steps), algorithm("ppo"), {"I": 2} | sizes)


def test_gradient_of_a_layer_is_added_up_before_that_of_the_layer_below_is_computed() -> None:
    """So that a block keeps the derivatives of one layer at a time."""
    program = persisted("ppo", Persist("b", 3), Persist("k", 4))
    order = list(statements(program.schedule))
    for network in ("actor", "critic"):
        added = [f"gradient.{network}.{array}_2.points" for array in ("weight", "bias")]
        below = order.index(f"gradient.{network}.bias_1_product")
        assert all(order.index(name) < below for name in added)


def test_all_of_an_update_of_reinforce_is_in_one_loop() -> None:
    program = persisted("reinforce", Persist("b", 16))
    (region,) = regions(program)
    over = [s.name for s in program.statements if "b" in s.dims]
    assert sorted(region) == sorted(over)
    assert sum(name.endswith(".points") for name in region) == 7
    ((_, arrays),) = private(program)
    assert set(arrays) == {program.statement[n].array for n in over} - set(program.storage.added)
    (note,) = apply(algorithm("reinforce"), Persist("b", 16)).notes
    assert note == (
        "environment.start_uniform … loss_sum_2.points (44 statements, 7 of them points of sums) "
        "in blocks of 16 of b: a block's own arrays take 5.41 kB (B=5, I=2, T=6, float32)"
    )


def test_a_minibatch_of_ppo_is_three_loops_with_finished_sums_between() -> None:
    program = persisted("ppo", Persist("k", 32))
    first, second, third = regions(program)
    assert first == ["minibatch.sample", "minibatch.row", "minibatch.step", "loss.a_sum.points"]
    assert second == ["loss.a_difference", "loss.a_sum_2.points"]
    assert len(third) == 45 and third[-1] == "gradient.actor.weight_1.points"
    *_, kept = apply(algorithm("ppo"), Persist("k", 32)).notes
    assert kept == "kept whole along k: minibatch.step, minibatch.row, loss.a_difference"
    assert [len(arrays) for _, arrays in private(program)] == [1, 0, 34]


def test_blocks_of_reinforce_need_as_little_memory_as_predicted() -> None:
    """B=256, T=1000, 64x64, blocks of 16: 9 MB where the program as written takes 275 MB."""
    root = ALGORITHMS["reinforce"](B=256, I=3, T=1000, hidden=(64, 64))
    program = taken(root, Persist("b", 16), Contract(), Donate())
    assert lower(program).peak(resolve(program.equations), "float32") < 9.4e6
    ((_, arrays),) = private(program)
    assert len(arrays) == 37
    note, more, *_ = apply(root, Persist("b", 16)).notes
    assert note.endswith("a block's own arrays take 18.7 MB (B=256, I=3, T=1000, float32)")
    assert more == "that is more than a core's cache of 1.05 MB: no blocks would fit"


# -- small programs --------------------------------------------------------------------------------


@wb.program
def averages(B: int = 11, T: int = 3) -> dict[str, Any]:
    """What is far from the mean, which is known behind all."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    mean = x.mean(over=(b, t))
    return {"spread": ((x - mean) ** 2).sum(over=(b, t)), "most": x.max(over=(b, t))}


@wb.program
def coupled(B: int = 5, T: int = 4) -> dict[str, Any]:
    """Walks of which each follows the first, and draws that do not."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = wb.uniform(over=b)
    x[b, t + 1] = 0.5 * x + x[0, t]
    noise = wb.uniform(over=(b, t))
    return {"x": x, "loud": wb.exp(noise).sum(over=(b, t))}


@pytest.mark.parametrize(
    "before", [(), (Vectorize("b"),), (Vectorize("t"),), (Vectorize("b"), Vectorize("t"))]
)
@pytest.mark.parametrize("chunks", [2, 3, 16])
def test_small_program_computes_the_same(before: tuple[Transform, ...], chunks: int) -> None:
    program = taken(averages(), *before, Persist("b", 2, chunks))
    assert len(regions(program)) == 2
    for size in (1, 2, 4, 5, 11, 40):
        assert_same_in_every_order(program, averages(), {"B": size, "T": 3})


def test_smaller_loops_that_were_there_stand_inside() -> None:
    program = taken(averages(), Vectorize("t"), Persist("b", 4, chunks=2))
    heading = "for b in blocks of 4, in any order, at most 2 chunks:\n    axis b:\n"
    assert text(program.schedule).startswith(heading)


def test_chosen_statements_share_one_loop() -> None:
    wanted = Persist("b", 2, statements=("noise", "loud"))
    refusal = check(coupled(), wanted)
    assert refusal is not None
    assert refusal.sentence == f"{wanted}: noise shares the loop over t with x[t+1]"
    (repair,) = refusal.repairs
    assert isinstance(repair, Distribute)
    program = taken(coupled(), repair, wanted)
    assert regions(program) == [["noise", "loud.points"]]
    for size in (1, 2, 5, 6):
        assert_same_in_every_order(program, coupled(), {"B": size, "T": 4})
    split = taken(coupled(), Accumulate("b", ("loud",)))
    assert regions(taken(split, Persist("b", 2, statements=("loud",)))) == [["loud.points"]]


def test_sizes_are_offered_where_the_step_can_be_taken() -> None:
    offered = {(step.dim, step.size) for step in Persist.candidates(averages())}
    assert offered == {("b", 8), ("t", 3)}  # of 11 and of 3 values
    assert "b" not in {step.dim for step in Persist.candidates(coupled())}


def test_step_survives_json_and_has_a_form() -> None:
    step = Persist("b", 16, statements=("noise", "loud"))
    assert from_json(step.to_json()) == step
    described = schema(Persist)["properties"]
    assert (described["size"]["minimum"], described["chunks"]["minimum"]) == (1, 1)
    assert str(Persist("b", 16)) == "Persist('b', 16)"
    assert str(Persist("b", 16, 4)) == "Persist('b', 16, chunks=4)"
    root = wb.variant(averages())
    assert root.apply(Persist("b", 16)).key != root.apply(Persist("b", 16, 4)).key


# -- the order of sums -----------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "chunks"), [(2, 2), (2, 3), (3, 2), (4, 16)])
@pytest.mark.parametrize("count", [1, 2, 5, 12, 13, 31])
def test_runs_add_in_order_and_then_the_runs(size: int, chunks: int, count: int) -> None:
    """In float32 the last digits tell in which order numbers were added."""

    @wb.program
    def drawn(B: int = 5) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.exp(8.0 * wb.normal(over=b))
        return {"x": x, "sum": x.sum(over=b)}

    program = taken(drawn(), Persist("b", size, chunks))
    done = NumPyBackend().compile(program).run({"B": count}, 3, "float32")
    x = done.outputs["x"]
    blocks = -(-count // size)
    runs = min(blocks, chunks)
    partial = np.zeros(chunks, np.float32)
    for block in range(blocks):
        values = x[block * size : (block + 1) * size]
        partial[block * runs // blocks] += np.add.reduce(values)
    total = np.float32(0)
    for one in partial:
        total += one
    assert done.outputs["sum"] == total


@pytest.mark.parametrize("blocks", range(1, 70))
def test_blocks_are_dealt_to_runs_of_one_at_least(blocks: int) -> None:
    program = taken(averages(), Persist("b", 2, 16))
    adding = next(s for s in derived(program).statements if isinstance(s, Adding))
    assert adding.chunks is not None
    known = {"B": 2 * blocks}
    runs = [
        adding.chunks.run_of({"@b_block2": expression(n)}).evaluate(known) for n in range(blocks)
    ]
    assert runs == sorted(runs) and set(runs) == set(range(runs[-1] + 1))
    lengths = [runs.count(run) for run in set(runs)]
    assert max(lengths) - min(lengths) <= 1
    assert min(lengths) >= 1 and len(lengths) == min(16, blocks)


# -- refusals --------------------------------------------------------------------------------------


def test_persist_refused_when_a_dependence_leads_from_block_to_block() -> None:
    step = Persist("b", 2)
    refusal = check(coupled(), step)
    assert refusal is not None and refusal.witness is not None
    assert refusal.sentence == (
        "Persist('b', 2): x[t+1] at b=2, t=0 reads x[0, 0], which x[0] at b=0 writes, but the loop "
        "over blocks of 2 values of b runs in any order (smallest case: B=3, T=1)"
    )
    (separate,) = refusal.repairs
    assert isinstance(separate, Distribute)
    assert {step.statements for step in refusal.instead} == {("x[0]",), ("loud",)}
    for step in refusal.instead:
        assert_same_in_every_order(taken(coupled(), step), coupled(), {"B": 5, "T": 4})


def test_persist_refused_when_time_goes_on() -> None:
    refusal = check(algorithm("reinforce"), Persist("t", 2))
    assert refusal is not None and refusal.witness is not None
    assert "runs in any order" in refusal.sentence
    assert refusal.attempted is not None
    for step in refusal.instead:
        after = taken(algorithm("reinforce"), step)
        assert_same_in_every_order(after, algorithm("reinforce"), REINFORCE_SIZES)


def test_persist_refused_when_a_finished_sum_stands_in_the_middle() -> None:
    step = Persist("k", 4, statements=("loss.ratio", "loss.a_sum", "loss.a_difference"))
    refusal = check(algorithm("ppo"), step)
    assert refusal is not None
    assert refusal.sentence == (
        f"{step}: loss.a_difference needs loss.a_sum, complete over all blocks, which needs what "
        "loss.a_sum.points gives: they cannot share one loop over blocks; loss.a_difference[i=0, "
        "e=0, m=0, k=0] reads loss.a_mean[0, 0, 0], which loss.a_mean[i=0, e=0, m=0] writes "
        "(smallest case: E=1, I=1, K=1, M=1)"
    )


def test_persist_refused_when_one_chunk_would_take_the_sums_of_all_blocks() -> None:
    refusal = check(averages(), Persist("b", 2, chunks=1))
    assert refusal is not None and refusal.witness is not None
    assert refusal.sentence == (
        "Persist('b', 2, chunks=1): mean_sum.points[b=0, t=0] and mean_sum.points[b=2, t=0] add to "
        "mean_sum.points, but the loop over blocks of 2 values of b runs in any order, and no "
        "chunks keep their sums apart (smallest case: B=3, T=1)"
    )
    assert refusal.instead[0] == Persist("b", 2)
    for instead in refusal.instead:
        assert_same_in_every_order(taken(averages(), instead), averages(), {"B": 5, "T": 3})


def test_blocks_without_sums_need_no_chunks() -> None:
    program = taken(coupled(), Distribute(("noise",)))
    program = taken(program, Persist("b", 2, chunks=1, statements=("noise",)))
    assert regions(program) == [["noise"]]


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (
            Persist("b", 2, statements=("mean",)),
            "Persist('b', 2, statements=('mean',)): mean does not vary over b",
        ),
        (
            Persist("b", 0),
            "Persist('b', 0): size is a whole number from 1 on, not 0",
        ),
        (
            Persist("b", 2, 0),
            "Persist('b', 2, chunks=0): chunks is a whole number from 1 on, not 0",
        ),
        (
            Persist("b", 2**31),
            "Persist('b', 2147483648): size is a whole number from 1 to 2147483647, not 2147483648",
        ),
        (
            Persist("b", 2, 10**30),
            f"Persist('b', 2, chunks={10**30}): chunks is a whole number from 1 to 2147483647, "
            f"not {10**30}",
        ),
    ],
)
def test_persist_refused_when_an_argument_does_not_fit(step: Persist, sentence: str) -> None:
    refusal = check(averages(), step)
    assert refusal is not None and refusal.sentence == sentence


def test_persist_refused_when_all_runs_in_blocks_already() -> None:
    program = taken(averages(), Persist("b", 2))
    refusal = check(program, Persist("b", 4))
    assert refusal is not None and refusal.kind == "no effect"
    assert refusal.sentence == (
        "Persist('b', 4): nothing runs over b that could run in blocks; x runs in blocks of 2 of b "
        "already"
    )


def test_what_is_no_sum_stays_whole_outside() -> None:
    @wb.program
    def best(B: int = 5) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.normal(over=b)
        return {"where": x.argmax(over=b), "sum": x.sum(over=b)}

    program = taken(best(), Persist("b", 2))
    assert regions(program) == [["x", "sum.points"]]
    *_, kept = apply(best(), Persist("b", 2)).notes
    assert kept == "kept whole along b: x"
    assert_same_in_every_order(program, best(), {"B": 5})


def test_witness_of_a_refusal_is_wrong_in_another_order() -> None:
    refusal = check(coupled(), Persist("b", 2))
    assert refusal is not None and refusal.witness is not None and refusal.attempted is not None
    (loop,) = (x for x in loops(refusal.attempted.schedule) if x.apart)
    backwards = replaced(
        refusal.attempted.schedule,
        loop,
        replace(loop, apart=False, chunks=1, backwards=True),
    )
    assert_breaks(refusal.attempted, backwards, refusal.witness)
