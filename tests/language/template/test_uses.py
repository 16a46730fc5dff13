"""Values that are gathered and held elsewhere too: an index finds what the value itself has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import run_native
from workbench.backends.reference.evaluator import Reference
from workbench.errors import WorkbenchError
from workbench.program.values import Program


def _window(g: Any, t: Any, T: Any) -> Any:
    return wb.window(g, t=3)


def _next(g: Any, t: Any, T: Any) -> Any:
    held = wb.recurrent("held", (), over=t)
    held[0] = 5.0
    held[t + 1] = g
    return held


def _behind(g: Any, t: Any, T: Any) -> Any:
    held = wb.recurrent("held", (), over=t)
    held[T] = 5.0
    held[t] = g
    return held


HELD = {"window": _window, "next": _next, "behind": _behind}


def held(how: str, at: int, ends: bool) -> Program:
    """A square of the steps, gathered at one of them and held by something else."""

    @wb.program
    def squares(T: int = 6) -> dict[str, Any]:
        t = wb.dim(t=T)
        drawn = wb.uniform(over=t) * 0.0 + wb.cast(wb.index(t), float)
        if ends:
            wb.until(drawn > 3.5, over=t)
        g = drawn * drawn
        step = wb.cast(wb.exp(np.zeros(1))[0] * at, int)
        return {"held": HELD[how](g, t, T), "one": wb.gather(g, t=step)}

    return squares()


@pytest.mark.parametrize("ends", [False, True], ids=["whole", "ended"])
@pytest.mark.parametrize("how", HELD)
def test_a_gather_is_of_the_value(how: str, ends: bool) -> None:
    program = held(how, 4, ends)
    assert Reference(program.equations).outputs()["one"] == 16.0
    assert wb.run(program, "numpy", progress=False)["one"] == 16.0
    assert run_native(program)["one"] == 16.0


@pytest.mark.parametrize("at", [-1, 6])
@pytest.mark.parametrize("how", HELD)
def test_a_gather_elsewhere_fails(how: str, at: int) -> None:
    program = held(how, at, ends=False)
    with pytest.raises(WorkbenchError, match=r"g has elements t=0\.\.5 only"):
        Reference(program.equations).outputs()
    with pytest.raises(WorkbenchError, match=f"g is indexed at t = {at}, outside 0 to 5"):
        wb.run(program, "numpy", progress=False)


def test_a_gather_past_an_end_names_the_value() -> None:
    with pytest.raises(WorkbenchError, match="g is read at t = 5, which is past the end"):
        wb.run(held("window", 5, ends=True), "numpy", progress=False)


def test_what_is_gathered_along_another_dim_needs_no_array_of_its_own() -> None:
    @wb.program
    def rows(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        x[b, 0] = 1.0
        following = x + wb.uniform(over=(b, t))
        x[b, t + 1] = following
        row = wb.cast(wb.uniform(over=b) * 3.0, int)
        return {"x": x, "other": wb.gather(following, b=row)}

    assert {"x", "other", "row"} == set(rows().array) & {"x", "other", "row", "following"}
