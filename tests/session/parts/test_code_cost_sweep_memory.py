"""Code, cost, sweep and memory of a variant: the same numbers as the compiler and the backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, get_args

import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench.algorithms import reinforce
from workbench.backends import backends, get
from workbench.backends.tracker import Memory
from workbench.errors import SizeError, UnavailableError, WorkbenchError
from workbench.session.parts.code import TextView, code, kernels
from workbench.session.parts.cost import cost
from workbench.session.parts.memory import MemoryView, memory
from workbench.session.parts.runs import runs
from workbench.session.parts.sweep import sweep
from workbench.session.processes.worker_client import URGENCY
from workbench.session.protocol.messages import Part
from workbench.variants.variant import Variant

SIZES = {"B": 3, "I": 2, "T": 5}
RUN: dict[str, Any] = {"sizes": SIZES, "backend": "numpy", "dtype": "float32"}


def variant(swapped: bool = False) -> Variant:
    return _swapped() if swapped else _automatic()


@cache
def _automatic() -> Variant:
    return wb.optimize(reinforce(hidden=(4,)), backend="numpy")


@cache
def _swapped() -> Variant:
    found = wb.variant(reinforce(hidden=(4,))).apply(wb.transforms.Vectorize("b"))
    return found.apply(next(m.step for m in found.each_move(wb.transforms.Swap) if m.legal))


def test_every_part_has_its_place_among_what_the_worker_does() -> None:
    assert set(get_args(Part)) <= set(URGENCY)


# -- code ------------------------------------------------------------------------------------------


def owner(shown: TextView) -> dict[int, str]:
    return {n: span.statement for span in shown.spans for n in range(span.first, span.last + 1)}


def test_points_that_are_added_up_say_so_and_own_the_lines_of_their_start() -> None:
    found = wb.variant(reinforce(hidden=(4,))).apply(wb.transforms.Accumulate("t"))
    name = "gradient.policy.bias_1.points"
    shown = code(found, {"backend": "numpy"})
    lines = [line for line in shown.equations.text.splitlines() if name in line.split("=")[0]]
    assert len(lines) == 1 and lines[0].endswith("# added up")
    owners = owner(shown.loops)
    of_points = [n for n, statement in owners.items() if statement == name]
    texts = [shown.loops.text.splitlines()[n].strip() for n in of_points]
    assert f"# {name}: {name}[i], the start" in texts
    assert f"# {name}: {name}[i], added up" in texts
    known = set(found.program.statement)
    assert set(owners.values()) <= known
    assert {share.statement for share in cost(found, RUN).shares} <= known
    held = memory(found, {"sizes": SIZES, "backend": "numpy", "dtype": "float32"})
    (buffer,) = [buffer for buffer in held.arrays if buffer.array == name]
    assert buffer.name == f"{name}, added up" and buffer.statements == (name,)


def test_texts_are_those_of_the_compiler() -> None:
    found = code(variant(), {"backend": "numpy"})
    assert found.equations.text == str(variant().program)
    assert found.schedule.text == variant().schedule.removesuffix("\n")
    assert found.loops.text == str(variant().loop_program).removesuffix("\n")
    compiled = get("numpy").compile(variant().program)
    assert found.source.text == compiled.source.removesuffix("\n")
    assert found.source.language == "python"


def test_each_statement_has_its_lines_on_every_level() -> None:
    found = code(variant(), {"backend": "numpy"})
    names = {s.name for s in variant().program.statements}
    for shown in (found.equations, found.schedule, found.loops, found.source):
        assert set(owner(shown).values()) == names
        assert max(owner(shown)) < len(shown.text.splitlines())
    for shown in (found.loops, found.source):
        assert shown.text.splitlines()[shown.start].strip().startswith("# ")
        assert shown.start == shown.text.splitlines().index(shown.text.splitlines()[shown.start])
    lines = found.schedule.text.splitlines()
    assert all(lines[n].strip() == name for n, name in owner(found.schedule).items())


def test_the_kernels_of_a_backend_that_is_not_here_are_shown_with_the_reason() -> None:
    reason = backends()["cuda"]
    if reason is None:
        pytest.skip("there is a GPU here")
    found = kernels(variant(), {"backend": "cuda", "dtype": "float32"})
    assert found.kernels and reason in found.remark


@pytest.mark.parametrize(("backend", "language"), [("native", "C"), ("cuda", "CUDA")])
def test_the_source_says_that_others_run_kernels_instead(backend: str, language: str) -> None:
    remark = code(variant(), {"backend": backend}).source.remark
    assert remark == f"{backend} does not run this, but the kernels under {language}."


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(UnavailableError, match="unknown backend 'abacus'"):
        code(variant(), {"backend": "abacus"})


# -- cost ------------------------------------------------------------------------------------------


def test_a_cost_is_the_variants_prediction() -> None:
    found, said = cost(variant(), RUN), variant().predict(SIZES, backend="numpy")
    assert (found.seconds, found.operations, found.bytes, found.launches) == (
        said.seconds, said.operations, said.bytes, said.launches,
    )  # fmt: skip
    assert found.peak_bytes == said.peak_bytes
    assert found.seconds == pytest.approx(
        sum(s.seconds for s in found.shares) + found.besides.seconds
    )
    assert sum(s.launches for s in found.shares) + found.besides.launches == said.launches


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_footprints_are_those_of_the_formulas(backend: str) -> None:
    found = cost(variant(), {**RUN, "backend": backend})
    said = variant().predict(SIZES, backend)
    assert [a.array for a in found.arrays] == [a.name for a in variant().program.arrays]
    for array in found.arrays:
        assert array.bytes == said.footprint[array.array].evaluate(found.sizes)
        assert array.formula == str(said.footprint[array.array])
        assert array.storage.startswith(array.array)


# -- sweep -----------------------------------------------------------------------------------------


def test_a_sweep_holds_the_predictions_at_its_stops() -> None:
    found = sweep(variant(), {**RUN, "size": "T"})
    values = [point.value for point in found.points]
    assert values == sorted(set(values))
    assert 5 in values
    assert max(values) == 80
    for point in found.points:
        said = variant().predict({**SIZES, "T": point.value}, backend="numpy")
        assert (point.seconds, point.peak_bytes) == (said.seconds, said.peak_bytes)


def test_a_sweep_leaves_out_what_does_not_divide() -> None:
    ppo = wb.variant(PROGRAMS["small_ppo"][0]())
    sizes = {"B": 2, "T": 6, "M": 4, "I": 1, "E": 1}
    values = [p.value for p in sweep(ppo, {**RUN, "sizes": sizes, "size": "T"}).points]
    assert values
    assert all(2 * value % 4 == 0 for value in values)


def test_a_sweep_of_no_size_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="'K' is no size that can be set; expected B, I, T"):
        sweep(variant(), {**RUN, "size": "K"})


# -- memory ----------------------------------------------------------------------------------------


def lived(found: MemoryView, space: int = 0) -> list[tuple[int, set[int]]]:
    """The bytes and what lives, at each point."""
    live: set[int] = set()
    course = []
    for point in found.spaces[space].points:
        assert not live & set(point.born)
        assert set(point.gone) <= live
        live = live - set(point.gone) | set(point.born)
        course.append((point.bytes, set(live)))
    return course


@pytest.mark.parametrize("swapped", [False, True])
def test_the_course_is_what_the_backend_holds(
    swapped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One iteration of each loop: the backend's own books say the same."""
    once = {"B": 3, "I": 1, "T": 1}
    booked: dict[str, list[int]] = {}
    reserve, free = Memory.reserve, Memory.free

    def reserving(self: Memory, *given: Any) -> Any:
        found = reserve(self, *given)
        booked.setdefault(self.space, []).append(self.held)
        return found

    def freeing(self: Memory, name: str) -> None:
        free(self, name)
        booked.setdefault(self.space, []).append(self.held)

    monkeypatch.setattr(Memory, "reserve", reserving)
    monkeypatch.setattr(Memory, "free", freeing)
    done = get("numpy").compile(variant(swapped).program).run(once)
    found = memory(variant(swapped), {"sizes": once, "backend": "numpy", "dtype": "float32"})
    assert {s.space: s.peak_bytes for s in found.spaces} == {
        space: peak for space, peak in done.peak.items() if peak
    }
    for shown in found.spaces:
        # memory that is taken over is asked for once
        asked = [p for p in shown.points if "in the memory of" not in p.text]
        assert [p.bytes for p in asked] == booked[shown.space]


def test_bytes_are_those_of_what_lives() -> None:
    found = memory(variant(), {"sizes": SIZES, "backend": "numpy", "dtype": "float64"})
    for held, live in lived(found):
        assert held == sum(found.arrays[n].bytes for n in live)


def test_a_point_stands_at_its_line_of_the_loop_program() -> None:
    found = memory(variant(), {"sizes": SIZES, "backend": "numpy", "dtype": "float32"})
    lines = code(variant(), {"backend": "numpy"}).loops.text.splitlines()
    assert found.lines == len(lines)
    assert all(lines[p.line].strip() == p.text for space in found.spaces for p in space.points)


def test_what_lives_is_called_by_the_users_names() -> None:
    found = memory(variant(), {"sizes": SIZES, "backend": "numpy", "dtype": "float32"})
    names = {a.name for a in variant().program.arrays}
    for buffer in found.arrays:
        assert buffer.array is None or buffer.array in names
        assert buffer.name == buffer.array or buffer.name.split(" of ")[0] in {
            "temporary", "constant", "a slice",
        }, buffer  # fmt: skip
        assert buffer.statements


def test_what_is_swapped_lives_on_the_host_and_slices_of_it_on_the_device() -> None:
    found = memory(variant(swapped=True), {"sizes": SIZES, "backend": "numpy", "dtype": "float32"})
    (swapped, *_) = variant(swapped=True).program.storage.swapped
    array = swapped if isinstance(swapped, str) else swapped[0]
    device, host = (
        {found.arrays[n].name for _, live in lived(found, k) for n in live} for k in (0, 1)
    )
    assert [space.space for space in found.spaces] == ["device", "host"]
    assert host == {array}
    assert f"a slice of {array}" in device


@pytest.mark.parametrize("part", [cost, memory, sweep])
def test_sizes_that_the_program_does_not_take_are_refused(part: Callable[..., Any]) -> None:
    with pytest.raises(SizeError, match="size T must be a positive integer, found 0"):
        part(variant(), {**RUN, "size": "B", "sizes": {"T": 0}})


@pytest.mark.parametrize("part", [cost, memory, sweep])
def test_an_unknown_dtype_is_refused(part: Callable[..., Any]) -> None:
    with pytest.raises(WorkbenchError, match="unknown dtype 'float16'"):
        part(variant(), {**RUN, "size": "B", "dtype": "float16"})


# -- runs ------------------------------------------------------------------------------------------

MEASURED: dict[str, Any] = {"backend": "numpy", "dtype": "float32", "repeats": None, "pace": None}


def test_runs_that_are_soon_over_have_no_other_sizes() -> None:
    found = runs(variant(), {**MEASURED, "sizes": SIZES})
    said = variant().predict(SIZES, backend="numpy").seconds
    assert (found.run, found.too_slow, found.affordable) == (said, False, None)
    assert found.seconds == pytest.approx(said * 31)
    assert runs(variant(), {**MEASURED, "sizes": SIZES, "repeats": 3}).seconds == said * 4


def test_runs_that_take_too_long_come_with_sizes_that_do_not() -> None:
    large = {"B": 3, "I": 10**7, "T": 5}
    found = runs(variant(), {**MEASURED, "sizes": large, "pace": 2.0})
    assert found.run == 2 * variant().predict(large, backend="numpy").seconds
    assert found.too_slow
    assert found.affordable is not None
    assert (found.affordable["B"], found.affordable["T"]) == (3, 5)
    again = runs(variant(), {**MEASURED, "sizes": found.affordable, "pace": 2.0})
    assert not again.too_slow
    assert again.seconds <= 30


def test_runs_on_a_backend_that_nobody_knows_are_not_predicted() -> None:
    with pytest.raises(UnavailableError, match="no times are predicted for abacus"):
        runs(variant(), {**MEASURED, "sizes": SIZES, "backend": "abacus"})
