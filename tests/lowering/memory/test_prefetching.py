"""Slices that come early: what comes when, in how much memory, and that it is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.lowering.instances.test_swapping import same_as_reference, swapped, windows
from tests.programs import PROGRAMS
from workbench.backends import get
from workbench.lowering.attribution import attributed
from workbench.lowering.instances.swapping import copies
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import Allocate, walk
from workbench.lowering.lower import lower
from workbench.transforms import Contract, Distribute, Incrementalize, Tile, Vectorize


@wb.program
def there_and_back(B: int = 2, T: int = 7) -> dict[str, Any]:
    """Values that a loop backwards and one forwards bring from the host, in every batch."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(shape=(3,), over=(b, t))
    r = wb.recurrent("r", (), over=(b, t))
    r[b, T] = 0.0
    r[b, t] = 0.5 * r[b, t + 1] + x.max()
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = r[b, 0]
    s[b, t + 1] = 0.5 * s + x.sum()
    return {"s": s[b, T]}


def root(name: str) -> wb.Variant:
    return wb.variant(PROGRAMS[name][0]())


def early(loops: LoopProgram) -> list[int]:
    """By how many iterations every early copy is early."""
    return [copy.ahead for copy in copies(loops.body) if copy.ahead]


def late(loops: LoopProgram) -> list[tuple[str, str, str]]:
    return [(slice_.array, slice_.reader, slice_.why) for slice_ in loops.late]


def test_slice_comes_iterations_before_it_is_used() -> None:
    loops = lower(swapped(there_and_back(), "x", prefetch=2))
    assert early(loops) == [2, 2]
    lines = [line.strip() for line in str(loops).split("\n")]
    first = lines.index("for t in max(T - 2, 0):T reversed:")
    assert lines[first - 1 : first + 5] == [
        "allocate x_slices: float(3, 3)",
        "for t in max(T - 2, 0):T reversed:",
        "# r: x, 2 iterations early",
        "x_v_4_2 = x_v[t, :]",
        "x_slice_2_2 = x_slices[t % 3, :]",
        "x_slice_2_2 <- to_device(x_v_4_2)",
    ]
    back = lines.index("for t in 0:T reversed:")
    assert lines[back + 1 : back + 7] == [
        "# r: x, 2 iterations early",
        "if 0 <= t - 2:",
        "x_v_4_3 = x_v[t - 2, :]",
        "x_slice_2_3 = x_slices[(t - 2) % 3, :]",
        "x_slice_2_3 <- to_device(x_v_4_3, ahead=2)",
        "x_slice_2 = x_slices[t % 3, :]",
    ]
    forwards = lines.index("if t + 2 < T:")
    assert "for t in 0:min(2, T):" in lines[back:forwards]
    assert lines[forwards + 3] == "x_slice_3_3 <- to_device(x_v_6_3, ahead=2)"


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("T", [1, 2, 3, 7])
def test_results_are_bit_equal_however_few_iterations_there_are(n: int, T: int) -> None:
    program = there_and_back()
    whole, ahead = (
        get("numpy").compile(p).run({"T": T}) for p in (program, swapped(program, prefetch=n))
    )
    np.testing.assert_array_equal(whole.outputs["s"], ahead.outputs["s"])
    same_as_reference(program, swapped(program, prefetch=n), {"T": T})


def test_ring_has_a_slice_more_than_iterations_ahead() -> None:
    sizes, peaks = {"B": 2, "T": 30}, []
    for n in (20, 21, 22):
        loops = lower(swapped(there_and_back(), "x", prefetch=n))
        rings = [
            record.buffer.shape
            for record in walk(loops.body)
            if isinstance(record, Allocate) and record.buffer.name.startswith("x_slices")
        ]
        assert [str(count) for count, _ in rings] == [str(n + 1)] * 2
        peaks.append(loops.peak(sizes, "float32"))
    assert peaks[1] - peaks[0] == peaks[2] - peaks[1] == 3 * 4


def test_ring_is_called_by_its_array() -> None:
    program = swapped(there_and_back(), "x", prefetch=1)
    named = attributed(lower(program), program)
    assert named["x_slices"] == named["x_slices_2"] == "slices of x"
    assert named["x_slice"] == "a slice of x"


@pytest.mark.parametrize("size", [2, 3, 7, 8])
@pytest.mark.parametrize("n", [1, 2])
def test_blocks_come_early(size: int, n: int) -> None:
    program = windows()
    written = wb.variant(program).apply(Vectorize("b")).apply(Vectorize("t", ("x", "z", "y")))
    tiled = written.apply(Tile("t", size, ("x",))).apply(Tile("t", size, ("z", "y")))
    for found in (tiled, tiled.apply(Contract())):
        for arrays in (("x",), ("y", "z"), ()):
            ahead = swapped(found.program, *arrays, prefetch=n)
            same_as_reference(program, ahead)
            same_as_reference(program, ahead, {"T": 10})


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [1, 3])
def test_everything_on_the_host_early_computes_the_same(name: str, n: int) -> None:
    _, all_sizes = PROGRAMS[name]
    program = root(name).program
    same_as_reference(program, swapped(program, prefetch=n), dict(all_sizes[0]))


# -- what comes late -------------------------------------------------------------------------------


def test_slice_comes_early_as_far_as_it_is_written_earlier() -> None:
    program = root("delayed").program
    one, three = (lower(swapped(program, "x", prefetch=n)) for n in (1, 3))
    assert early(one) == [1] and late(one) == [("x", "y", "new")]
    assert early(three) == [] and late(three) == [("x", "y", "new"), ("x", "x[t+2]", "new")]


def test_slice_that_is_the_same_in_all_iterations_comes_late() -> None:
    @wb.program
    def first(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(shape=(3,), over=t)
        s = wb.recurrent("s", (3,), over=t)
        s[T] = 1.0
        s[t] = s[t + 1] * x[0]
        return {"s": s[0]}

    loops = lower(swapped(first(), "x", prefetch=1))
    assert not early(loops) and late(loops) == [("x", "s", "same")]


def test_slice_that_is_written_in_part_comes_late() -> None:
    found = root("n_step").apply(Vectorize("t")).apply(Distribute(("far", "value")))
    found = found.apply(Distribute(("value",))).apply(Incrementalize("discounted_sum", "t"))
    program = swapped(found.program, "discounted_sum.to_end", prefetch=1)
    part = "discounted_sum.to_end[3*t_block3+t_in3]"
    assert ("discounted_sum.to_end", part, "written") in late(lower(program))
    same_as_reference(root("n_step").program, program)


def test_slice_at_an_index_from_data_comes_late() -> None:
    @wb.program
    def looked_up(N: int = 5, T: int = 4) -> dict[str, Any]:
        n, t = wb.dims(n=N, t=T)
        x = wb.normal(shape=(9,), over=n)
        at = wb.cast(wb.uniform(over=t) * 3.0, int) % N
        return {"y": wb.gather(x, n=at)}

    loops = lower(swapped(looked_up(), "x", prefetch=1))
    assert late(loops) == [("x", "y", "same")]
    same_as_reference(looked_up(), swapped(looked_up(), "x", prefetch=1))
