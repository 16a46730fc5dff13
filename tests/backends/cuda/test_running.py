"""What a run on a GPU does besides computing: graphs, memory, checks, values and objects from
outside, Ctrl-C. Kernels run as fibres, when it is waited for them and not before.
"""

from __future__ import annotations

import re
import signal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import SEED, FibreDriver, fibres, watched
from tests.environments.playing import choice, restarting
from tests.golden_files import GoldenFiles
from tests.native_runs import run_native, shared_cache
from workbench.algorithms import ppo, reinforce
from workbench.backends import get
from workbench.backends.cuda import run as running
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.environments import Gymnasium
from workbench.errors import OutOfMemoryError, RunError
from workbench.planning.cost.counted import counted
from workbench.program.sizes import resolve
from workbench.transforms import Contract, Donate, Persist, Swap
from workbench.variants.variant import Variant, variant

SIZES = {"B": 3, "I": 3, "T": 4}


def in_blocks(program: wb.Program, size: int = 16) -> Variant:
    chosen = variant(program)
    for dim in ("b", "k"):
        if dim in program.dim:
            chosen = chosen.apply(Persist(dim, size))
    return chosen.apply(Contract()).apply(Donate())


def driver_of(made: CudaProgram) -> FibreDriver:
    assert isinstance(made.driver, FibreDriver)
    return made.driver


def same(found: Any, wanted: Any) -> None:
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


# -- graphs ----------------------------------------------------------------------------------------


def test_an_iteration_is_one_graph_that_is_replayed(golden: GoldenFiles) -> None:
    """What is asked for is as stored: an update waits once, and has three things outside graphs."""
    program = in_blocks(ppo(hidden=(4,))).program
    sizes = {"B": 20, "I": 3, "T": 4, "M": 2, "E": 2}
    made = fibres(program, sizes)
    found, fault = watched(made, sizes)
    assert fault == ""
    same(found, run_native(program, sizes, SEED, "float32"))
    log = driver_of(made).log
    golden("kernels/ppo_launches.txt", "\n".join(log) + "\n")
    replays = [k for k, line in enumerate(log) if line.startswith("replay")]
    assert len(replays) == 3 and log.count("begin graph") == 1
    between = log[replays[1] + 1 : replays[2]]
    assert [re.sub(r" \d+ bytes", "", line) for line in between] == ["copy", "wait", "copy"]


def test_graphs_launch_what_runs_launch_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    program = in_blocks(reinforce(hidden=(4,))).program
    launches = []
    for most in (running.MOST_GRAPHS, 0):
        monkeypatch.setattr(running, "MOST_GRAPHS", most)
        made = fibres(program, SIZES)
        with_graphs, _ = watched(made, SIZES)
        same(with_graphs, run_native(program, SIZES, SEED, "float32"))
        launches.append(_launches(driver_of(made).log))
    assert launches[0] == launches[1]


def _launches(log: list[str]) -> list[str]:
    """What was launched, graphs unrolled."""
    found: list[str] = []
    graph: list[str] | None = None
    last: list[str] = []
    for line in log:
        if line == "begin graph":
            graph = []
        elif line == "end graph":
            assert graph is not None
            last, graph = graph, None
        elif line.startswith("replay"):
            found += last
        elif line.startswith("launch"):
            (found if graph is None else graph).append(line)
    return found


def test_long_iterations_are_several_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST_LAUNCHES", 5)
    program = variant(reinforce(hidden=(4,))).program
    made = fibres(program, SIZES)
    found, fault = watched(made, SIZES)
    assert fault == ""
    same(found, run_native(program, SIZES, SEED, "float32"))
    assert driver_of(made).log.count("begin graph") > 1


@wb.program
def growing(I: int = 5, N: int = 3) -> dict[str, Any]:
    """Each update has a longer sum."""
    i, n = wb.dims(i=I, n=N)
    x = wb.uniform(over=(i, n))
    total = wb.recurrent("total", over=(i, n))
    total[0, n] = x[0, n]
    total[i + 1, n] = 0.5 * x[0 : i + 1, n].sum() + total
    return {"total": total}


def test_iterations_that_differ_have_graphs_of_their_own() -> None:
    program = growing()
    made = fibres(program)
    found, fault = watched(made, {})
    assert fault == ""
    same(found, run_native(program, {}, SEED, "float32"))


# -- what the host does ----------------------------------------------------------------------------


def test_external_objects_are_called_between_launches() -> None:
    program = restarting(Gymnasium("CartPole-v1"), choice(2), I=2, T=5)
    found, fault = watched(fibres(program), {}, "float64")
    assert fault == ""
    same(found, run_native(program, {}, SEED))


def test_an_algorithm_learns_in_an_environment_outside() -> None:
    program = reinforce(environment="Gymnasium:CartPole-v1", hidden=(4,))
    found, fault = watched(fibres(program, SIZES), SIZES, "float64")
    assert fault == ""
    same(found, run_native(program, SIZES, SEED))


@pytest.mark.usefixtures("gpu")
def test_run_goes_on_from_a_file(tmp_path: Path) -> None:
    sizes = {"B": 3, "T": 5}
    program = variant(reinforce(hidden=(4,)))
    whole = wb.run(program, "cuda", sizes=sizes | {"I": 4}, progress=False)
    part = wb.run(program, "cuda", sizes=sizes | {"I": 2}, progress=False)
    part.save(tmp_path / "part.npz")
    rest = wb.run(
        program,
        "cuda",
        sizes=sizes | {"I": 2},
        progress=False,
        parameters=tmp_path / "part.npz",
    )
    np.testing.assert_array_equal(whole["loss"][2:], rest["loss"])


def test_arrays_in_host_memory_have_slices_on_the_device() -> None:
    chosen = variant(reinforce(hidden=(4,))).apply(Swap("state"))
    made = fibres(chosen.program, SIZES)
    found, fault = watched(made, SIZES, "float64")
    assert fault == ""
    same(found, run_native(chosen.program, SIZES, SEED))
    state = chosen.program.array["state"]
    elements = np.prod([(b - a).evaluate(SIZES) for a, b in state.extent]) * state.shape[0]
    assert made.run(SIZES, SEED, "float64").peak["host"] >= elements * 8
    assert any(line.endswith(" to host") for line in driver_of(made).log)


# -- ending early ----------------------------------------------------------------------------------


def test_progress_is_told_after_every_iteration() -> None:
    program, seen = reinforce(hidden=(4,)), list[tuple[int, int, list[float]]]()
    found, _ = watched(
        fibres(program, SIZES),
        SIZES,
        on_progress=lambda done, all_of_them, outputs: seen.append(
            (done, all_of_them, outputs["loss"].tolist())
        ),
    )
    losses = found["loss"].tolist()
    assert seen == [(k, 3, losses[:k]) for k in (1, 2, 3)]


def test_ctrl_c_ends_a_run_behind_an_iteration() -> None:
    program = reinforce(hidden=(4,))

    def interrupt(done: int, *_: object) -> None:
        if done == 2:
            signal.raise_signal(signal.SIGINT)  # not later, as one that another thread gets

    found, fault = watched(fibres(program, SIZES), SIZES, on_progress=interrupt)
    assert fault == ""
    wanted = run_native(program, SIZES, SEED, "float32")
    np.testing.assert_array_equal(found["loss"], wanted["loss"][:2])


# -- memory ----------------------------------------------------------------------------------------


@cache
def idle() -> CudaProgram:
    """PPO, of which memory is looked at and nothing runs."""
    made = fibres(in_blocks(ppo(hidden=(20,))).program)
    driver_of(made).idle = True
    return made


@pytest.mark.xdist_group("memory of ppo")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_is_predicted_to_the_byte(dtype: str) -> None:
    made = idle()
    program, told = made.program, counted(made.program, "cuda")
    for given in ({"B": 2, "I": 2, "T": 8}, {"B": 33, "I": 1, "T": 5, "M": 3}):
        sizes = resolve(program.equations, given)
        driver_of(made).most_bytes = 0
        peak = made.run(given, 0, dtype).peak
        assert peak == told.peak_bytes(sizes, dtype, 1)
        assert peak["device"] == driver_of(made).most_bytes
        assert driver_of(made).bytes == 0  # it goes back at once


def test_more_memory_than_the_capacity_is_refused() -> None:
    made = fibres(reinforce())
    with pytest.raises(OutOfMemoryError, match=r"device out of memory.*the largest: .* MB"):
        made.run({"B": 64, "T": 100}, capacity=1_000_000)


def test_more_memory_than_is_free_is_refused_and_the_next_run_works() -> None:
    made = fibres(reinforce(hidden=(4,)))
    with pytest.raises(OutOfMemoryError, match=r"the largest: .* GB.* free") as error:
        made.run({"B": 4096, "I": 1, "T": 4000})
    assert "state" in error.value.arrays[0]
    assert made.run(SIZES).completed == 3


def test_blocks_with_more_shared_memory_than_there_is_are_refused() -> None:
    chosen = in_blocks(reinforce(hidden=(256, 256)), 64)
    made = fibres(chosen.program, SIZES)
    driver_of(made).block_bytes = 100 << 10
    said = r'102 kB here \(167 kB on sm_80.*; Persist\("b", 32, 16\) takes less'
    with pytest.raises(RunError, match=f"of shared memory for each block.* {said}"):
        made.prepare()


# -- through the front door ------------------------------------------------------------------------


def test_variants_run_are_measured_and_predicted_on_cuda(gpu: FibreDriver) -> None:
    chosen = in_blocks(reinforce(hidden=(4,)))
    with shared_cache():
        result = wb.run(chosen, "cuda", sizes=SIZES, progress=False)
    same(dict(result), run_native(chosen.program, SIZES, dtype="float32"))
    prediction = chosen.predict(SIZES, backend="cuda")
    gpu.log.clear()
    assert get("cuda").compile(chosen.program).run(SIZES).peak == prediction.peak_bytes
    assert "published peaks of an H100" in str(prediction)
    launches = [line for line in _launches(gpu.log) if line.startswith("launch")]
    assert prediction.launches == len(launches)


@pytest.mark.usefixtures("gpu")
def test_a_profile_tells_what_each_function_took() -> None:
    chosen = in_blocks(reinforce(hidden=(4,)))
    found = wb.profile(chosen, "cuda", SIZES, progress=False)
    names = {kernel.name for kernel in chosen.kernels("cuda")}
    assert {kernel.name for kernel in found.kernels} <= names
    assert sum(kernel.launches for kernel in found.kernels) == len(found.launches)
    assert found.seconds == pytest.approx(sum(part.seconds for part in found.parts))
    assert {part.scope for part in found.parts} >= {"acting", "learning", "environment"}
    slowest = max(found.kernels, key=lambda kernel: kernel.seconds)
    assert slowest.seconds > 0 and slowest.name in repr(found)
