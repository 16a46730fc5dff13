"""Swap: what the device then holds, what it refuses and why, what later steps may not break."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.large import learning_in_blocks
from tests.lowering.instances.test_swapping import same_as_reference
from tests.programs import PROGRAMS, automatic
from workbench import environments
from workbench.errors import OutOfMemoryError, RunError
from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.lower import Stages, lower, stages
from workbench.program.sizes import resolve
from workbench.program.text.units import amount
from workbench.program.values import Program
from workbench.transforms import Donate, Swap, Vectorize
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.storage.device_peak import least_peak, stored_bytes


@wb.program
def replayed(T: int = 40) -> dict[str, Any]:
    """Large values, needed again from the last to the first."""
    t = wb.dim(t=T)
    x = wb.normal(shape=(50,), over=t)
    s = wb.recurrent("s", (), over=t)
    s[0] = 0.0
    s[t + 1] = 0.5 * s[t] + x.sum()
    r = wb.recurrent("r", (), over=t)
    r[T] = s[T]
    r[t] = 0.5 * r[t + 1] + x.max()
    return {"r": r[0]}


def root() -> wb.Variant:
    return wb.variant(replayed())


def refusal(variant: wb.Variant, step: Any) -> Refusal:
    found = variant.check(step)
    assert found is not None
    return found


def test_device_holds_slices_and_the_host_the_array() -> None:
    found = root().apply(Swap("x"))
    assert found.program.storage.swapped == (("x", 0),)
    assert "x over t (T), on the host\n" in found.storage
    before, after = (wb.run(v, progress=False, backend="numpy") for v in (root(), found))
    np.testing.assert_array_equal(before["r"], after["r"])
    assert after.peak["host"] == 40 * 50 * 4
    assert before.peak_bytes - after.peak_bytes > 0.8 * after.peak["host"]
    assert found.predict(backend="numpy").peak_bytes == after.peak
    assert "on the host" in repr(after) and "on the host" not in repr(before)
    same_as_reference(root().program, found.program)


def test_note_says_what_the_host_holds_and_a_run_copies() -> None:
    (note,) = root().apply(Swap("x")).notes
    assert note.startswith("x takes 200 * T bytes of the host; a run copies up to 400 * T bytes")
    assert "(16 kB at T=40, float32)" in note


def test_note_says_what_the_device_holds_with_the_array_and_without() -> None:
    swapped = root().apply(Swap("x"))
    known = resolve(root().program.equations)
    on_device, plain = (v.loop_program.peak(known, "float32") for v in (root(), swapped))
    assert swapped.notes[0].endswith(
        f"the device's peak is {amount(plain, 'B')}, and with x there {amount(on_device, 'B')}"
    )
    early = swapped.apply(Swap("x", prefetch=20))
    more = early.loop_program.peak(known, "float32")
    assert plain < more < on_device
    assert early.notes[0].endswith(
        f"the device's peak is {amount(more, 'B')}, and with x there {amount(on_device, 'B')}; "
        "x has up to 21 slices there at a time, which pays where a device copies while it computes"
    )


def test_candidates_are_few_and_held_at_the_peak() -> None:
    found = [m.step for m in root().moves() if isinstance(m.step, Swap)]
    assert found == [Swap("x")]
    small = wb.variant(replayed()).apply(Swap("x"))
    assert list(Swap.candidates(small.program)) == [Swap("x", prefetch=1)]
    assert not list(Swap.candidates(small.apply(Swap("x", prefetch=1)).program))


@pytest.mark.parametrize("name", PROGRAMS)
def test_least_peak_is_held_by_the_loop_program(name: str) -> None:
    for variant in (wb.variant(PROGRAMS[name][0]()), automatic(name)):
        program, sizes = variant.program, resolve(variant.program.equations)
        least, most = least_peak(program), lower(program).peak(sizes, "float32")
        assert least <= most
        for array, where in lower(program).stored.items():
            assert stored_bytes(program)[array] == bytes_of(where.buffer, sizes, "float32")


def test_no_loop_program_is_made_where_every_array_is_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @wb.program
    def many(T: int = 50) -> dict[str, Any]:
        t = wb.dim(t=T)
        s = wb.recurrent("s", (), over=t)
        s[0] = wb.uniform()
        arrays = [wb.normal(over=t) for _ in range(20)]
        total = s
        for array in arrays:
            total = total + array
        s[t + 1] = total
        return {"last": s[T]}

    variant = wb.variant(many())
    monkeypatch.setattr("workbench.lowering.lower.stages", None)
    assert not list(Swap.candidates(variant.program))


def test_judged_and_applied_step_is_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    variant = root()
    assert variant.loop_program
    lowered: list[Program] = []

    def counting(program: Program) -> Stages:
        lowered.append(program)
        return stages(program)

    monkeypatch.setattr("workbench.lowering.lower.stages", counting)
    for step in (Swap("x"), Swap("x", prefetch=1)):
        assert variant.check(step) is None
        assert variant.apply(step).loop_program
    assert len(lowered) == 2


@pytest.mark.parametrize("name", PROGRAMS)
def test_accepted_steps_compute_the_same(name: str) -> None:
    template, all_sizes = PROGRAMS[name]
    written = wb.variant(template())
    for variant in (written, automatic(name)):
        for step in Swap.candidates(variant.program):
            if variant.check(step) is None:
                after = variant.apply(step)
                same_as_reference(written.program, after.program, dict(all_sizes[0]))
                known = resolve(after.program.equations)
                device = [v.loop_program.peak(known, "float32") for v in (variant, after)]
                assert device[1] < device[0]


# -- slices that come early ------------------------------------------------------------------------


def test_slices_come_early_into_a_ring_on_the_device() -> None:
    plain, early = (root().apply(Swap("x", prefetch=n)) for n in (0, 2))
    assert "x over t (T), on the host, prefetch=2\n" in early.storage
    before, after = (wb.run(v, progress=False, backend="numpy") for v in (plain, early))
    np.testing.assert_array_equal(before["r"], after["r"])
    assert after.peak == early.predict(backend="numpy").peak_bytes
    ring = [point for point in early.loop_program.timeline({"T": 40}, "float32") if point.live]
    assert ("x_slices", 3 * 50 * 4) in {held for point in ring for held in point.live}
    assert "x_slices" not in str(plain.loop_program)
    (note,) = early.notes
    assert note.startswith("x takes 200 * T bytes of the host; a run copies up to 400 * T bytes")
    same_as_reference(root().program, early.program)
    same_as_reference(root().program, early.program, {"T": 1})


def test_array_on_the_host_may_come_earlier_or_later() -> None:
    found = root().apply(Swap("x")).apply(Swap("x", prefetch=3)).apply(Swap("x", prefetch=1))
    assert found.program.storage.swapped == (("x", 1),)
    assert found.apply(Swap("x")).program.storage.swapped == (("x", 0),)
    again = refusal(found, Swap("x", prefetch=1))
    assert again.sentence == (
        "Swap('x', prefetch=1): x lives in host memory already, and its slices come 1 iteration "
        "early"
    )


def test_slices_that_come_when_they_are_needed_are_noted() -> None:
    @wb.program
    def delayed(T: int = 30) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (50,), over=t)
        x[0] = 1.0
        x[1] = 2.0
        y = wb.cos(x[t + 1])
        x[t + 2] = 0.5 * x[t] + y
        return {"last": x[T + 1]}

    found = wb.variant(delayed()).apply(Swap("x", prefetch=1))
    _, note = found.notes
    assert note == (
        "a slice of x comes when it is needed: y[t=1] reads x[2], which x[t+2] at t=0 writes only "
        "after the copy 1 iteration of t earlier (smallest case: T=2)"
    )
    assert "ahead=1" in str(found.loop_program)
    same_as_reference(wb.variant(delayed()).program, found.program)


# -- refusals --------------------------------------------------------------------------------------


def test_unknown_array_refused() -> None:
    found = refusal(root(), Swap("xx"))
    assert found.kind == "input"
    assert found.sentence.startswith("Swap('xx'): unknown array xx: ")


def test_second_time_refused() -> None:
    found = refusal(root().apply(Swap("x")), Swap("x"))
    assert found.kind == "no effect"
    assert found.sentence == "Swap('x'): x lives in host memory already"


def test_array_that_is_not_held_at_the_peak_refused() -> None:
    @wb.program
    def apart(T: int = 30) -> dict[str, Any]:
        t = wb.dim(t=T)
        early = wb.uniform(over=t)
        first = early.sum(over=t)
        large = wb.recurrent("large", (100,), over=t)
        large[0] = first
        large[t + 1] = wb.sin(large)
        return {"large": large}

    found = refusal(wb.variant(apart()).apply(Vectorize("t")), Swap("early"))
    assert found.kind == "no effect"
    assert "early (4 * T bytes) is not held where the device holds most" in found.sentence
    peak = wb.variant(apart()).apply(Vectorize("t")).predict(backend="numpy").peak_bytes["device"]
    assert f"peak would stay at {amount(peak, 'B')} (T=30, float32)" in found.sentence


def test_array_that_is_used_whole_refused_with_both_formulas() -> None:
    found = refusal(root().apply(Vectorize("t", ("x",))), Swap("x"))
    assert found.kind == "no effect"
    assert "x takes 200 * T bytes, its slices 200 * T bytes; " in found.sentence
    peak = root().apply(Vectorize("t", ("x",))).predict(backend="numpy").peak_bytes["device"]
    said = (
        f"Swap('x'): the device's peak would stay at {amount(peak, 'B')} (T=40, float32): x takes"
    )
    assert found.sentence.startswith(said)
    assert "t runs as an array axis in" in found.sentence
    assert "in blocks (Tile)" in found.sentence


def test_slices_that_need_more_than_the_array_refused_with_what_the_peak_would_grow_by() -> None:
    found = refusal(root(), Swap("x", prefetch=60))
    program = root().program
    storage = replace(program.storage, swapped=(("x", 60),))
    before, after = (
        lower(one).peak(resolve(one.equations), "float32")
        for one in (program, replace(program, storage=storage))
    )
    assert before < after
    grown, whole = amount(after - before, "B"), amount(after, "B")
    assert f"the device's peak would grow by {grown} to {whole} (T=40, " in found.sentence


def test_array_that_is_read_at_an_index_from_data_refused() -> None:
    @wb.program
    def looked_up(N: int = 50, T: int = 4) -> dict[str, Any]:
        n, t = wb.dims(n=N, t=T)
        x = wb.normal(shape=(9,), over=n)
        at = wb.cast(wb.uniform(over=t) * 3.0, int) % N
        return {"y": wb.gather(x, n=at)}

    found = refusal(wb.variant(looked_up()), Swap("x"))
    assert found.kind == "no effect"
    assert "reads x at an index along n that depends on data" in found.sentence
    assert "all of them have to come" in found.sentence


@pytest.mark.parametrize("given", [-1, 1.5, True, "2"])
def test_prefetch_that_is_no_number_of_iterations_refused(given: Any) -> None:
    found = refusal(root(), Swap("x", prefetch=given))
    assert found.kind == "input"
    assert found.sentence == (
        f"Swap('x', prefetch={given!r}): prefetch is a whole number from 0 on, not {given!r}"
    )


def test_prefetch_refused_when_the_ring_is_as_large_as_the_array() -> None:
    found = refusal(root(), Swap("x", prefetch=60))
    assert found.kind == "no effect"
    assert "x takes 200 * T bytes, its slices 200 bytes + 12200 bytes" in found.sentence


def test_prefetch_refused_when_no_loop_brings_slices() -> None:
    found = refusal(root().apply(Vectorize("t", ("x",))), Swap("x", prefetch=1))
    assert found.kind == "no effect"
    assert found.sentence == (
        "Swap('x', prefetch=1): no loop brings one slice of x after the other to the device"
    )


def test_prefetch_refused_when_every_iteration_needs_the_same_slice() -> None:
    @wb.program
    def first(T: int = 30) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(shape=(90,), over=t)
        s = wb.recurrent("s", (90,), over=t)
        s[T] = 1.0
        s[t] = s[t + 1] * x[0]
        return {"s": s[0]}

    found = refusal(wb.variant(first()), Swap("x", prefetch=1))
    assert found.kind == "no effect"
    assert found.sentence == "Swap('x', prefetch=1): s needs one slice of x in all of t"


def test_prefetch_refused_when_the_index_comes_from_data() -> None:
    @wb.program
    def looked_up(N: int = 50, T: int = 4) -> dict[str, Any]:
        n, t = wb.dims(n=N, t=T)
        x = wb.normal(shape=(9,), over=n)
        at = wb.cast(wb.uniform(over=t) * 3.0, int) % N
        return {"y": wb.gather(x, n=at)}

    found = refusal(wb.variant(looked_up()), Swap("x", prefetch=2))
    assert found.kind == "capability"
    assert found.sentence == (
        "Swap('x', prefetch=2): y reads x at an index along n that depends on data: what it needs "
        "is not known 2 iterations of t earlier"
    )
    assert not found.instead  # all of x has to come, which is no less than there was


def test_prefetch_refused_when_the_slice_is_written_too_late() -> None:
    @wb.program
    def stepped(T: int = 30) -> dict[str, Any]:
        t = wb.dim(t=T)
        s = wb.recurrent("s", (50,), over=t)
        s[0] = wb.normal(shape=(50,))
        s[1] = wb.normal(shape=(50,))
        s[t + 2] = 0.5 * s[t]
        return {"last": s[T + 1]}

    variant = wb.variant(stepped())
    found = refusal(variant, Swap("s", prefetch=2))
    assert found.kind == "dependence" and found.witness is not None
    assert found.sentence == (
        "Swap('s', prefetch=2): s[t+2] at t=2 reads s[2], which s[t+2] at t=0 writes only after "
        "the copy 2 iterations of t earlier (smallest case: T=3)"
    )
    assert [dict(i) for i in found.witness.instances] == [{"t": 0}, {"t": 2}]
    assert found.instead == (Swap("s"),)
    assert not refusal(variant.apply(Swap("s")), Swap("s", prefetch=2)).instead
    same_as_reference(variant.program, variant.apply(Swap("s", prefetch=1)).program)


def test_array_in_shared_memory_refused() -> None:
    @wb.program
    def pushed(T: int = 9) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        y = wb.exp(x)
        return {"y": y.sum(over=t), "m": y.max(over=t)}

    variant = wb.variant(pushed()).apply(Vectorize("t")).apply(Donate("x", "y"))
    for name, other in (("x", "y"), ("y", "x")):
        found = refusal(variant, Swap(name))
        assert found.kind == "capability"
        assert found.sentence == (
            f"Swap('{name}'): {name} and {other} are in one piece of memory since "
            f"Donate('x', 'y'), and {other} lives on the device"
        )


def test_memory_of_another_space_is_not_donated() -> None:
    @wb.program
    def handed(T: int = 9) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (20,), over=t)
        x[0] = wb.normal(shape=(20,))
        x[t + 1] = x[t] * 0.5
        y = wb.recurrent("y", (20,), over=t)
        y[T] = x[T]
        y[t] = y[t + 1] + x[t]
        return {"y": y[0]}

    variant = wb.variant(handed()).apply(Swap("x"))
    found = refusal(variant, Donate("x", "y"))
    assert found.kind == "capability"
    assert "x lives in host memory, y in device memory" in found.sentence


# -- out of memory ---------------------------------------------------------------------------------


def test_out_of_memory_says_which_swap_would_help() -> None:
    with pytest.raises(OutOfMemoryError) as refused:
        wb.run(root(), capacity={"device": 4000}, progress=False, backend="numpy")
    message = refused.value.message
    assert refused.value.space == "device"
    assert message.startswith("device out of memory: 8 kB asked for x (40×50), capacity 4 kB")
    assert "; Swap('x') would leave " in message and message.endswith("device holds at most")
    found = wb.run(
        root().apply(Swap("x")), capacity={"device": 4000}, progress=False, backend="numpy"
    )
    assert found.peak_bytes <= 4000


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_swap_is_suggested_only_where_it_makes_the_run_fit(backend: str) -> None:
    peak = wb.run(root(), progress=False, backend=backend).peak_bytes
    less = root().apply(Swap("x")).predict(backend=backend).peak_bytes["device"]
    assert less < peak
    for capacity, helps in ((peak - 1, True), (less, True), (less - 1, False)):
        with pytest.raises(OutOfMemoryError) as refused:
            wb.run(root(), capacity={"device": capacity}, progress=False, backend=backend)
        assert ("Swap('x') would leave" in refused.value.message) is helps


def test_swap_is_not_suggested_where_the_host_has_the_same_memory() -> None:
    with pytest.raises(OutOfMemoryError) as refused:  # no capacity: the machine has too little
        wb.run(root(), sizes={"T": 10**14}, progress=False, backend="numpy")
    assert refused.value.message.endswith("smaller sizes would help")


def test_host_out_of_memory_names_the_space() -> None:
    with pytest.raises(OutOfMemoryError) as refused:
        wb.run(root().apply(Swap("x")), capacity={"host": 100}, progress=False, backend="numpy")
    assert refused.value.space == "host"
    assert refused.value.message.startswith("host out of memory: 8 kB asked for x (40×50)")
    assert "Swap" not in refused.value.message


# -- large observations ----------------------------------------------------------------------------


def test_swap_of_large_observations_leaves_a_quarter_on_the_device() -> None:
    environment = environments.Noisy((3, 16, 16))
    plain = learning_in_blocks(4, B=32, T=42, I=2, environment=environment, hidden=(4,))
    found = plain.apply(Swap("environment.observation"))
    before, after = (wb.run(v, progress=False, backend="numpy") for v in (plain, found))
    for name in before:
        np.testing.assert_array_equal(before[name], after[name])
    assert after.peak_bytes <= before.peak_bytes / 4
    assert after.peak == found.predict(backend="numpy").peak_bytes
    limit = {"device": before.peak_bytes // 4}
    assert wb.run(found, capacity=limit, progress=False, backend="numpy").peak == after.peak
    sentence = r"device out of memory: .* asked for environment.observation .*Swap\('environment.o"
    with pytest.raises(RunError, match=sentence):
        wb.run(plain, capacity=limit, progress=False, backend="numpy")
