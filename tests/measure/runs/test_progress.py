"""Where progress is written, and the steps of environments that it counts."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.algorithms import ppo, reinforce
from workbench.measure.runs.progress import environment_steps, iterations
from workbench.transforms import Persist, Vectorize
from workbench.transforms.step.transform import Transform
from workbench.variants.progress_line import stream


@pytest.mark.parametrize("is_notebook", [False, True])
def test_progress_goes_to_the_error_output_but_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch, is_notebook: bool
) -> None:
    """That ipykernel was imported by somebody makes no notebook."""
    app = SimpleNamespace(initialized=lambda: is_notebook)
    monkeypatch.setitem(sys.modules, "ipykernel.kernelapp", SimpleNamespace(IPKernelApp=app))
    assert stream() is (sys.stdout if is_notebook else sys.stderr)


@pytest.mark.parametrize("steps", [[], [Vectorize("b")], [Persist("b", 4)]])
def test_steps_of_environments_do_not_depend_on_the_order(steps: list[Transform]) -> None:
    variant = wb.variant(ppo())
    for step in steps:
        variant = variant.apply(step)
    sizes = {"B": 8, "I": 3, "T": 4, "E": 2, "M": 2, "K": 16}
    assert environment_steps(variant.program, sizes) == 8 * 3 * 4


def test_line_says_what_is_done_before_a_run_and_is_empty_behind_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wb.run(leaky_sum(), "numpy")
    said = [line.strip() for line in re.split(r"[\r\n]", capsys.readouterr().err)]
    stages = [f"leaky_sum on numpy: {stage}" for stage in ("choosing steps", "compiling")]
    assert [line for line in said if line in stages] == stages
    tried = [line for line in said if line.startswith(f"{stages[0]}: ")]
    assert tried and all(said[said.index(last) + 1] == "" for last in (tried[-1], stages[1]))
    wb.run(wb.variant(leaky_sum()), "numpy")
    assert "choosing steps" not in capsys.readouterr().err  # of a variant they are chosen
    wb.run(leaky_sum(), "numpy", progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("progress", [True, False])
def test_line_says_what_the_search_for_steps_tries(
    capsys: pytest.CaptureFixture[str], progress: bool
) -> None:
    wb.optimize(leaky_sum(), sizes={"T": 41}, backend="numpy", progress=progress)
    said = [line.strip() for line in re.split(r"[\r\n]", capsys.readouterr().err)]
    heard = [line for line in said if line.startswith("leaky_sum: choosing steps: ")]
    assert bool(heard) == progress
    assert any("; best so far " in line for line in heard) == progress


def test_a_function_hears_of_the_begin_and_of_each_update_with_the_outputs_so_far() -> None:
    heard: list[tuple[int, int, int]] = []

    def report(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        heard.append((done, total, len(outputs.get("loss", ()))))

    program = wb.variant(reinforce(B=2, I=3, T=4, hidden=(4,)))
    wb.run(program, "numpy", progress=report)
    assert heard == [(0, 3, 0), (1, 3, 1), (2, 3, 2), (3, 3, 3)]


def test_a_function_that_raises_an_interrupt_ends_the_run() -> None:
    def stop(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        if done == 2:
            raise KeyboardInterrupt

    program = wb.variant(reinforce(B=2, I=3, T=4, hidden=(4,)))
    result = wb.run(program, "numpy", progress=stop)
    assert (result.completed, result.interrupted, len(result["loss"])) == (2, True, 2)


def test_the_iterations_are_of_the_outermost_loop_whatever_its_name() -> None:
    """A dim called `run` is a loop like another; without a loop there is no name."""

    @wb.program
    def several(R: int = 40) -> dict[str, Any]:
        run = wb.dim(run=R)
        x = wb.uniform(over=run)
        y = x * x
        return {"x": x, "y": y}

    program = several()
    assert iterations(program, {"R": 7}) == (7, "run")
    vectorized = wb.variant(program).apply(Vectorize("run")).program
    assert iterations(vectorized, {"R": 7}) == (1, "")
    sizes = {"B": 8, "I": 30, "T": 4, "E": 2, "M": 2, "K": 16}
    assert iterations(ppo(), sizes) == (30, "update")
