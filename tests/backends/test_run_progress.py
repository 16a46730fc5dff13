"""What counts as progress, and the outputs of the iterations that are done."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from workbench.backends.run_progress import RunProgress
from workbench.transforms import Persist


@wb.program
def counted(B: int = 4, T: int = 5) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    up = wb.recurrent("up", (), over=t)
    up[0] = 0.0
    up[t + 1] = up + wb.normal(over=t)
    return {"up": up, "alone": wb.normal(over=b)}


@wb.program
def downwards(T: int = 5) -> dict[str, Any]:
    t = wb.dim(t=T)
    down = wb.recurrent("down", (), over=t)
    down[T] = 0.0
    down[t] = down[t + 1] + wb.normal(over=t)
    return {"down": down}


@wb.program
def independent(B: int = 8) -> dict[str, Any]:
    b = wb.dim(b=B)
    return {"x": wb.tanh(wb.normal(over=b))}


SIZES = {"B": 4, "T": 5}
WHOLE = {"up": np.arange(6), "alone": np.arange(4)}


def test_outputs_are_those_of_the_iterations_that_are_done() -> None:
    run = RunProgress(wb.variant(counted()).loop_program, SIZES, None, WHOLE)
    assert list(run.iterations) == [0, 1, 2, 3, 4]
    assert (run.done, run.total) == (0, 5)
    run.step()
    run.step()
    assert {name: list(x) for name, x in run.finished().items()} == {"up": [0, 1, 2]}
    run.finish()
    assert run.finished() == WHOLE


def test_a_loop_that_runs_backwards_defines_the_end_first() -> None:
    run = RunProgress(wb.variant(downwards()).loop_program, SIZES, None, {"down": np.arange(6)})
    assert list(run.iterations) == [4, 3, 2, 1, 0]
    run.step()
    assert list(run.finished()["down"]) == [4, 5]


def test_each_iteration_is_told_with_its_outputs() -> None:
    told: list[tuple[int, int, list[str]]] = []
    run = RunProgress(
        wb.variant(counted()).loop_program,
        SIZES,
        lambda done, total, outputs: told.append((done, total, [*outputs])),
        WHOLE,
    )
    for _ in run.iterations:
        run.step()
    assert told == [(n, 5, ["up"]) for n in range(1, 5)] + [(5, 5, ["up", "alone"])]


def test_blocks_of_a_kernel_are_no_iterations() -> None:
    loops = wb.variant(independent()).apply(Persist("b", 2)).loop_program
    run = RunProgress(loops, {"B": 8}, None, {})
    assert loops.main_loop is None
    assert (list(run.iterations), run.total) == ([], 1)
