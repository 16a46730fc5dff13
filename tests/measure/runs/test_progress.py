"""Where progress is written, and the steps of environments that it counts."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import workbench as wb
from workbench.algorithms import ppo
from workbench.measure.runs.progress import environment_steps, stream
from workbench.transforms import Persist, Vectorize
from workbench.transforms.step.transform import Transform


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
