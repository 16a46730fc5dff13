"""Slices of arrays in host memory for kernels of a GPU: what is copied where, and what stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import workbench as wb
from tests.lowering.instances.test_swapping import swapped
from workbench.codegen.cuda.launch_order import gpu_kernels
from workbench.codegen.described import kernels
from workbench.codegen.kernel_records import reads, walk, writes
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.lowering.attribution import attributed
from workbench.lowering.instances.swapping import copies
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate
from workbench.lowering.loops.records import walk as walk_program
from workbench.program.values import Program
from workbench.transforms import Contract, Persist, Tile, Vectorize


@wb.program
def stored(I: int = 2, B: int = 3, T: int = 5) -> dict[str, Any]:
    """Numbers that a loop draws, and another one reads from the last to the first."""
    i, b, t = wb.dims(i=I, b=B, t=T)
    x = wb.recurrent("x", (4,), over=(i, b, t))
    x[i, b, 0] = wb.uniform(shape=(4,), over=(i, b))
    x[i, b, t + 1] = 0.5 * x + wb.normal(shape=(4,), over=(i, b, t))
    r = wb.recurrent("r", (), over=(i, b, t))
    r[i, b, T] = x[i, b, T].sum()
    r[i, b, t] = 0.5 * r[i, b, t + 1] + x.max() * x.sum()
    return {"r": r[i, b, 0].mean(over=b)}


def in_lanes(program: Program) -> Program:
    return wb.variant(program).apply(Vectorize("b")).program


def made(program: Program) -> ProgramKernels:
    return gpu_kernels(program_kernels(program))


def text(loops: LoopProgram) -> list[str]:
    return [line.strip() for line in str(loops).split("\n")]


def late(loops: LoopProgram) -> list[tuple[str, str, str]]:
    return [(slice_.array, slice_.reader, slice_.why) for slice_ in loops.late]


def touched(found: ProgramKernels, statement: str) -> tuple[set[str], set[str]]:
    """The buffers that the kernel of a statement reads and writes."""
    (kernel,) = (k for k in found.kernels if statement in k.statements)
    records = list(walk(kernel.records))
    return {n for r in records for n in reads(r)}, {n for r in records for n in writes(r)}


def test_nothing_changes_without_arrays_in_host_memory() -> None:
    program = in_lanes(stored())
    assert list(copies(made(program).loops.body)) == []


def test_a_launch_works_on_the_slice_of_its_iteration() -> None:
    program = swapped(in_lanes(stored()), "x")
    lines = text(made(program).loops)
    at = lines.index("# r: x, from the host")
    assert lines[at - 1 : at + 4] == [
        "for t in 0:T reversed:",
        "# r: x, from the host",
        "x_v_5 = x[i, t, :, :]",
        "x_slice_5 <- to_device(x_v_5)",
        "r <- r at i=i, t=t (r, x_slice_5)",
    ]
    found = made(program)
    for kernel in found.kernels:
        assert "x" not in kernel.buffers
        names = {n for r in walk(kernel.records) for n in (*reads(r), *writes(r))}
        assert "x" not in names and names >= set(kernel.slices)


def test_a_slice_that_is_written_whole_is_not_fetched() -> None:
    found = list(copies(made(swapped(in_lanes(stored()), "x")).loops.body))
    assert [c.to_device for c in found] == [False, True, False, True, True]


def test_rings_have_a_slice_more_than_iterations_early() -> None:
    loops = made(swapped(in_lanes(stored()), "x", prefetch=2)).loops
    rings = {
        r.buffer.name: str(r.buffer.shape[0])
        for r in walk_program(loops.body)
        if isinstance(r, Allocate) and "slices" in r.buffer.name
    }
    assert list(rings.values()) == ["3", "3", "3"]  # two are written, one is read
    lines = text(loops)
    assert "for t in max(T - 2, 0):T reversed:" in lines and "if 0 <= t - 2:" in lines
    assert [c.ahead for c in copies(loops.body) if c.ahead] == [2]
    assert "# r: x, 2 iterations early" in lines


def test_a_slice_that_is_not_there_early_enough_is_late() -> None:
    loops = made(swapped(in_lanes(stored()), "x", prefetch=1)).loops
    assert late(loops) == [("x", "x[t+1]", "new"), ("x", "r[T]", "new")]


def test_memory_of_slices_is_called_by_its_array() -> None:
    program = swapped(in_lanes(stored()), "x", prefetch=1)
    found = made(program)
    named = attributed(found.loops, found.program)
    assert {named[c.device] for c in copies(found.loops.body)} >= {"slices of x", "a slice of x"}


def test_kernels_show_the_array_that_a_slice_is_of() -> None:
    shown = kernels(swapped(in_lanes(stored()), "x", prefetch=1), "float32", "cuda")
    by_statement = {kernel.statements[0]: kernel for kernel in shown}
    assert set(by_statement["x[t+1]"].loads) == {"x", "x_normal"}
    assert by_statement["x[t+1]"].stores == ("x",)
    assert "x_slices" in by_statement["r"].text and "x" in by_statement["r"].loads


def test_blocks_of_a_kernel_read_host_memory_and_are_late() -> None:
    chosen = wb.variant(stored()).apply(Persist("b", 2)).program
    found = made(swapped(chosen, "x", prefetch=1))
    in_blocks = [k for k in found.kernels if k.dealing is not None and "x" in k.buffers]
    assert in_blocks and not any(k.slices for k in in_blocks)
    assert {why for _, _, why in late(found.loops)} == {"order"}


def test_blocks_one_after_the_other_have_slices_of_blocks() -> None:
    @wb.program
    def squares(T: int = 10) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(shape=(3,), over=t)
        s = wb.recurrent("s", (), over=t)
        s[0] = 0.0
        s[t + 1] = 0.5 * s + (x * x).sum()
        return {"s": s[T]}

    root = wb.variant(squares()).apply(Vectorize("t", ("x",))).apply(Tile("t", 4, ("x",)))
    found = made(swapped(root.program, "x"))
    (written, *_) = (c for c in copies(found.loops.body) if not c.to_device)
    buffer = found.buffers[written.device]
    assert [str(n) for n in buffer.shape] == ["min(T, 4)", "3"]
    lines = text(found.loops)
    assert "x_v = x[4 * t_block4:min(T, 4 * t_block4 + 4), :]" in lines
    assert "x_slice_v = x_slice[:min(T - 4 * t_block4, 4), :]" in lines


def test_neighbours_along_a_loop_are_one_slice() -> None:
    @wb.program
    def differences(B: int = 3, T: int = 6) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = wb.uniform(over=b)
        x[b, t + 1] = wb.normal(over=(b, t))
        s = wb.recurrent("s", (), over=(b, t))
        s[b, T] = 0.0
        s[b, t] = 0.5 * s[b, t + 1] + x * x[b, t + 1]
        return {"s": s[b, 0]}

    found = made(swapped(in_lanes(differences()), "x"))
    (copy,) = (c for c in copies(found.loops.body) if c.to_device)
    assert [str(n) for n in found.buffers[copy.device].shape] == ["2", "B"]
    assert "x_v_3 = x[t:t + 2, :]" in text(found.loops)


@pytest.mark.parametrize("n", [0, 1])
def test_elements_anywhere_are_read_in_host_memory(n: int) -> None:
    @wb.program
    def gathered(B: int = 3, T: int = 6) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.normal(shape=(2,), over=(b, t))
        at = wb.uniform(shape=(4,), over=(b, t)).argmax()
        s = wb.recurrent("s", (), over=(b, t))
        s[b, 0] = 0.0
        s[b, t + 1] = 0.5 * s + wb.gather(x, t=at).sum()
        return {"s": s[b, T]}

    found = made(swapped(in_lanes(gathered()), "x", prefetch=n))
    assert not any(c.to_device for c in copies(found.loops.body))
    read, _ = touched(found, "s[t+1]")
    assert "x" in read
    assert [why for _, _, why in late(found.loops)] == ["same"] * n


def test_memory_folded_to_a_window_has_slices() -> None:
    @wb.program
    def chained(B: int = 2, T: int = 6) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (3,), over=(b, t))
        x[b, 0] = wb.normal(shape=(3,), over=b)
        x[b, t + 1] = 0.5 * x + wb.normal(shape=(3,), over=(b, t))
        return {"last": x[b, T]}

    chosen = wb.variant(chained()).apply(Vectorize("b")).apply(Contract()).program
    found = made(swapped(chosen, "x"))
    assert all("x" not in kernel.buffers or kernel.dealing for kernel in found.kernels)


def test_programs_without_prefetch_have_no_late_slices() -> None:
    program = in_lanes(stored())
    plain = replace(program, storage=replace(program.storage, swapped=(("x", 0),)))
    assert late(made(plain).loops) == []
