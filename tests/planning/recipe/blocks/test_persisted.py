"""The recipe for compiled kernels: blocks of what is independent, by cores and caches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import workbench as wb
from tests.benchmarks.tables import learning
from tests.programs import PROGRAMS, returns
from workbench.algorithms import a2c, ppo, reinforce
from workbench.codegen.kernels import program_kernels
from workbench.codegen.run_memory import run_memory
from workbench.environments import CartPole
from workbench.errors import WorkbenchError
from workbench.measure.checking.check import check
from workbench.planning.cost.kernels.own_bytes import least_own_bytes, most_own_bytes
from workbench.planning.machine.calibrated import machine
from workbench.planning.recipe.blocks import persisted, recomputed
from workbench.planning.recipe.blocks.persisted import runs_for
from workbench.planning.recipe.blocks.recomputed import own_bytes_of
from workbench.planning.recipe.judging import Judge, JudgedPlan
from workbench.planning.recipe.plan import Plan
from workbench.processor import CORE_CACHE_VARIABLE
from workbench.program.sizes import resolve
from workbench.transforms import (
    Contract,
    Donate,
    Incrementalize,
    Persist,
    Recompute,
    Swap,
    Vectorize,
)
from workbench.transforms.step.transform import Rewritten
from workbench.variants.variant import Variant, optimize, variant

SMALL = {"B": 2, "I": 2, "T": 4, "hidden": (3,), "environment": CartPole(time_limit=3)}
CASES = {name: PROGRAMS[name][0] for name in PROGRAMS} | {
    "reinforce": lambda: reinforce(**SMALL),
    "reinforce, n steps": lambda: reinforce(**SMALL, estimator="n_step", n=2),
    "reinforce, lambda": lambda: reinforce(**SMALL, estimator="td_lambda"),
    "a2c": lambda: a2c(**SMALL),
    "ppo": lambda: ppo(**SMALL, E=2, M=2),
}


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte for each core."""
    monkeypatch.setenv(CORE_CACHE_VARIABLE, str(1 << 20))


def found(program: Any, threads: int = 1, **more: Any) -> Variant:
    return optimize(program, backend="native", threads=threads, **more)


@pytest.mark.parametrize("name", CASES)
def test_what_is_found_computes_what_the_equations_mean(name: str) -> None:
    chosen = found(CASES[name]())
    assert check(chosen, "numpy", "float64").passed
    assert chosen.root.replay(chosen.to_json()).program == chosen.program


@pytest.mark.parametrize("name", ["small_ppo", "small_reinforce"])
def test_what_is_found_computes_it_as_compiled_code(name: str) -> None:
    assert check(found(CASES[name]()), "native", "float64").passed


def test_environments_and_samples_run_in_blocks_of_four_vectors_of_lanes() -> None:
    chosen = found(ppo(), sizes={"B": 512})
    assert chosen.steps == (Persist("b", 64, 2), Persist("k", 64, 2), Contract(), Donate())


def test_blocks_are_smaller_where_their_memory_exceeds_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {"B": 512, "T": 100}
    lifted = Incrementalize("worth", "t")
    whole = found(reinforce(), sizes=sizes)
    assert whole.steps == (lifted, Persist("b", 16, 2), Contract(), Donate())
    monkeypatch.setenv(CORE_CACHE_VARIABLE, str(64 << 20))
    assert found(reinforce(), sizes=sizes).steps[1] == Persist("b", 64, 2)


def in_blocks(program: Any, size: int) -> tuple[Plan, Judge]:
    """The plan in blocks of a size, before memory is donated, and its judge."""
    judge = Judge(machine("native"), resolve(program.equations), "float32", 1)
    blocks = dict.fromkeys([d for d in ("b", "k") if d in program.dim], size)
    runs = dict.fromkeys(blocks, 8)
    return persisted.in_blocks(persisted.recurrent(Plan(program)), blocks, runs), judge


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [16, 32, 64])
def test_bytes_of_a_block_are_within_bounds_that_are_told_before_its_kernels_are_made(
    name: str, size: int
) -> None:
    plan, judge = in_blocks(CASES[name](), size)
    most = most_own_bytes(plan.folded.program, judge.sizes, "float32")
    assert least_own_bytes(plan.program, "float32") <= own_bytes_of(plan, judge) <= most


@pytest.mark.parametrize("name", CASES)
def test_bytes_of_a_block_are_those_of_a_run(name: str) -> None:
    plan, judge = in_blocks(CASES[name](), 16)
    whole = run_memory(program_kernels(plan.stored.program), judge.sizes, "float32")
    assert own_bytes_of(plan, judge) == whole.own_bytes


@pytest.mark.parametrize("name", CASES)
def test_dimensions_for_blocks_are_those_along_which_nothing_needs_anything_else(name: str) -> None:
    program = CASES[name]()
    for step in Vectorize.candidates(program):
        found = step.attempt(program)
        assert step.is_whole(program) == (isinstance(found, Rewritten) and not found.notes), step


def test_the_bytes_told_before_are_most_of_what_a_network_keeps() -> None:
    plan, judge = in_blocks(ppo(), 32)
    assert least_own_bytes(plan.program, "float32") > 0.65 * own_bytes_of(plan, judge)
    assert least_own_bytes(plan.program, "float64") == pytest.approx(
        2 * least_own_bytes(plan.program, "float32"), rel=0.01
    )


def test_kernels_are_made_only_where_bounds_do_not_tell_whether_blocks_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Plan] = []

    def counting(plan: Plan, judge: Judge) -> int:
        made.append(plan)
        return own_bytes_of(plan, judge)

    monkeypatch.setattr(persisted, "own_bytes_of", counting)
    for cache, size, judged in (
        (600_000, 64, 0),
        (100_000, 64, 1),
        (60_000, 32, 1),
        (30_000, 16, 1),
    ):
        monkeypatch.setenv(CORE_CACHE_VARIABLE, str(cache))
        made.clear()
        chosen = found(ppo(), sizes={"B": 512})
        assert chosen.steps[:2] == (Persist("b", size, 2), Persist("k", size, 2))
        assert len(made) == judged


def test_what_costs_little_is_computed_again_where_no_block_fits_into_the_cache() -> None:
    """The first layer is: its products are of four numbers each, the second's of sixty-four."""
    sizes = {"B": 256, "T": 1000, "I": 1}
    chosen = found(reinforce(), sizes=sizes, threads=2)
    again = Recompute("policy.hidden_1")
    lifted, blocks = Incrementalize("worth", "t"), Persist("b", 16, 8)
    assert chosen.steps == (lifted, blocks, again, Contract(), Donate())
    kept = chosen.root.replay((lifted, blocks, Contract(), Donate()))
    peaks, seconds = zip(
        *(
            (found.peak_bytes["device"], found.seconds)
            for found in (v.predict(sizes, "native", threads=2) for v in (kept, chosen))
        ),
        strict=True,
    )
    assert peaks[1] < 16e6 < peaks[0]
    assert seconds[1] < 1.125 * seconds[0]
    assert "4.1 MB of it are in no cache until they are read" in chosen.explain()


def test_blocks_are_larger_where_no_array_that_fills_the_cache_is_kept() -> None:
    """Products over more lanes gain about as much as computing both layers again costs."""
    sizes = {"B": 256, "T": 1000, "I": 1}
    program = reinforce(hidden=(256, 256))
    chosen = found(program, sizes=sizes, threads=2)
    again = (Recompute("policy.hidden_2"), Recompute("policy.hidden_1"))
    lifted, blocks = Incrementalize("worth", "t"), Persist("b", 64, 2)
    assert chosen.steps == (lifted, blocks, *again, Contract(), Donate())
    assert chosen.predict(sizes, "native", threads=2).peak_bytes["device"] < 20e6


def test_nothing_is_computed_again_that_a_cache_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CORE_CACHE_VARIABLE, str(16 << 20))
    chosen = found(reinforce(), sizes={"B": 256, "T": 1000}, threads=2)
    assert not any(isinstance(step, Recompute) for step in chosen.steps)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_what_is_computed_again_is_what_the_equations_mean(
    monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setenv(CORE_CACHE_VARIABLE, "10")
    monkeypatch.setattr(recomputed, "LIMIT", 1000.0)
    chosen = found(reinforce(**SMALL))
    again = {step.array for step in chosen.steps if isinstance(step, Recompute)}
    assert again > {"policy.hidden_1"}
    assert check(chosen, backend, "float64").passed


def test_deeper_networks_take_no_more_predictions_than_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[Sequence[str]] = []
    without = recomputed._without

    def counting(plan: Plan, arrays: Sequence[str], kept: JudgedPlan) -> Plan | None:
        tried.append(arrays)
        return without(plan, arrays, kept)

    monkeypatch.setattr(recomputed, "_without", counting)
    found(reinforce(hidden=(64, 64, 64)), sizes={"B": 256, "T": 1000}, threads=2)
    *one_by_one, larger = tried
    assert len({arrays[-1] for arrays in one_by_one}) == len(one_by_one) == len(larger)


def test_each_thread_has_a_block_where_there_are_enough_environments() -> None:
    program = ppo()
    blocks = {
        (B, threads): found(program, threads, sizes={"B": B, "T": 128}).steps[0]
        for B, threads in ((64, 1), (64, 2), (512, 8), (512, 16), (4, 1), (4, 2), (4, 8), (20, 2))
    }
    assert blocks == {
        (64, 1): Persist("b", 64, 2),
        (64, 2): Persist("b", 32, 2),
        (512, 8): Persist("b", 64, 8),
        (512, 16): Persist("b", 32, 16),
        (4, 1): Persist("b", 16, 2),
        (4, 2): Persist("b", 16, 2),
        (4, 8): Persist("b", 16, 8),
        (20, 2): Persist("b", 16, 2),
    }


@pytest.mark.parametrize(("workers", "size"), [(1, 1), (2, 16), (125, 32)])
def test_the_only_value_of_a_dimension_is_a_block_of_one(workers: int, size: int) -> None:
    chosen = found(learning(), sizes={"W": workers}, threads=2)
    assert [s.size for s in chosen.steps if isinstance(s, Persist)] == [size]


@pytest.mark.parametrize("threads", [2, 4])
def test_what_is_added_up_is_shared_out_to_every_thread(threads: int) -> None:
    sizes = {"B": 32 * threads, "T": 128}
    chosen = found(ppo(), threads, sizes=sizes)
    made = program_kernels(chosen.program)
    known = resolve(chosen.program.equations, sizes)
    runs = [k.dealing.chunks.evaluate(known) for k in made.kernels if k.dealing]
    assert runs and min(runs) >= threads


def test_each_thread_has_runs_to_share_where_these_have_two_blocks() -> None:
    runs = {threads: runs_for(1000, threads) for threads in (1, 2, 3, 4, 5, 8, 9, 64)}
    assert runs == {1: 2, 2: 8, 3: 16, 4: 16, 5: 16, 8: 16, 9: 32, 64: 128}
    numbers = (1, 7, 8, 15, 16, 32)
    few = {(n, threads): runs_for(n, threads) for n in numbers for threads in (1, 2, 8)}
    assert [few[n, 1] for n in numbers] == [2, 2, 2, 2, 2, 2]
    assert [few[n, 2] for n in numbers] == [2, 2, 4, 4, 8, 8]
    assert [few[n, 8] for n in numbers] == [8, 8, 8, 8, 8, 16]


def test_reason_of_blocks_says_in_how_many_runs_they_add_up() -> None:
    said = "in 2 runs, which are shared out and which are added up in order"
    assert said in found(returns()).explain()


def test_no_axis_is_taken_along_what_a_loop_carries() -> None:
    for name in ("ppo", "a2c", "reinforce"):
        steps = found(CASES[name]()).steps
        assert not any(isinstance(step, Vectorize) for step in steps)
        assert {step.dim for step in steps if isinstance(step, Persist)} <= {"b", "k"}


def test_growing_ranges_are_recurrences_and_windows_are_not() -> None:
    assert Incrementalize("to_go", "t") in found(returns()).steps
    window = found(reinforce(**SMALL, estimator="n_step", n=2))
    assert not any(isinstance(step, Incrementalize) for step in window.steps)


def test_every_step_says_why() -> None:
    chosen = found(ppo(), sizes={"B": 64})
    reasons = [v.because for v in chosen.lineage[1:]]
    assert all(reasons)
    assert "a block of 64 along b" in reasons[0]


def test_memory_that_must_not_be_exceeded_is_not() -> None:
    sizes = {"B": 64, "T": 100, "I": 2}
    program = reinforce()
    fast = found(program, sizes=sizes).predict(sizes, "native", threads=1)
    most = int(0.8 * fast.peak_bytes["device"])
    tight = found(program, sizes=sizes, capacity=most)
    assert tight.predict(sizes, "native", threads=1).peak_bytes["device"] <= most
    assert any(isinstance(step, Swap) for step in tight.steps)
    with pytest.raises(WorkbenchError, match="does not fit into 1 kB"):
        found(program, sizes=sizes, capacity=1000)


def test_a_run_takes_the_recipe_of_its_backend() -> None:
    ran = wb.run(returns(), backend="native", sizes={"B": 4, "T": 6}, progress=False)
    assert any(isinstance(step, Persist) for step in ran.variant.steps)
    assert ran.variant == variant(returns()).replay(list(ran.variant.steps))
