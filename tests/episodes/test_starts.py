"""Episodes that start from their own draws: draws wait for nothing, so there is an order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.native_runs import run_native
from workbench.backends import philox
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError
from workbench.program.values import Program
from workbench.transforms import Vectorize

SIZES = {"B": 4, "T": 9}


@wb.program
def started(B: int = 4, T: int = 9) -> dict[str, Any]:
    """A walk from a function of the noise of its first step."""
    b, t = wb.dims(b=B, t=T)
    x = wb.recurrent("x", (), over=(b, t))
    noise = wb.uniform(over=(b, t))
    scaled = wb.tanh(noise)
    x[b, 0] = 0.5 * scaled[b, 0]
    x[b, t + 1] = x + scaled
    end = wb.until(x > 1.5, over=t)
    return {"x": x, "noise": noise, "sum": (x * noise).sum(over=t), "last": x[b, end + 1]}


def expected(program: Program) -> dict[str, Any]:
    """The same by a loop that breaks."""
    B, T = SIZES["B"], SIZES["T"]
    key = philox.statement_key(program.statement["noise"].origin)
    x, noise = np.full((B, T + 1), np.nan), np.full((B, T), np.nan)
    total, last = np.zeros(B), np.zeros(B)
    for b in range(B):
        draws = [float(philox.draw("uniform", 0, key, [b, t], ())) for t in range(T)]
        x[b, 0] = 0.5 * np.tanh(draws[0])
        for t in range(T):
            noise[b, t] = draws[t]
            total[b] += x[b, t] * draws[t]
            last[b] = x[b, t + 1] = x[b, t] + np.tanh(draws[t])
            if x[b, t] > 1.5:
                break
    return {"x": x, "noise": noise, "sum": total, "last": last}


BACKENDS = [name for name in ("numpy", "native") if wb.backends()[name] is None]


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_start_of_own_draws_is_a_loop_that_breaks(backend: str) -> None:
    program = started()
    if backend == "reference":
        found: Any = Reference(program.equations).outputs()
    elif backend == "native":
        found = run_native(wb.optimize(program, backend=backend).program)
    else:
        found = wb.run(program, backend, dtype="float64", progress=False)
    wanted = expected(program)
    assert np.isnan(wanted["x"]).any()
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_steps_that_progress_counts_are_left_out_too(backend: str) -> None:
    """The outermost loop is over steps: a backend goes through it itself."""
    chosen = wb.variant(started()).apply(Vectorize("b"))
    if backend == "native":
        found: Any = run_native(chosen.program)
    else:
        told: list[tuple[int, int]] = []
        run = wb.run(
            chosen, backend, dtype="float64", progress=lambda done, of, _: told.append((done, of))
        )
        found = run
        assert told[-1] == (SIZES["T"], SIZES["T"])
    for name, values in expected(chosen.program).items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


def test_what_a_start_reads_has_no_guard_and_else_everything_has() -> None:
    text = str(started())
    assert "noise[b, t] = uniform()\n" in text
    assert "x[b, t + 1] = x[b, t] + scaled[b, t]    # if open[b, t]" in text

    @wb.program
    def apart(B: int = 4, T: int = 9) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", (), over=(b, t))
        noise = wb.uniform(over=(b, t))
        x[b, 0] = wb.uniform(over=b)
        x[b, t + 1] = x + noise
        wb.until(x > 1.5, over=t)
        return {"x": x.sum(over=t)}

    assert "noise[b, t] = uniform()    # if open[b, t]" in str(apart())


def test_start_refused_that_waits_for_its_own_episode() -> None:
    @wb.program
    def waiting(B: int = 4, T: int = 9) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x, y = (wb.recurrent(name, (), over=(b, t)) for name in "xy")
        y[b, t] = wb.uniform(over=(b, t)) + x
        x[b, 0] = y[b, 0]
        x[b, t + 1] = x + 1.0
        wb.until(x > 1.5, over=t)
        return {"x": x.sum(over=t)}

    with pytest.raises(ProgramError, match="a cycle with no delay"):
        waiting()
