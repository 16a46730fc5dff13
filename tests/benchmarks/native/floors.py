"""Floors of what is measured: the peaks of a core, the work of an update, the hand-written PPO."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import lines_of
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.protocol import Execution
from workbench.codegen.kernel_work import scratch_bytes, work
from workbench.lowering.loops.bytes import FLOAT_BYTES, bytes_of
from workbench.lowering.memory.tiles import TileStored
from workbench.program.sizes import resolve

HERE = Path(__file__).parent
COMMANDS = {
    ".cpp": ("CXX", "g++", ("-O3", "-march=native", "-ffast-math", "-fopenmp")),
    ".c": ("CC", "cc", ("-O3", "-march=native", "-ffp-contract=fast")),
}
"""The variable that names the compiler of a suffix, its default, and its flags."""


@cache
def built(source: str) -> str:
    """Return the program that a file of this folder is compiled to. Raises FileNotFoundError where
    there is no compiler for it.
    """
    variable, default, flags = COMMANDS[Path(source).suffix]
    compiler = os.environ.get(variable, default)
    if shutil.which(compiler) is None:
        raise FileNotFoundError(f"no compiler {compiler} for {source}: name one in {variable}")
    target = Path(tempfile.mkdtemp(prefix="workbench-floor-")) / Path(source).stem
    subprocess.run([compiler, *flags, "-o", str(target), str(HERE / source)], check=True)
    return str(target)


@cache
def peaks(held: int = 256 << 20) -> Mapping[str, float]:
    """Return `flops_per_second` of fused multiply-adds, and `bytes_per_second` read again and again
    from so many bytes, both of one core.
    """
    found: Mapping[str, float] = lines_of([built("peaks.c"), str(held)], threads=1)[-1]
    return found


def hand_written(
    program: str, B: int, T: int, E: int, M: int, updates: int, threads: int = 1
) -> dict[str, Any]:
    """Return the line of a run of the hand-written PPO."""
    words = [program, *map(str, (B, T, E, M, updates * B * T))]
    return lines_of(words, threads)[-1]


def update_work(compiled: CompiledProgram, sizes: Mapping[str, int]) -> tuple[float, float]:
    """Return the operations and the bytes of one iteration of the main loop."""
    _, main, _ = compiled.kernels.loops.parts
    if main is None:
        raise ValueError(f"{compiled.program.name} has no main loop")
    return run_work(compiled, sizes, main.variable)


def run_work(
    compiled: CompiledProgram, sizes: Mapping[str, int], update: str | None = None
) -> tuple[float, float]:
    """Return the operations of a run, and its bytes: each launch reads or writes an element of the
    arrays that it touches at most once. With `update`, those of an iteration of the loop over that
    variable. A launch under a condition counts as if that held.
    """
    made, real = compiled.kernels, FLOAT_BYTES["float32"]
    tiles = {s.buffer.name for s in made.loops.stored.values() if isinstance(s, TileStored)}
    outside = {s.buffer.name for s in made.loops.stored.values()} - tiles
    flops = moved = 0.0
    for kernel in made.kernels:
        if update is not None and update not in kernel.ranges:
            continue
        launches = math.prod(
            (high - low + 1).evaluate(sizes)
            for variable, (low, high) in kernel.ranges.items()
            if variable != update
        )
        one = work(kernel.records, outside, real, kernel.ranges)
        touched = sum(
            bytes_of(made.buffers[name], sizes, "float32")
            for name in kernel.buffers
            if name in outside and name in made.buffers
        )
        flops += launches * one.flops.evaluate(sizes)
        moved += launches * min(one.bytes.evaluate(sizes), touched)
    return flops, moved


def counted(
    compiled: CompiledProgram, sizes: Mapping[str, int], execution: Execution, threads: int = 1
) -> dict[str, float]:
    """Return the work of an update; the bytes that are predicted for so many threads and those that
    a run allocated; of these, the most of arrays, partial sums and tiles at once, and of a kernel's
    scratch memory.
    """
    known = resolve(compiled.program.equations, {**sizes, "I": execution.total})
    flops, moved = update_work(compiled, known)
    real = FLOAT_BYTES["float32"]
    scratch = max(scratch_bytes(k.records, real).evaluate(known) for k in compiled.kernels.kernels)
    return {
        "flops": flops,
        "bytes": moved,
        "predicted_mb": compiled.peak(known, threads=threads) / 1e6,
        "arrays_mb": compiled.loop_program.peak(known, "float32") / 1e6,
        "scratch_mb": scratch / 1e6,
        "allocated_mb": execution.peak_bytes / 1e6,
    }


def largest(compiled: CompiledProgram, sizes: Mapping[str, int], count: int) -> dict[str, float]:
    """Return the largest arrays where a run holds most, with their megabytes."""
    known = resolve(compiled.program.equations, sizes)
    fullest = max(compiled.loop_program.timeline(known, "float32"), key=lambda point: point.bytes)
    arrays = {s.buffer.name: array for array, s in compiled.loop_program.stored.items()}
    ordered = sorted(fullest.live, key=lambda entry: -entry[1])[:count]
    return {arrays.get(name, name): round(held / 1e6, 3) for name, held in ordered}


def floor_seconds(work: Mapping[str, Any]) -> dict[str, float]:
    """Return the least seconds of an update that was counted: of its arithmetic, and of its bytes
    from the level of memory that all of its arrays are in.
    """
    peak = peaks(round(work["allocated_mb"] * 1e6))
    return {
        "flop_floor_seconds": work["flops"] / peak["flops_per_second"],
        "byte_floor_seconds": work["bytes"] / peak["bytes_per_second"],
    }
