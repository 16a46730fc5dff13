"""Arrays in host memory on a GPU: copies of slices run beside kernels, as late as events allow or
as early, and the results are those of compiled C to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import ORDERS, SEED, FibreDriver, fibres, watched
from tests.codegen.cuda.slices.test_sliced import in_lanes, stored
from tests.golden_files import GoldenFiles
from tests.lowering.instances.test_swapping import swapped, windows
from tests.lowering.memory.test_prefetching import there_and_back
from tests.native_runs import run_native
from tests.programs import PROGRAMS as SMALL
from workbench.algorithms import reinforce
from workbench.backends.cuda import run as running
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.environments import Noisy
from workbench.errors import RunError
from workbench.planning.cost.counted import counted
from workbench.planning.cost.prediction import Prediction, predict
from workbench.planning.machine.defaults import DEFAULTS
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Contract, Persist, Tile, Vectorize

SIZES = {"I": 3, "B": 3, "T": 5}


def driver_of(made: CudaProgram) -> FibreDriver:
    assert isinstance(made.driver, FibreDriver)
    return made.driver


def sizes_of(program: Program, sizes: dict[str, int]) -> dict[str, int]:
    return {name: n for name, n in sizes.items() if name in {p.name for p in program.parameters}}


def has_the_bits_of_compiled_c(program: Program, sizes: dict[str, int] = SIZES) -> None:
    """In any order of streams."""
    sizes = sizes_of(program, sizes)
    wanted = run_native(program, sizes, SEED, "float32")
    made = fibres(program, sizes)
    for order in ORDERS:
        driver_of(made).begin_again(order)
        found, fault = watched(made, sizes)
        assert fault == ""
        for name, values in wanted.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)


PROGRAMS = {
    "stored": lambda: in_lanes(stored()),
    "there and back": lambda: in_lanes(there_and_back()),
    "windows": lambda: in_lanes(windows()),
    "as written": stored,
    "blocks one after the other": lambda: (
        wb.variant(windows())
        .apply(Vectorize("b"))
        .apply(Vectorize("t", ("x", "z", "y")))
        .apply(Tile("t", 2, ("x",)))
        .apply(Tile("t", 2, ("z", "y")))
        .program
    ),
    "large observations": lambda: (
        wb.variant(reinforce(environment=Noisy((3, 2, 2)), hidden=(4,)))
        .apply(Vectorize("b"))
        .apply(Contract())
        .program
    ),
    "ranges": lambda: SMALL["ranges"][0](),
    "staggered": lambda: SMALL["staggered"][0](),
}


WITHOUT = ("stored", "there and back")
"""Programs whose copies are waited for at once, of those that have no slices early; the others run
in `make kernels`.
"""


@pytest.mark.parametrize(
    ("name", "n"),
    [
        *((name, 2) for name in PROGRAMS),
        *((name, 0) for name in WITHOUT),
        *(
            pytest.param(name, 0, marks=pytest.mark.kernels)
            for name in PROGRAMS
            if name not in WITHOUT
        ),
    ],
)
def test_results_are_those_of_arrays_on_the_device(name: str, n: int) -> None:
    has_the_bits_of_compiled_c(swapped(PROGRAMS[name](), prefetch=n))


@pytest.mark.parametrize("T", [1, 2, 3])
def test_rings_may_have_more_slices_than_there_are_iterations(T: int) -> None:
    for n in (1, 2, 5):
        program = swapped(in_lanes(stored()), "x", prefetch=n)
        has_the_bits_of_compiled_c(program, {"I": 1, "B": 2, "T": T})


def test_blocks_of_a_kernel_touch_host_memory_between_copies() -> None:
    chosen = wb.variant(stored()).apply(Persist("b", 2, statements=("r",)))
    has_the_bits_of_compiled_c(swapped(chosen.program, "x", prefetch=1))


# -- events ----------------------------------------------------------------------------------------


def test_copies_run_beside_kernels_in_a_graph(golden: GoldenFiles) -> None:
    """What is asked for is as stored: the copy of the next slice is asked for before a kernel reads
    the present one.
    """
    folded = wb.variant(stored()).apply(Vectorize("b")).apply(Contract())
    made = fibres(swapped(folded.program, "x", prefetch=1), SIZES)
    watched(made, SIZES)
    log = driver_of(made).log
    assert log.count("begin graph") == 1
    golden("kernels/swapped_launches.txt", "\n".join(log) + "\n")


@pytest.mark.parametrize(
    ("name", "n", "most"),
    [
        ("stored", 0, running.MOST_LAUNCHES),
        ("stored", 1, running.MOST_LAUNCHES),
        ("stored", 1, 7),
        ("there and back", 0, 7),
        ("there and back", 1, running.MOST_LAUNCHES),
    ],
)
def test_each_wait_for_an_event_is_needed(
    name: str, n: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left out, it is noticed in one of the orders: results differ, or CUDA refuses the graph."""
    monkeypatch.setattr(running, "MOST_LAUNCHES", most)
    program = swapped(PROGRAMS[name](), "x", prefetch=n)
    sizes = sizes_of(program, {"I": 2, "B": 2, "T": 4})
    wanted = run_native(program, sizes, SEED, "float32")
    made = fibres(program, sizes)
    watched(made, sizes)
    count = driver_of(made).waits
    assert count > 10 and not any(_is_noticed(made, sizes, wanted, None))
    unnoticed = [k for k in range(count) if not any(_is_noticed(made, sizes, wanted, k))]
    assert unnoticed == []


def _is_noticed(
    made: CudaProgram, sizes: dict[str, int], wanted: dict[str, Any], left_out: int | None
) -> Iterator[bool]:
    for order in ORDERS:
        driver_of(made).begin_again(order, left_out)
        try:
            found, fault = watched(made, sizes)
        except RunError:
            yield True
            continue
        yield fault != "" or any(
            not np.array_equal(found[name], values) for name, values in wanted.items()
        )


# -- memory and prediction -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_is_predicted_to_the_byte_and_less_than_without(dtype: str, n: int) -> None:
    whole, less = in_lanes(stored()), swapped(in_lanes(stored()), "x", prefetch=n)
    given = {"I": 2, "B": 8, "T": 40}
    peaks = []
    for program in (whole, less):
        made, sizes = fibres(program, given), resolve(program.equations, given)
        peak = made.run(given, 0, dtype).peak
        assert peak == counted(program, "cuda").peak_bytes(sizes, dtype, 1)
        assert peak["device"] == driver_of(made).most_bytes
        peaks.append(peak)
    item = {"float32": 4, "float64": 8}[dtype]
    assert peaks[1]["host"] - peaks[0]["host"] >= 41 * 8 * 4 * item
    assert peaks[0]["device"] - peaks[1]["device"] > (41 - 4 - 2 * (n + 1)) * 8 * 4 * item


def test_a_profile_counts_kernels_and_not_copies(gpu: FibreDriver) -> None:
    chosen = wb.variant(swapped(in_lanes(stored()), "x", prefetch=1))
    found = wb.profile(chosen, "cuda", {"B": 3, "I": 2, "T": 4}, progress=False)
    assert any("bytes to device" in line for line in gpu.log)
    assert sum(kernel.launches for kernel in found.kernels) == len(found.launches)


def test_copies_are_predicted_and_run_beside_kernels_from_rings() -> None:
    given = {"I": 2, "B": 4096, "T": 400}
    slower = [
        wb.variant(in_lanes(stored())).predict(given, backend="cuda").seconds,
        *(_seconds(n, given) for n in (1, 0)),
    ]
    assert slower == sorted(slower) and slower[0] < slower[2]


def test_copies_of_both_ways_are_predicted_to_run_beside_each_other() -> None:
    given = {"I": 1, "B": 8, "T": 40}
    program = swapped(in_lanes(stored()), "x", prefetch=1)
    made = fibres(program, given)
    watched(made, given)
    there, back = (
        sum(int(line.split()[1]) for line in driver_of(made).log if "bytes" + way in line)
        for way in (" to device", " to host")
    )
    slow = replace(DEFAULTS["cuda"], bus=1.0)
    found = predict(counted(program, "cuda"), resolve(program.equations, given), slow)
    assert 0.9 * max(there, back) < found.seconds < 1.1 * max(there, back)
    assert min(there, back) > 0.4 * max(there, back)


def test_arrays_that_are_not_early_are_told() -> None:
    told = [str(_predicted(n, {"I": 1, "B": 8, "T": 4})) for n in (0, 1)]
    assert "not early: x for x[t+1], r[T]" in told[1]
    assert "not early" not in told[0]


def _seconds(n: int, given: dict[str, int]) -> float:
    return _predicted(n, given).seconds


def _predicted(n: int, given: dict[str, int]) -> Prediction:
    program = swapped(in_lanes(stored()), "x", prefetch=n)
    sizes = resolve(program.equations, given)
    return predict(counted(program, "cuda"), sizes, DEFAULTS["cuda"])
