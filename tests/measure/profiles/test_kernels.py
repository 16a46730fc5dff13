"""Times of kernels shared out: made-up seconds whose division is known."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from tests.native_runs import compiled
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.protocol import Execution
from workbench.backends.timed.stamps import TimedRun
from workbench.codegen.stamps.segments import Segment, stamped
from workbench.measure.profiles.kernels import KernelTimes
from workbench.measure.profiles.parts import PYTHON, Part
from workbench.program.sizes import resolve
from workbench.transforms import Persist

BETWEEN = 0.5
CALLS = 100


@wb.program
def layers(B: int = 16) -> dict[str, Any]:
    """Layers: a small one beside the draws, and two that are products of matrices."""
    b = wb.dim(b=B)
    first, second, third = (wb.uniform(shape=shape) for shape in ((8, 8), (8, 32), (32, 32)))
    with wb.scope("acting", named=False):
        x = wb.uniform(shape=(8,), over=b)
        hidden = wb.tanh(x @ first)
    with wb.scope("learning", named=False):
        middle = wb.tanh(hidden @ second)
        out = wb.tanh(middle @ third)
    return {"out": out}


@pytest.fixture(scope="module")
def made() -> tuple[CompiledProgram, tuple[Segment, ...]]:
    program = wb.variant(layers()).apply(Persist("b", 16)).program
    native = compiled(program)
    return native, stamped(native.kernels)[1]


Made = tuple[CompiledProgram, tuple[Segment, ...]]


def run_of(seconds: list[float], calls: list[int], cost: float = 0.0) -> TimedRun:
    whole = Execution({}, sum(seconds) + BETWEEN, {}, 1, 1)
    return TimedRun(whole, seconds, calls, calls, cost)


def told(native: CompiledProgram, *runs: Any) -> KernelTimes:
    names, kernels = native.text().kernels, native.kernels.kernels
    launched = {name: (kernel,) for name, kernel in zip(names, kernels, strict=True)}
    sizes = resolve(native.program.equations, {"B": 16})
    return KernelTimes(native.program, native.kernels, launched, sizes, "float32", *runs)


def times(
    made: Made, kernel: float, inside: list[float], cost: float = 0.0
) -> tuple[KernelTimes, int]:
    """Times in which the divided kernel takes `kernel` seconds, and its segments `inside`."""
    native, segments = made
    count = len(native.kernels.kernels)
    number = segments[0].kernel
    assert {segment.kernel for segment in segments} == {number} and len(inside) == len(segments)
    plain = run_of([1.0 if k != number else kernel for k in range(count)], [CALLS] * count, cost)
    others = [1.0 if k != number else 0.0 for k in range(count)]
    calls = [CALLS] * (count + len(segments))
    divided = run_of([*others, *inside], calls, cost)
    return told(native, plain, segments, plain, divided), number


def of_kernel(found: tuple[Part, ...], name: str) -> dict[tuple[int, str], float]:
    return {(part.entry, part.statement): part.seconds for part in found if part.kernel == name}


def test_the_program_is_divided_as_the_tests_expect(made: Made) -> None:
    _, segments = made
    assert [set(s.statements) for s in segments] == [{"x", "hidden"}, {"middle"}, {"out"}]


def test_all_parts_add_up_to_the_plain_run(made: Made) -> None:
    found, _ = times(made, 4.0, [1.0, 2.0, 3.0])
    parts = found.parts()
    assert sum(p.seconds for p in parts) == pytest.approx(found.plain.execution.seconds)
    assert [p.seconds for p in parts if p.kernel == PYTHON] == [pytest.approx(BETWEEN)]


def test_a_kernels_seconds_are_divided_as_the_second_build_tells(made: Made) -> None:
    found, number = times(made, 3.0, [1.0, 2.0, 3.0])
    name = found.kernels()[number].name
    entries: dict[int, float] = {}
    for (entry, _), seconds in of_kernel(found.parts(), name).items():
        entries[entry] = entries.get(entry, 0.0) + seconds
    assert entries == pytest.approx({0: 0.5, 1: 1.0, 2: 1.5})
    division = found.kernels()[number].division
    assert division is not None and division.uncertain
    assert (division.plain_seconds, division.divided_seconds) == (3.0, 6.0)


def test_neighbours_that_are_too_short_are_one_entry(made: Made) -> None:
    short, long = 150e-9 * CALLS, 250e-9 * CALLS
    _, segments = made
    for inside, entries in (
        ([short, short, long], 2),
        ([short, long, short], 3),
        ([short, short, short], 1),
        ([long, long, long], 3),
    ):
        found, number = times(made, sum(inside), inside)
        name = found.kernels()[number].name
        assert len({entry for entry, _ in of_kernel(found.parts(), name)}) == entries
    assert len({segment.row for segment in segments}) == 1


def test_the_time_of_stamps_is_taken_out(made: Made) -> None:
    cost = 1e-3
    found, number = times(made, 3.0, [1.0, 2.0, 3.0], cost)
    kernel = found.kernels()[number]
    assert kernel.seconds == pytest.approx(3.0 - CALLS * cost)
    assert kernel.division is not None
    assert kernel.division.divided_seconds == pytest.approx(6.0 - 3 * CALLS * cost)


def test_without_a_second_build_counted_work_divides(made: Made) -> None:
    native, _ = made
    count = len(native.kernels.kernels)
    plain = run_of([1.0] * count, [CALLS] * count)
    found = told(native, plain)
    number = max(range(count), key=lambda k: len(native.kernels.kernels[k].statements))
    name = found.kernels()[number].name
    parts = of_kernel(found.parts(), name)
    assert sum(parts.values()) == pytest.approx(1.0)
    assert {entry for entry, _ in parts} == {0}
    assert parts[0, "out"] > parts[0, "middle"] > parts[0, "hidden"] > parts[0, "x"] > 0


def test_operations_are_those_of_all_launches(made: Made) -> None:
    found, number = times(made, 3.0, [1.0, 2.0, 3.0])
    name = found.kernels()[number].name
    flops = {p.statement: p.flops for p in found.parts() if p.kernel == name}
    least = CALLS * 16 * 32 * 32 * 2
    assert least <= flops["out"] <= least * 1.2


def test_kernels_that_were_not_launched_have_no_row(made: Made) -> None:
    native, _ = made
    count = len(native.kernels.kernels)
    plain = run_of([0.0] * (count - 1) + [1.0], [0] * (count - 1) + [CALLS])
    found = told(native, plain)
    assert len(found.kernels()) == 1
    assert {p.kernel for p in found.parts()} == {found.kernels()[0].name, PYTHON}
