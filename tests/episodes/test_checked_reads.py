"""Reads of an episode of which only a run can tell whether they are past its end."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import fibres, watched
from tests.native_runs import run_native
from workbench.backends.reference.evaluator import Reference
from workbench.errors import WorkbenchError
from workbench.program.values import Program

SIZES = {"B": 4, "T": 6}


@wb.program
def read(B: int = 4, T: int = 6, last: tuple[int, ...] = (), way: str = "step") -> dict[str, Any]:
    """Squares of t that end at a step for each b, and one way of reading them."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    x[b, 0] = wb.cast(wb.index(b), float)
    x[b, t + 1] = x + 2.0 * wb.cast(wb.index(t), float) + 1.0
    ends = wb.exp(np.zeros(len(last))) * np.asarray(last, float)
    wb.until(wb.cast(wb.index(t), float) > ends[wb.index(b)] - 0.5, over=t)
    step = wb.cast(wb.uniform(over=b) * 0.5 + 3.0, int)
    ways = {
        "step": lambda: 2.0 * x[b, wb.minimum(4, T)],
        "data": lambda: wb.gather(x, t=step) + 1.0,
        "another": lambda: (x[0, t + 1] * x).sum(over=t),
    }
    return {"y": ways[way]()}


def squares(way: str, last: tuple[int, ...]) -> np.ndarray:
    """What it computes, by closed forms."""
    b = np.arange(4.0)
    if way == "step":
        return 2.0 * (b + 16)
    if way == "data":
        return b + 10
    steps = [np.arange(n + 1) for n in last]
    return np.array([((t + 1) ** 2 * (k + t**2)).sum() for k, t in enumerate(steps)])


WAYS = {
    "step": ((3, 4, 3, 5), (3, 2, 4, 4), "b=1", 4),
    "data": ((2, 3, 2, 5), (2, 5, 4, 1), "b=3", 3),
    "another": ((3, 1, 3, 2), (1, 1, 0, 2), "b=3", 3),
}
"""By way: last steps at which all that is read exists, others at which one instance reads what does
not, that instance and the step that it reads.
"""


def ways_of_running(program: Program) -> dict[str, Any]:
    """Each backend, as written and by its recipe."""
    root = wb.variant(program)
    persisted = root.apply(wb.transforms.Persist("b", 2)) if blocks(program) else root
    return {
        "reference": lambda: Reference(program.equations).outputs(),
        "numpy": lambda: wb.run(root, "numpy", dtype="float64", progress=False),
        "whole": lambda: wb.run(wb.optimize(root, backend="numpy"), "numpy", progress=False),
        "native": lambda: run_native(wb.optimize(root, backend="native").program),
        "cuda": lambda: watched(fibres(persisted.program), SIZES)[0],
    }


def blocks(program: Program) -> bool:
    return wb.variant(program).check(wb.transforms.Persist("b", 2)) is None


@pytest.mark.parametrize("way", WAYS)
def test_a_read_of_what_exists_is_that(way: str) -> None:
    last = WAYS[way][0]
    for name, run in ways_of_running(read(last=last, way=way)).items():
        np.testing.assert_allclose(run()["y"], squares(way, last), rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("way", WAYS)
def test_a_read_past_an_end_fails_at_the_instance(way: str) -> None:
    _, last, instance, step = WAYS[way]
    for name, run in ways_of_running(read(last=last, way=way)).items():
        with pytest.raises(WorkbenchError) as error:
            run()
        assert error.value.line is not None and "last" not in error.value.line.text, name
        said = f"x is read at t = {step}, which is past the end of the episode, by y at {instance}"
        if name == "reference":
            said = rf"is read at {instance}\b.*does not exist: its episode ended before"
        assert re.search(said, str(error.value)), (name, str(error.value))
