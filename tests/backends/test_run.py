"""What a run promises besides its values: progress, interruption, finite checks, memory."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests import by_hand as h
from tests.backends.small_programs import cases, scheduled
from tests.programs import small_reinforce
from workbench.algorithms.reinforce import reinforce
from workbench.backends import backends, get
from workbench.backends.arrays import compiled as arrays
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.numpy import NumPyBackend
from workbench.errors import RunError, UnavailableError, WorkbenchError
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.lower import lower
from workbench.program.values import Equations, Program

CASES = {name: p for name, p, _ in cases()}


def compiled(p: Equations, *axes: str) -> CompiledArrays:
    return NumPyBackend().compile(scheduled(p, axes))


def counting() -> Equations:
    """y[i] = i, and the sum so far."""
    i = h.i
    size = h.size("I")
    return h.equations(
        h.statement("y", [i], h.call("cast", h.value(i), dtype="float"), {"i": (0, size)}),
        h.statement("s", [0], 0.0, {}),
        h.statement("s", [i + 1], h.call("add", h.read("s", i), h.read("y", i)), {"i": (0, size)}),
        sizes={"I": 6},
        dims={"i": size},
        names={"s": ("i",)},
    )


def test_progress_is_reported_after_each_iteration_with_outputs_so_far() -> None:
    seen: list[tuple[int, int, list[float]]] = []

    def on_progress(done: int, total: int, outputs: Any) -> None:
        seen.append((done, total, outputs["y"].tolist()))

    compiled(counting()).run(on_progress=on_progress)
    assert [s[:2] for s in seen] == [(k, 6) for k in range(1, 7)]
    assert seen[2][2] == [0.0, 1.0, 2.0]


def test_interruption_returns_completed_iterations() -> None:
    def on_progress(done: int, total: int, outputs: Any) -> None:
        if done == 4:
            raise KeyboardInterrupt

    run = compiled(counting()).run(on_progress=on_progress)
    assert (run.completed, run.total) == (4, 6)
    assert run.outputs["y"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert run.outputs["s"].tolist() == [0.0, 0.0, 1.0, 3.0, 6.0]


def test_not_finite_names_statement_instance_and_line() -> None:
    b, t = h.b, h.t
    p = h.equations(
        h.statement(
            "x",
            [b, t],
            h.call("log", h.call("cast", h.value(t - 2), dtype="float")),
            {"b": (0, h.B), "t": (0, h.T)},
        ),
        sizes={"B": 2, "T": 4},
        dims={"b": h.B, "t": h.T},
    )
    for axes in ((), ("b",), ("b", "t")):
        with pytest.raises(RunError) as refused:
            compiled(p, *axes).run(check_finite=True)
        assert "x is nan at b=0, t=0" in str(refused.value)
        assert "x[b, t] = ..." in str(refused.value)
    assert np.isnan(compiled(p).run().outputs["x"][0, 0])


def test_out_of_memory_names_what_was_asked_and_what_is_live() -> None:
    with pytest.raises(RunError, match=r"out of memory: .* asked for s .*capacity 100 B.*live"):
        compiled(counting()).run(sizes={"I": 20}, dtype="float64", capacity=300 - 200)


def test_same_seed_twice_is_identical() -> None:
    p = compiled(CASES["contractions"], "b", "t")
    first, second = (p.run(seed=7, dtype="float32").outputs for _ in range(2))
    assert all(first[k].tobytes() == second[k].tobytes() for k in first)


def test_gather_outside_the_array_is_refused() -> None:
    n = h.n
    p = h.equations(
        h.statement("x", [n], h.call("cast", h.value(n), dtype="float"), {"n": (0, h.N)}),
        h.statement("k", [n], h.call("add", h.value(n), 1), {"n": (0, h.N)}),
        h.statement("y", [n], h.read("x", h.read("k", n, dtype="int32")), {"n": (0, h.N)}),
        sizes={"N": 3},
        dims={"n": h.N},
    )
    for axes in ((), ("n",)):
        with pytest.raises(RunError, match=r"x is indexed at n = 3, outside 0 to 2, by y at n=2"):
            compiled(p, *axes).run()


def test_empty_maximum_is_refused() -> None:
    p = h.equations(
        h.statement("x", [h.t], 1.0, {"t": (0, h.T)}),
        h.statement("y", [h.t], h.read("x", h.k), {"t": (0, h.T)}, {"k": (h.t + 1, h.T)}, "max"),
        sizes={"T": 3},
        dims={"t": h.T},
    )
    for axes in ((), ("t",)):
        with pytest.raises(RunError, match=r"y at t=2 combines no elements.*an empty max"):
            compiled(p, *axes).run()


def test_backends_say_why_they_cannot_run() -> None:
    found = backends()
    assert list(found) == ["numpy", "native", "cuda"]
    assert found["numpy"] is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", "no-such-compiler")
        reason = backends()["native"]
        assert reason is not None and reason.startswith("no C compiler: CC=no-such-compiler")
        with pytest.raises(UnavailableError, match="native: no C compiler"):
            get("native")
    with pytest.raises(UnavailableError, match="did you mean numpy"):
        get("nunpy")


def test_tracked_peak_is_computed_peak_and_what_numpy_holds() -> None:
    variant = wb.variant(reinforce(B=64, I=2, T=200))
    variant = variant.apply(wb.transforms.Vectorize("b")).apply(wb.transforms.Vectorize("t"))
    program = NumPyBackend().compile(variant.program)
    program.run(sizes={"I": 1, "T": 3})
    tracemalloc.start()
    try:
        run = program.run()
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert run.peak_bytes == program.loop_program.peak({"B": 64, "I": 2, "T": 200}, "float32")
    assert run.peak_bytes == max(point.bytes for point in run.timeline)
    assert run.peak_bytes >= 0.95 * held


def test_outputs_come_in_the_order_of_the_returned_dict() -> None:
    @wb.program
    def example(I: int = 4, T: int = 3) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        first = wb.uniform(over=i)
        second = wb.normal(over=(i, t))
        third = second.sum(over=t)
        return {"third": third, "first": first, "second": second}

    assert list(wb.run(example(), progress=False, backend="numpy")) == ["third", "first", "second"]


def test_interrupted_outputs_come_in_the_order_of_the_returned_dict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = CompiledArrays.run

    def interrupted(self: CompiledArrays, *args: Any) -> Any:
        def on_progress(done: int, total: int, outputs: Any) -> None:
            if done == 2:
                raise KeyboardInterrupt

        return whole(self, *args[:3], on_progress, *args[4:])

    @wb.program
    def example(I: int = 4) -> dict[str, Any]:
        i = wb.dim(i=I)
        x = wb.normal(over=i)
        s = wb.recurrent("s", over=i)
        s[0] = 0.0
        s[i + 1] = s + x
        return {"s": s, "x": x, "twice": x * 2.0}

    monkeypatch.setattr(CompiledArrays, "run", interrupted)
    result = wb.run(wb.variant(example()), progress=False, backend="numpy")
    assert result.interrupted and list(result) == ["s", "x", "twice"]


def test_options_of_a_run_that_are_not_what_they_should_be() -> None:
    for given, sentence in (
        ({"backend": {"I": 1}}, "backend {'I': 1}; expected a name (sizes are given by sizes=)"),
        ({"seed": "x"}, "seed 'x'; expected a whole number from 0 to 2**32 - 1"),
        ({"seed": 2**32}, "seed 4294967296; expected a whole number from 0 to 2**32 - 1"),
        ({"seed": -1}, "seed -1; expected a whole number from 0 to 2**32 - 1"),
        ({"seed": True}, "seed True; expected a whole number from 0 to 2**32 - 1"),
    ):
        with pytest.raises(WorkbenchError) as refused:
            wb.run(scheduled(counting()), **given)
        assert refused.value.message == sentence
    with pytest.raises(TypeError, match="positional"):
        wb.run(scheduled(counting()), "numpy", {"I": 1})  # type: ignore[misc]


def test_out_of_memory_names_arrays_of_the_program_and_what_helps() -> None:
    @wb.program
    def example(B: int = 100, T: int = 50) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.normal(over=(b, t))
        weight = (x * 2.0 + wb.cast(wb.index(t), float)).sum(over=t)
        return {"x": x, "weight": weight}

    for capacity, sentence in (
        (
            10_000,
            r"device out of memory: 20 kB asked for x \(100×50\), capacity 10 kB, "
            r"[\d.]+ kB live \(the largest: a temporary of x [\d.]+ kB, "
            r"a temporary of weight 204 B\); "
            "smaller sizes would help, or a larger capacity=",
        ),
        (
            35_000,
            r"device out of memory: [\d.]+ kB asked for a temporary of x \(\d+\), "
            r"capacity 35 kB, [\d.]+ kB live \(the largest: x 20 kB, .*",
        ),
    ):
        with pytest.raises(RunError) as refused:
            wb.run(
                wb.optimize(example(), backend="numpy"),
                capacity=capacity,
                progress=False,
                backend="numpy",
            )
        assert re.fullmatch(sentence, refused.value.message)


def test_index_as_a_number_where_its_loop_has_one_iteration() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t, once = wb.dims(t=T, once=1)
        return {"y": wb.cast(wb.index(once + 3), float) * wb.cast(wb.index(t), float)}

    result = wb.run(wb.variant(example()), progress=False, backend="numpy")
    np.testing.assert_array_equal(result["y"].ravel(), [0.0, 3.0, 6.0])


@pytest.mark.parametrize(
    ("capacity", "sentence"),
    [
        ({"gpu": 1}, "unknown memory space 'gpu': .*device, host"),
        ({"device": 1.5}, r"capacity of the device: 1\.5; expected a number of bytes"),
        (-1, "capacity of the device: -1; expected a number of bytes"),
        (True, "capacity of the device: True; expected a number of bytes"),
    ],
)
def test_capacity_refused(capacity: Any, sentence: str) -> None:
    with pytest.raises(WorkbenchError, match=sentence):
        compiled(counting()).run(capacity=capacity)


def test_capacity_of_each_space_is_its_own() -> None:
    p = compiled(counting())
    needed = p.run(dtype="float64").peak
    assert needed["host"] == 0
    again = p.run(dtype="float64", capacity={"device": needed["device"], "host": 0})
    assert again.peak == needed
    with pytest.raises(RunError, match="device out of memory"):
        p.run(dtype="float64", capacity={"device": needed["device"] - 1})
    assert p.run(dtype="float64", capacity=None).peak == needed


def test_runs_of_a_variant_lower_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[LoopProgram] = []

    def kept(program: Program) -> LoopProgram:
        found.append(lower(program))
        return found[-1]

    monkeypatch.setattr(arrays, "lower", kept)
    variant = wb.optimize(wb.variant(small_reinforce()), backend="numpy")
    first, again = (wb.run(variant, progress=False, backend="numpy") for _ in range(2))
    np.testing.assert_array_equal(first["loss"], again["loss"])
    assert first.carried.keys() == again.carried.keys() != set()
    assert len(found) == 2 and found[0] is found[1]
