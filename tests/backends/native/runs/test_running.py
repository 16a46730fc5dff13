"""What a run of compiled C does besides computing: checks, values from outside, Ctrl-C, memory."""

from __future__ import annotations

import signal
import sys
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests import by_hand as h
from tests.backends.small_programs import scheduled
from tests.native_runs import compiled, run_interrupted, run_native, shared_cache
from workbench.algorithms import ppo, reinforce
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.numpy import NumPyBackend
from workbench.errors import OutOfMemoryError, RunError
from workbench.lowering.loops.arena import arena, block_memory
from workbench.lowering.loops.records import Allocate, Buffer, For, Free, Launch, walk
from workbench.polyhedral.expression import expression
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist, Swap, Vectorize


def prepared(program: Program, dtype: str = "float32") -> CompiledProgram:
    made = compiled(program)
    with shared_cache():
        made.prepare(dtype)
    return made


def failure(program: Program, **more: Any) -> tuple[str, str]:
    """What compiled C and NumPy say of a run that fails."""
    said = []
    for made in (prepared(program), NumPyBackend().compile(program)):
        with pytest.raises(RunError) as error:
            made.run(**more)
        said.append(str(error.value))
    return said[0], said[1]


# -- checks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(), ("n",)])
def test_gather_outside_the_array_is_refused_as_by_numpy(axes: tuple[str, ...]) -> None:
    n = h.n
    equations = h.equations(
        h.statement("x", [n], h.call("cast", h.value(n), dtype="float"), {"n": (0, h.N)}),
        h.statement("k", [n], h.call("add", h.value(n), 1), {"n": (0, h.N)}),
        h.statement("y", [n], h.read("x", h.read("k", n, dtype="int32")), {"n": (0, h.N)}),
        sizes={"N": 3},
        dims={"n": h.N},
    )
    native, numpy = failure(scheduled(equations, axes))
    assert native == numpy
    assert "x is indexed at n = 3, outside 0 to 2, by y at n=2" in native


@pytest.mark.parametrize("axes", [(), ("t",)])
def test_empty_maximum_is_refused_as_by_numpy(axes: tuple[str, ...]) -> None:
    equations = h.equations(
        h.statement("x", [h.t], 1.0, {"t": (0, h.T)}),
        h.statement("y", [h.t], h.read("x", h.k), {"t": (0, h.T)}, {"k": (h.t + 1, h.T)}, "max"),
        sizes={"T": 3},
        dims={"t": h.T},
    )
    native, numpy = failure(scheduled(equations, axes))
    assert native == numpy
    assert "y at t=2 combines no elements over k: an empty max has no value" in native


def test_promised_range_is_checked_as_by_numpy() -> None:
    @wb.program
    def promised(N: int = 4) -> dict[str, Any]:
        n = wb.dim(n=N)
        x = wb.uniform(over=n)
        at = wb.within(wb.index(n) + wb.index(n), 0, N)
        return {"y": wb.gather(x, n=at)}

    native, numpy = failure(promised())
    assert native == numpy
    assert "is not within 0 to 3, as the program promises" in native


def test_first_failure_in_the_order_of_the_schedule_is_told() -> None:
    @wb.program
    def twice(T: int = 6) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        return {"y": wb.gather(x, t=wb.index(t) * 2), "z": wb.gather(x, t=wb.index(t) * 3)}

    native, numpy = failure(twice())
    assert native == numpy


def test_index_of_two_arrays_is_checked_once_and_the_first_is_told() -> None:
    @wb.program
    def both(N: int = 20) -> dict[str, Any]:
        n = wb.dim(n=N)
        x, z = wb.uniform(over=n), wb.uniform(over=n)
        at = wb.index(n) * 2
        return {"y": wb.gather(x, n=at) + wb.gather(z, n=at)}

    variant = wb.variant(both()).apply(Vectorize("n"))
    text = "\n".join(kernel.text for kernel in variant.kernels("native"))
    assert text.count("fail(run") == 1
    native, numpy = failure(variant.program)
    assert native == numpy


def test_draw_beyond_its_counter_is_refused_as_by_numpy() -> None:
    @wb.program
    def far(P: int = 2, Q: int = 2, R: int = 2, S: int = 2, U: int = 2**21 + 1) -> dict[str, Any]:
        p, q, r, s, u = wb.dims(p=P, q=Q, r=R, s=S, u=U)
        return {"x": wb.uniform(over=(p, q, r, s, u)).sum(over=u)}

    native, numpy = failure(wb.variant(far()).apply(Vectorize("u")).apply(Contract()).program)
    assert native == numpy
    assert "but the counter holds 0..2097151 for it" in native


# -- values from outside, the host -----------------------------------------------------------------


def test_run_goes_on_from_a_file_as_on_numpy(tmp_path: Any) -> None:
    sizes = {"B": 3, "T": 5}
    variant = wb.variant(reinforce(hidden=(4,)))
    with shared_cache():
        whole = wb.run(variant, "native", sizes=sizes | {"I": 4}, progress=False)
        part = wb.run(variant, "native", sizes=sizes | {"I": 2}, progress=False)
        part.save(tmp_path / "part.npz")
        rest = wb.run(
            variant,
            "native",
            sizes=sizes | {"I": 2},
            progress=False,
            parameters=tmp_path / "part.npz",
        )
    np.testing.assert_array_equal(whole["loss"][2:], rest["loss"])


def test_arrays_in_host_memory_are_read_where_they_are() -> None:
    variant = wb.variant(reinforce(hidden=(4,))).apply(Swap("state"))
    sizes = {"B": 3, "I": 2, "T": 5}
    made = prepared(variant.program, "float64")
    run = made.run(sizes, 1, "float64")
    wanted = NumPyBackend().compile(variant.program).run(sizes, 1, "float64")
    for name, values in wanted.outputs.items():
        np.testing.assert_allclose(run.outputs[name], values, rtol=1e-11, atol=1e-11)
    state = variant.program.array["state"]
    elements = np.prod([(b - a).evaluate(sizes) for a, b in state.extent]) * state.shape[0]
    assert run.peak["host"] >= elements * 8


def test_environment_outside_is_called_back() -> None:
    program = reinforce(environment="Gymnasium:CartPole-v1", hidden=(4,))
    sizes = {"B": 2, "I": 2, "T": 6}
    found = run_native(program, sizes)
    wanted = NumPyBackend().compile(program).run(sizes, 0, "float64").outputs
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-11, atol=1e-11)


# -- ending early ----------------------------------------------------------------------------------


def test_interrupt_between_kernels_returns_what_is_done() -> None:
    variant = wb.variant(reinforce()).apply(Vectorize("b")).apply(Contract())
    made = prepared(variant.program)
    run = run_interrupted(made, {"B": 64, "I": 10_000, "T": 100})
    assert 0 < run.completed < run.total
    assert run.outputs["loss"].shape == (run.completed,)
    assert np.isfinite(run.outputs["loss"]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_progress_is_told_after_every_iteration() -> None:
    seen: list[tuple[int, int, int]] = []
    made = prepared(reinforce(hidden=(4,)))
    made.run(
        {"B": 2, "I": 3, "T": 4},
        on_progress=lambda done, total, outputs: seen.append((done, total, len(outputs["loss"]))),
    )
    assert seen == [(1, 3, 1), (2, 3, 2), (3, 3, 3)]


# -- memory ----------------------------------------------------------------------------------------


def test_more_memory_than_the_capacity_is_refused() -> None:
    made = prepared(reinforce())
    with pytest.raises(OutOfMemoryError, match="device out of memory"):
        made.run({"B": 64, "T": 100}, capacity=1_000_000)


def test_out_of_memory_names_the_arrays_that_make_up_what_is_asked_for() -> None:
    made = prepared(reinforce())
    with pytest.raises(OutOfMemoryError) as refused:
        made.run({"B": 64, "T": 100, "I": 5}, capacity=1_000_000)
    assert "for all arrays and scratch memory (the largest: policy." in refused.value.message
    assert "60 B live; smaller" in refused.value.message  # outputs, none of them worth a name
    assert refused.value.arrays[0].startswith("policy.")
    assert refused.value.room == 1_000_000


def test_no_two_live_buffers_overlap_in_the_arena() -> None:
    variant = wb.variant(reinforce()).apply(Vectorize("b")).apply(Contract()).apply(Donate())
    loops = compiled(variant.program).loop_program
    sizes = {p.name: p.default for p in variant.program.parameters}
    layout = arena(loops.body, sizes, "float32")
    live: dict[str, tuple[int, int]] = {}
    holder: dict[str, str] = {}
    checked = 0
    for record in walk(loops.body):
        if isinstance(record, Allocate):
            name = record.buffer.name
            holder[name] = name if record.source is None else holder[record.source]
        if isinstance(record, Allocate) and record.buffer.name in layout.places:
            begin = layout.places[record.buffer.name]
            assert begin % 64 == 0
            item = {"float": 4, "int32": 4, "int64": 8, "bool": 1}[record.buffer.dtype]
            end = begin + record.buffer.elements.evaluate(sizes) * item
            assert end <= layout.bytes
            for other in live.values():
                assert end <= other[0] or other[1] <= begin
                checked += 1
            live[record.buffer.name] = (begin, end)
        elif isinstance(record, Free):
            live.pop(holder[record.name], None)
    assert checked > 100


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_is_predicted_to_the_byte(dtype: str) -> None:
    variant = wb.variant(ppo(hidden=(20,)))
    for step in (Persist("b", 16), Persist("k", 32), Contract(), Donate()):
        variant = variant.apply(step)
    made = compiled(variant.program)
    for given in ({"B": 2, "I": 2, "T": 8}, {"B": 64, "I": 3, "T": 32}):
        sizes = resolve(variant.program.equations, given)
        assert made.run(given, 0, dtype).peak_bytes == made.peak(sizes, dtype)


@pytest.mark.parametrize(
    ("program", "bytes_needed"),
    [
        (ppo(B=2048, T=128), 14e6),
        (reinforce(B=256, T=1000, hidden=(64, 64)), 9.4e6),
    ],
)
def test_programs_in_blocks_need_little_memory(program: Program, bytes_needed: float) -> None:
    variant = wb.variant(program)
    for step in (Persist("b", 16), Persist("k", 32), Contract(), Donate()):
        if not isinstance(step, Persist) or step.dim in program.dim:
            variant = variant.apply(step)
    made = compiled(variant.program)
    assert made.peak(resolve(variant.program.equations)) <= bytes_needed


def test_scratch_memory_is_where_nothing_else_is_while_its_kernel_runs() -> None:
    """What a block allocates is elsewhere: each thread has memory for one."""
    held, inside, later = (Buffer(n, "int32", (expression(100),)) for n in ("a", "b", "c"))
    launch = Launch("s", (), (), ("a",))
    block = (Allocate(inside), launch, Free("b", ("b",)), Allocate(later), launch)
    blocks = For("k", expression(0), expression(3), False, "k", block, apart=True)
    body = (Allocate(held), launch, blocks, Free("a", ("a",)))
    layout = arena(body, {}, "float32", scratch=[1000, 0], own=("b", "c"))
    assert (layout.places, layout.scratch, layout.bytes) == ({"a": 0}, [512, 0], 512 + 1088)
    assert arena(body, {}, "float32", own=("b", "c")).bytes == 512
    own = block_memory(block, (), {}, "float32", scratch=50)
    assert (own.places, own.scratch, own.bytes) == ({"b": 128, "c": 640}, [0], 1152)
    own = block_memory(block, (held,), {}, "float32")
    assert (own.places, own.bytes) == ({"a": 0, "b": 512, "c": 1024}, 1536)


def test_memory_of_a_block_is_used_again_behind_a_loop() -> None:
    """Statements between two loops may run lanes by lanes, all of them for the first ones."""
    one, other, third = (Buffer(n, "int32", (expression(100),)) for n in ("a", "b", "c"))
    launch = Launch("s", (), (), ("a",))
    inner = For("t", expression(0), expression(3), False, "t", (launch,))
    block = (
        *(Allocate(one), launch, Free("a", ("a",)), Allocate(other), launch, Free("b", ("b",))),
        *(inner, Allocate(third), launch),
    )
    own = block_memory(block, (), {}, "float32")
    assert (own.places, own.bytes) == ({"a": 0, "b": 512, "c": 0}, 1024)


def test_compiled_code_that_cannot_be_kept_is_said(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "file"))
    made = compiled(reinforce(hidden=(3,)))
    with pytest.warns(UserWarning, match="file") as warned:
        made.prepare()
    assert warned[0].filename == __file__
    assert np.isfinite(made.run({"B": 2, "I": 1, "T": 3}).outputs["loss"]).all()


def test_warning_of_a_run_is_at_the_line_that_called_the_workbench(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "file"))
    variant = wb.variant(reinforce(hidden=(2,)))
    with pytest.warns(UserWarning, match="temporary folder") as warned:
        line = sys._getframe().f_lineno + 1
        wb.run(variant, "native", sizes={"B": 2, "I": 1, "T": 3}, progress=False)
    assert [(w.filename, w.lineno) for w in warned] == [(__file__, line)]
