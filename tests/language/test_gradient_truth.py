"""Gradients against central differences over random programs, and programs that were once wrong."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.soundness.differentiable import written
from tests.soundness.gradients import Differences, Tally, assert_same_in_numpy, held
from workbench.backends.reference.evaluator import Reference
from workbench.program.values import Program

TALLY = Tally()


@settings(max_examples=200)
@given(st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_gradient_of_random_program_is_its_derivative(
    dice: Random, kinks: bool, runs: bool
) -> None:
    found = held(written(dice, kinks), dice, kinks, runs)
    assert not found.wrong, found.wrong[0]
    assert not found.left_out_without_kinks
    TALLY.add(found)
    assert TALLY.left_out <= max(50, 0.05 * TALLY.elements), "too many elements are left out"


def assert_right(program: Program, **sizes: int) -> None:
    """Every number of `gradient` is the derivative of `loss` by `x`; NumPy computes the same."""
    differences = Differences(program, sizes, ())
    for entry in differences.entries():
        expected = differences.difference(entry)
        assert expected is not None
        assert differences.gradient(entry) == pytest.approx(expected, rel=1e-6, abs=1e-8), entry
    assert_same_in_numpy(differences)


def drawn(size: Any, over: Any = ()) -> Any:
    """A position along a dim of that size."""
    return wb.cast(wb.floor(wb.uniform(over=over) * wb.cast(wb.index(size), float)), int)


def test_gather_at_one_position() -> None:
    @wb.program
    def one(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        x[t] = 1.0 + wb.cast(wb.index(t), float)
        j = drawn(T)
        loss = wb.gather(x, t=j) ** 2
        return {"x": x, "j": j, "loss": loss, "gradient": wb.gradient(loss, x)}

    program = one()
    assert_right(program)
    result = wb.run(program, backend="numpy", progress=False)
    expected = np.where(np.arange(5) == result["j"], 2.0 * (1.0 + np.arange(5)), 0.0)
    assert result["gradient"].tolist() == expected.tolist()


def test_gather_of_last_states_of_episodes() -> None:
    @wb.program
    def lengths(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, over=(b, t))
        h = wb.recurrent("h", (), over=(b, t))
        h[b, 0] = 0.1
        h[b, t + 1] = wb.tanh(0.5 * h[b, t] + x)
        last = wb.gather(h, t=drawn(T + 1, over=b))
        loss = (last * last).sum(over=b)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    assert_right(lengths())


def test_gather_at_an_index_over_one_dim_of_an_array_over_two() -> None:
    @wb.program
    def rows(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, over=(b, t))
        loss = (wb.gather(x, t=drawn(T, over=b)) ** 2 * wb.uniform(over=b)).sum(over=b)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    assert_right(rows())


def test_gather_at_two_scalar_indices() -> None:
    @wb.program
    def cell(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, over=(b, t))
        loss = wb.sin(wb.gather(x, b=drawn(B), t=drawn(T)))
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    assert_right(cell())


def test_gather_through_an_index_that_is_no_sum() -> None:
    @wb.program
    def moved(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, over=(b, t))
        before = x[b, wb.maximum(t - 1, 0)]
        even = x[b - b % 2, t // 2]
        j = drawn(T, over=b)
        loss = (wb.gather(before, t=j) * wb.gather(even, t=j, b=drawn(B))).sum(over=b)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    assert_right(moved())


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_range_of_which_the_recurrence_knows_nothing(reduction: str) -> None:
    """Its points only count, and only where the recurrence's next slice is read."""

    @wb.program
    def counted(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", ())
        x[()] = 0.37
        w, u = wb.uniform(over=b), wb.uniform(over=(b, t))
        h = wb.recurrent("h", (), over=b)
        h[0] = x
        h[b + 1] = 0.5 * h
        each = u[b, 0:T] + h
        loss = (w * (each.sum() if reduction == "sum" else each.mean())).sum(over=b)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    program = counted()
    assert_right(program)
    assert "max(" not in str(program)


def test_range_of_no_points_counts_nothing() -> None:
    @wb.program
    def late(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, over=b)
        loss = (wb.uniform(over=(b, t))[b, 2:T] + x).sum().sum(over=b)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    program = late()
    for steps in (1, 2, 3):
        assert_right(program, T=steps)


def test_recurrence_read_inside_a_range_sum() -> None:
    """Where its last slice is read by nothing there is no point, and no slice to take."""

    @wb.program
    def summed(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.recurrent("x", ())
        x[()] = 0.37
        h = wb.recurrent("h", (), over=(b, t))
        h[0, t] = x
        h[b + 1, t] = 0.5 * h
        loss = (wb.uniform(over=(b, t)) * h[b, t:T].sum()).sum(over=(b, t))
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    program = summed()
    for sizes in ({}, {"B": 1, "T": 1}, {"B": 3, "T": 2}):
        assert_right(program, **sizes)


def test_what_starts_a_recurrence_along_a_dim_of_the_loss() -> None:
    @wb.program
    def started(I: int = 3, T: int = 2) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        x = wb.uniform(0.2, 1.2, over=t)
        h = wb.recurrent("h", (), over=i)
        h[0] = wb.sin(x[0]) * 0.9
        h[i + 1] = 0.5 * h[i] + 1.0
        loss = h * h + (x * wb.cast(wb.index(i), float)).sum(over=t)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    assert_right(started())


def test_sum_over_a_dim_of_the_loss_is_constant() -> None:
    """As every read of another update is."""

    @wb.program
    def baseline(I: int = 3) -> dict[str, Any]:
        i = wb.dim(i=I)
        x = wb.uniform(0.2, 1.2, over=i)
        loss = x * x - x.mean(over=i)
        return {"x": x, "gradient": wb.gradient(loss, x)}

    result = wb.run(baseline(), backend="numpy", dtype="float64", progress=False)
    np.testing.assert_allclose(result["gradient"], 2 * result["x"])


@pytest.mark.parametrize("loss", ["mirrored", "twice"])
def test_gradient_is_an_array_that_can_be_gathered_from(loss: str) -> None:
    @wb.program
    def read(B: int = 3, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, over=(b, t))
        j, k = drawn(T, over=b), drawn(T, over=b)
        each = wb.sin(wb.gather(x[B - 1 - b, t] if loss == "mirrored" else x, t=j))
        each = wb.exp(each) if loss == "twice" else each
        g = wb.gradient(each.sum(over=b), x)
        return {"g": g, "k": k, "at": wb.gather(g, t=k), "late": g[b, 1:T].sum()}

    for variant in (wb.variant(read()), wb.variant(read()).apply(wb.transforms.Vectorize("b"))):
        result = wb.run(variant, backend="numpy", dtype="float64", progress=False)
        g = result["g"]
        assert np.count_nonzero(g) == 3
        np.testing.assert_allclose(result["at"], g[np.arange(3), result["k"]])
        np.testing.assert_allclose(result["late"], g[:, 1:].sum(axis=1))


def test_sum_that_reads_an_array_without_elements() -> None:
    @wb.program
    def later(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, over=(b, t))
        loss = (x + wb.sin(x[1:B, wb.minimum(t + 1, T - 1)]).sum()).sum(over=(b, t))
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    program = later()
    for sizes in ({"B": 1}, {"B": 2}, {"B": 1, "T": 1}):
        assert_right(program, **sizes)
        expected = Reference(program.equations, sizes, 3).array("gradient")
        for dim in ("b", "t"):
            variant = wb.variant(program).apply(wb.transforms.Vectorize(dim))
            result = wb.run(
                variant, backend="numpy", sizes=sizes, seed=3, dtype="float64", progress=False
            )
            np.testing.assert_allclose(result["gradient"], expected, rtol=1e-9)


@pytest.mark.parametrize("H", [1, 2, 9])
def test_gather_of_what_a_recurrence_computes_from(H: int) -> None:
    """A promise says that only steps behind an element read it: its adjoint waits for these."""

    @wb.program
    def program(T: int = 5) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(0.2, 1.2, over=t)
        a = wb.recurrent("a", (), over=t)
        oldest = wb.maximum(t - H + 1, 0)
        held = wb.cast(wb.index(t + 1 - oldest), float)
        at = wb.index(oldest) + wb.cast(wb.uniform(over=t) * held, int)
        a[0] = 0.5
        a[t + 1] = wb.sin(0.3 * a + wb.gather(a, t=wb.within(at, oldest, t + 1)) * x)
        loss = a[T] ** 2 + (a * x).sum(over=t)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    assert_right(program())
    assert_right(program(), T=1)
