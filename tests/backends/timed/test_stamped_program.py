"""Compiled programs with stamps: the same bits, every launch counted, all time accounted for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import compiled, other_bits, shared_cache
from workbench.algorithms import reinforce
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.timed.stamped_program import StampedProgram
from workbench.backends.timed.stamps import TimedIteration, TimedLaunch
from workbench.codegen.stamps.segments import stamped
from workbench.errors import RunError
from workbench.program.values import Program
from workbench.transforms import Persist

SIZES = {"B": 21, "I": 3, "T": 5}


@wb.program
def walk(B: int = 2, T: int = 4) -> dict[str, Any]:
    """Instances by the dozen."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = 1.0
    x[b, t + 1] = wb.tanh(x) + 0.5
    far = wb.where(x > 1.2, x, 0.0)
    return {"x": x, "far": far}


def with_stamps(program: Program, divided: bool = False) -> tuple[CompiledProgram, StampedProgram]:
    made = compiled(program)
    kernels = stamped(made.kernels)[0] if divided else made.kernels
    timed = StampedProgram(program, kernels, made.compiler)
    with shared_cache():
        made.prepare()
        timed.prepare()
    return made, timed


@pytest.fixture(scope="module")
def in_blocks() -> Program:
    return wb.variant(reinforce(hidden=(20,))).apply(Persist("b", 16)).program


def test_launches_are_counted_by_kernel() -> None:
    _, timed = with_stamps(walk())
    run = timed.timed({"B": 3, "T": 7}, 0, "float32")
    names = [kernel.statements for kernel in timed.kernels.kernels]
    # as written each instance is a launch
    expected = {("x[0]",): 3, ("x[t+1]",): 3 * 7, ("far",): 3 * 7}
    assert dict(zip(names, run.calls, strict=True)) == expected
    assert run.made == run.calls


@pytest.mark.parametrize("divided", [False, True])
def test_a_run_with_stamps_computes_the_same_bits(in_blocks: Program, divided: bool) -> None:
    plain, timed = with_stamps(in_blocks, divided)
    run = timed.timed(SIZES, 3, "float32")
    assert list(other_bits(run.execution.outputs, plain.run(SIZES, 3).outputs)) == []


def test_threads_are_timed_from_outside(in_blocks: Program) -> None:
    plain, timed = with_stamps(in_blocks)
    one, two = (timed.timed(SIZES, 3, "float32", threads) for threads in (1, 2))
    assert one.calls == two.calls
    assert list(other_bits(two.execution.outputs, plain.run(SIZES, 3).outputs)) == []


def test_stamps_inside_count_the_blocks_and_steps_of_an_episode(in_blocks: Program) -> None:
    _, timed = with_stamps(in_blocks, divided=True)
    _, segments = stamped(compiled(in_blocks).kernels)
    run = timed.timed(SIZES, 0, "float32")
    inside = run.calls[len(timed.kernels.kernels) :]
    blocks, updates, steps = 2, 3, 5  # of 21 environments, 16 in a block
    for segment, calls in zip(segments, inside, strict=True):
        assert calls == blocks * updates * (steps if "t" in segment.ranges else 1)


def test_the_time_of_a_run_is_that_of_its_kernels_and_what_is_between() -> None:
    _, timed = with_stamps(walk())
    run = timed.timed({"B": 30, "T": 70}, 0, "float32")
    assert all(seconds > 0 for seconds in run.seconds)
    assert run.cost > 0
    assert run.between > 0
    assert sum(run.seconds) + run.between == pytest.approx(run.execution.seconds)
    assert sum(run.net) <= sum(run.seconds)
    assert run.total == pytest.approx(run.execution.seconds - run.cost * (2 * 30 * 70 + 30))


def test_launches_follow_each_other_up_to_a_number() -> None:
    _, timed = with_stamps(walk())
    run = timed.timed({"B": 3, "T": 7}, 0, "float32", launches=10)
    assert len(run.log) == 10
    launches = [entry for entry in run.log if isinstance(entry, TimedLaunch)]
    numbers = [launch.number for launch in launches]
    assert numbers[0] == 0 and set(numbers) <= {0, 1, 2}
    times = [time for launch in launches for time in (launch.begin, launch.end)]
    assert times == sorted(times) and times[0] >= 0
    np.testing.assert_array_equal(run.calls, [3, 21, 21])


def test_iterations_of_loops_are_told_with_their_values() -> None:
    _, timed = with_stamps(walk())
    run = timed.timed({"B": 3, "T": 4}, 0, "float32", launches=1000)
    begun = [entry for entry in run.log if isinstance(entry, TimedIteration)]
    of = {loop: [e.value for e in begun if e.loop == loop] for loop in {e.loop for e in begun}}
    assert of[0] == [0, 1, 2]
    assert of[1] == [*range(4)] * 3  # within each b
    assert [entry.begin for entry in run.log] == sorted(entry.begin for entry in run.log)
    at = run.log.index(next(e for e in begun if e.loop == 0))
    assert isinstance(run.log[at + 1], TimedLaunch)  # x[0] of the first b


def test_what_stops_a_run_stops_a_stamped_one() -> None:
    @wb.program
    def looked_up(N: int = 3) -> dict[str, Any]:
        n = wb.dim(n=N)
        x = wb.uniform(over=n)
        k = wb.cast(wb.floor(4.0 + wb.uniform(over=n)), int)
        return {"y": wb.gather(x, n=k)}

    _, timed = with_stamps(looked_up())
    with pytest.raises(RunError, match="outside"):
        timed.timed(None, 0, "float32")
