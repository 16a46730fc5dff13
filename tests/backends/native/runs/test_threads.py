"""Threads share out chunks of blocks: the bits are those of one thread, whatever fails or ends."""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import compiled, other_bits, run_interrupted, shared_cache
from workbench.algorithms import ppo, reinforce
from workbench.backends import get, threads
from workbench.backends.native import backend
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.numpy import NumPyBackend
from workbench.errors import RunError, WorkbenchError
from workbench.folders import CACHE_VARIABLE
from workbench.lowering.loops.records import Allocate, For, walk
from workbench.measure.rounds.measurement import from_json
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import (
    Accumulate,
    Contract,
    Distribute,
    Donate,
    Fuse,
    Persist,
    Swap,
)

Outputs = dict[str, Any]


def in_blocks(program: Program, chunks: int = 16) -> Program:
    variant = wb.variant(program)
    for dim in ("b", "k"):
        if dim in program.dim:
            variant = variant.apply(Persist(dim, 4, chunks))
    for step in (Contract(), Donate()):
        variant = variant.apply(step) if variant.check(step) is None else variant
    return variant.program


def prepared(program: Program, dtype: str = "float32") -> CompiledProgram:
    made = compiled(program)
    with shared_cache():
        made.prepare(dtype)
    return made


@pytest.mark.parametrize("chunks", [2, 3, 16])
@pytest.mark.parametrize(
    ("program", "sizes"),
    [
        (ppo(hidden=(5,)), {"B": 21, "I": 2, "T": 12, "M": 3}),
        (reinforce(hidden=(5,)), {"B": 41, "I": 3, "T": 9}),
    ],
)
def test_any_number_of_threads_gives_the_same_bits(
    program: Program, sizes: dict[str, int], chunks: int
) -> None:
    made = prepared(in_blocks(program, chunks))
    one = made.run(sizes, 3).outputs
    for number in (2, 3, 5):
        for _ in range(3):
            assert list(other_bits(made.run(sizes, 3, threads=number).outputs, one)) == []


def test_threads_that_are_not_told_to_share_all_give_the_same_bits() -> None:
    """As users run it: short launches are not shared, nor where that does not pay."""
    made = get("native").compile(in_blocks(ppo()))
    with shared_cache():
        made.prepare()
    sizes = {"B": 64, "I": 3, "T": 64}
    one = made.run(sizes, 3).outputs
    assert list(other_bits(made.run(sizes, 3, threads=2).outputs, one)) == []


@wb.program
def returns(B: int = 20, T: int = 6) -> Outputs:
    b, t = wb.dims(b=B, t=T)
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 1.0
    x = wb.uniform(over=(b, t))
    w = x * x
    s[b, t + 1] = 0.5 * s + w
    return {"m": (s[b, t:T] * w).sum().mean(over=(b, t))}


@wb.program
def ranges(T: int = 8) -> Outputs:
    """At each step a loop over fewer blocks than are dealt to chunks in all."""
    t, n = wb.dims(t=T, n=4 * T)
    x = wb.uniform(over=n)
    c = wb.recurrent("c", (), over=t)
    c[0] = 1.0
    y = (x[0 : 4 * t + 4] * c).sum()
    c[t + 1] = 0.01 * y
    return {"y": y, "c": c}


@wb.program
def shifted(B: int = 40, T: int = 30) -> Outputs:
    b, t = wb.dims(b=B, t=T)
    z = wb.uniform(over=(b, t))
    w = wb.exp(z)
    m = w.mean(over=b)
    c = wb.recurrent("c", (), over=t)
    c[0] = 1.0
    c[t + 1] = 0.5 * c + m
    e = wb.exp(wb.uniform(over=(b, t)) * c)
    mm = e.mean(over=b)
    return {"ahead": mm[wb.minimum(t + 2, T - 1)] * 2.0, "c": c}


def swapped() -> Program:
    """An array of one block lives on the host."""
    return wb.variant(returns()).apply(Persist("b", 4, 2)).apply(Swap("w")).program


def in_fewer_blocks() -> Program:
    root = wb.variant(ranges())
    (dim,) = (d for s in root.program.statements for d in s.reduction_dims)
    return root.apply(Accumulate(dim)).apply(Persist("n", 4, 2, statements=("y",))).program


def peeled() -> Program:
    """The loop over blocks is written several times, as the first turns of the loop around it are
    others: what one block needs is allocated outside of them all.
    """
    variant = wb.variant(shifted())
    for step in (
        Distribute(("z", "w", "m_sum", "m", "c[t+1]")),
        Persist("b", 4),
        Fuse(("w", "mm"), (("mm", 2),)),
        Fuse(("w", "e")),
        Contract(),
    ):
        variant = variant.apply(step)
    return variant.program


@pytest.mark.parametrize("made", [swapped, in_fewer_blocks, peeled])
def test_blocks_that_run_at_once_share_nothing(made: Callable[[], Program]) -> None:
    program = made()
    ready = prepared(program, "float64")
    wanted = NumPyBackend().compile(program).run(seed=3, dtype="float64").outputs
    for number in (1, 2, 4):
        for _ in range(3):
            found = ready.run(seed=3, dtype="float64", threads=number).outputs
            for name, values in wanted.items():
                np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)


def test_what_one_block_needs_is_its_own_wherever_it_is_allocated() -> None:
    loops = compiled(peeled()).loop_program
    blocks = [r for r in walk(loops.body) if isinstance(r, For) and r.apart]
    inside = {r.buffer.name for b in blocks for r in walk(b.body) if isinstance(r, Allocate)}
    assert len(blocks) > 1
    assert loops.own - inside


@wb.program
def looking_up(B: int = 64, N: int = 40) -> Outputs:
    """A block fails from the tenth environment on."""
    b, n = wb.dims(b=B, n=N)
    table = wb.uniform(over=n)
    place = 4 * wb.index(b) + wb.cast(0.0 * wb.uniform(over=b), "int32")
    return {"y": wb.gather(table, n=place)}


def test_the_first_failure_is_that_of_one_thread() -> None:
    program = in_blocks(looking_up())
    made = prepared(program)
    with pytest.raises(RunError) as by_numpy:
        NumPyBackend().compile(program).run()
    for number in (1, 2, 4):
        for _ in range(20):
            with pytest.raises(RunError) as error:
                made.run(threads=number)
            assert str(error.value) == str(by_numpy.value)
    assert "at n = 40, outside 0 to 39" in str(by_numpy.value)


def test_ctrl_c_ends_a_run_of_threads() -> None:
    made = prepared(in_blocks(reinforce()))
    run = run_interrupted(made, {"B": 64, "I": 100_000, "T": 100}, threads=2)
    assert 0 < run.completed < run.total
    assert run.outputs["loss"].shape == (run.completed,)


def test_ctrl_c_ends_a_run_inside_a_block() -> None:
    """A block of all steps of an episode lasts minutes here."""
    made = prepared(in_blocks(reinforce(hidden=(64, 64))))
    run = run_interrupted(made, {"B": 4, "I": 2, "T": 3_000_000})
    assert (run.completed, run.total) == (0, 2)
    assert run.seconds < 10


def test_no_thread_is_left_after_a_run() -> None:
    made = prepared(in_blocks(reinforce(hidden=(5,))))
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        pytest.skip("only Linux lists the threads of a process")
    before = len(list(tasks.iterdir()))
    made.run({"B": 16, "I": 2, "T": 5}, threads=4)
    assert len(list(tasks.iterdir())) == before


@pytest.mark.parametrize("number", [1, 2, 3])
def test_each_thread_has_memory_for_a_block(number: int) -> None:
    program = in_blocks(ppo(hidden=(20,)))
    made = prepared(program)
    sizes = {"B": 21, "I": 2, "T": 12, "M": 3}
    known = resolve(program.equations, sizes)
    peak = made.run(sizes, threads=number).peak_bytes
    assert peak == made.peak(known, "float32", number)
    own = made.memory(known, "float32")[0].own_bytes
    assert own > 0
    assert peak - made.peak(known, "float32", 1) == (number - 1) * own


def test_threads_that_the_system_does_not_start_are_said() -> None:
    made = prepared(in_blocks(reinforce(hidden=(5,))))
    dtype, (library, loaded) = next(iter(made._loaded.items()))

    class Refusing:
        """A library whose system starts two threads."""

        def __getattr__(self, name: str) -> Any:
            return getattr(loaded, name)

        @property
        def open_pool(self) -> Any:
            return lambda run, number: loaded.open_pool(run, ctypes.c_int64(2))

    made._loaded[dtype] = library, Refusing()
    with pytest.raises(RunError, match=r"started 2 of 3 threads; ask for fewer by threads="):
        made.run({"B": 16, "I": 2, "T": 5}, threads=3)


def test_no_two_threads_touch_an_element_at_once(repository: Path, tmp_path: Path) -> None:
    """ThreadSanitizer, which is part of gcc, sees no race."""
    gcc = shutil.which("gcc")
    asked = (str(gcc), "-print-file-name=libtsan.so")
    watching = subprocess.run(asked, capture_output=True, text=True).stdout.strip() if gcc else ""
    if not Path(watching).is_absolute():
        pytest.skip("there is no gcc with ThreadSanitizer")
    told = os.environ | {
        "LD_PRELOAD": watching,
        "TSAN_OPTIONS": "report_signal_unsafe=0",
        CACHE_VARIABLE: str(tmp_path),
    }
    command = (sys.executable, "-m", "tests.backends.native.runs.raced", str(gcc))
    done = subprocess.run(command, env=told, cwd=repository, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("ran\n", 0), done.stderr[:3000]
    assert "ThreadSanitizer" not in done.stderr, done.stderr[:3000]


# -- how many --------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [0, -1, 7, 1.5, "2", True])
def test_a_number_of_threads_that_there_are_not_is_refused(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "usable_cores", lambda: 6)
    sizes, variant = {"I": 1, "T": 2}, wb.variant(reinforce())
    for name, do in itertools.product(
        ("native", "numpy"), (wb.run, wb.measure, wb.compare, wb.profile)
    ):
        with pytest.raises(WorkbenchError) as error:
            do(
                [variant] if do is wb.compare else variant,
                name,
                sizes=sizes,
                progress=False,
                threads=asked,
            )
        assert str(error.value) == (
            f"threads {asked!r}; expected an integer from 1 to 6, the processors that this process "
            "may use"
        )


def test_results_and_measurements_say_their_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    monkeypatch.setattr(backend, "usable_cores", lambda: 3)
    variant = wb.variant(reinforce(hidden=(5,)))
    sizes = {"B": 4, "I": 2, "T": 5}
    with shared_cache():
        result = wb.run(variant, "native", sizes=sizes, progress=False)
        assert result.threads == 3
        assert "on native, 3 threads: loss" in repr(result)
        measured = wb.measure(variant, "native", sizes=sizes, repeats=1, progress=False, threads=2)
    assert measured.threads == 2
    assert "reinforce on native, 2 threads: B=4" in str(measured)
    assert from_json(measured.to_json()).threads == 2
    older = {name: value for name, value in measured.to_json().items() if name != "threads"}
    assert from_json(older).threads == 1
    on_numpy = wb.run(variant, "numpy", sizes=sizes, progress=False, threads=2)
    assert on_numpy.threads == 2


def test_one_thread_of_products_unless_the_environment_chooses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in threads.CHOSEN:
        monkeypatch.delenv(name, raising=False)
    assert get("numpy").threads(None) == 1
    found = SimpleNamespace(
        info=lambda: [
            {"user_api": "openmp", "num_threads": 9},
            {"user_api": "blas", "num_threads": 4},
        ]
    )
    monkeypatch.setattr(threads, "_controller", lambda: found)
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert get("numpy").threads(None) == 4
    assert np.isfinite(get("numpy").threads(1))
