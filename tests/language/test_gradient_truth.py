"""Gradients against central differences over random programs, and programs that were once wrong."""

from __future__ import annotations

from collections.abc import Callable
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
from workbench.errors import ProgramError
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
    assert TALLY.refused <= max(10, 0.1 * TALLY.programs), "too many programs are refused"


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


@pytest.mark.parametrize("way", ["slice", "softmax", "product"])
def test_part_of_a_value_read_at_a_clamped_step(way: str) -> None:
    """At no size but T = 1 is it read at t = 0: nothing of its derivative is there."""

    @wb.program
    def clamped(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, shape=2, over=(b, t))
        whole = {"slice": x, "softmax": wb.log_softmax(x), "product": x * 2.0}[way]
        later = whole[..., 0][B - 1 - b, wb.minimum(t + 1, T - 1)]
        loss = (wb.sin(later) + later * later).sum(over=(b, t))
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    program = clamped()
    for sizes in ({}, {"B": 1, "T": 1}, {"B": 3, "T": 2}):
        assert_right(program, **sizes)


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


def test_first_element_along_a_dim_of_the_loss() -> None:
    @wb.program
    def started(I: int = 3, T: int = 2) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        x = wb.uniform(0.2, 1.2, over=t)
        h = wb.recurrent("h", (), over=i)
        h[0] = wb.sin(x[0]) * 0.9
        h[i + 1] = 0.5 * wb.cast(wb.index(i), float) + 1.0
        loss = h * h + (x * wb.cast(wb.index(i), float)).sum(over=t)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    assert_right(started())


OWN_ELSEWHERE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x[i] over i": lambda x, i, I: x.mean(over=i),
    "x[i:I]": lambda x, i, I: x[i:I].sum(),
    "x[max(i - 1, 0)]": lambda x, i, I: x[wb.maximum(i - 1, 0)],
    "x[min(i, I - 1)]": lambda x, i, I: x[wb.minimum(i, I - 1)],
}


@pytest.mark.parametrize("how", OWN_ELSEWHERE)
def test_loss_that_depends_on_its_own_element_elsewhere_is_refused(how: str) -> None:
    """A direct derivative would leave that part out without a word."""

    @wb.program
    def baseline(I: int = 3, constant: bool = False, total: bool = False) -> dict[str, Any]:
        i = wb.dim(i=I)
        x = wb.uniform(0.2, 1.2, over=i)
        other = OWN_ELSEWHERE[how](x, i, I)
        loss = x * x - x * (wb.stop_gradient(other) if constant else other)
        return {"x": x, "other": other, "gradient": wb.gradient(loss, x, total=total)}

    with pytest.raises(ProgramError) as error:
        baseline()
    assert error.value.message.startswith(
        "the gradient is of each instance of loss[i] along i, which depends through "
    )
    assert error.value.message.endswith(
        " on those of others, or on its own in another place: write total=True for the derivative "
        "through all of them, or wb.stop_gradient(…) of it where it is a constant"
    )
    held = wb.run(baseline(constant=True), backend="numpy", dtype="float64", progress=False)
    np.testing.assert_allclose(held["gradient"], 2 * held["x"] - held["other"])
    x = held["x"]
    loss = {
        "x[i] over i": lambda x: (x * x - x * x.mean()).sum(),
        "x[i:I]": lambda x: (x * x - x * np.cumsum(x[::-1])[::-1]).sum(),
        "x[max(i - 1, 0)]": lambda x: (x * x - x * x[[0, 0, 1]]).sum(),
        "x[min(i, I - 1)]": lambda x: (x * x - x * x).sum(),
    }[how]
    whole = wb.run(baseline(total=True), backend="numpy", dtype="float64", progress=False)
    steps = 1e-6 * np.eye(3)
    slopes = [(loss(x + step) - loss(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(whole["gradient"], slopes, rtol=1e-6, atol=1e-8)


def test_loss_that_is_not_reduced_over_a_dim_that_the_parameters_lack_is_refused() -> None:
    """The gradient of a residual reads the next value too; reduced over t, it does."""

    @wb.program
    def residual(I: int = 2, T: int = 4, reduced: bool = True) -> dict[str, Any]:
        i, t = wb.dims(i=I, t=T)
        x = wb.uniform(0.2, 1.2, over=(i, t))
        w = wb.recurrent("w", (), over=i)
        w[0] = 1.5
        later = wb.recurrent("later", (), over=(i, t))
        later[i, 0] = w * x[i, 0]
        later[i, t + 1] = wb.exp(w * x)
        loss = (later - later[i, t + 1]) ** 2
        g = wb.gradient(loss.sum(over=t) if reduced else loss, w)
        w[i + 1] = w - 0.01 * g
        return {"x": x, "w": w, "g": g}

    with pytest.raises(ProgramError) as error:
        residual(reduced=False)
    assert error.value.message == (
        "the gradient is of each instance of loss[i, t] along t, which depends through "
        "later[i, t + 1] on those of others, or on its own in another place: sum or average the "
        "loss over t first, or wb.stop_gradient(…) of it where it is a constant"
    )
    result = wb.run(residual(), backend="numpy", dtype="float64", progress=False)
    x, w = result["x"], result["w"]

    def loss(i: int, weight: float) -> float:
        values = np.concatenate([[weight * x[i, 0]], np.exp(weight * x[i])])
        return float(((values[:-1] - values[1:]) ** 2).sum())

    slopes = [(loss(i, w[i] + 1e-6) - loss(i, w[i] - 1e-6)) / 2e-6 for i in range(2)]
    np.testing.assert_allclose(result["g"], slopes, rtol=1e-6)


def test_loss_along_a_recurrence_of_a_dim_that_the_parameters_lack_is_refused() -> None:
    @wb.program
    def growth(T: int = 4, reduced: bool = True) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(0.2, 1.2)
        a = wb.recurrent("a", (), over=t)
        a[0] = x
        a[t + 1] = a * x
        loss = a * 2.0
        return {"x": x, "g": wb.gradient(loss.sum(over=t) if reduced else loss, x)}

    with pytest.raises(ProgramError) as error:
        growth(reduced=False)
    assert "along t, which depends through a[t + 1] on those of others" in error.value.message
    assert "sum or average the loss over t first" in error.value.message
    result = wb.run(growth(), backend="numpy", dtype="float64", progress=False)
    powers = np.arange(1, 5)
    np.testing.assert_allclose(result["g"], (2.0 * powers * result["x"] ** (powers - 1)).sum())


def test_elements_at_given_places_or_found_by_data_are_constant() -> None:
    @wb.program
    def others(I: int = 3) -> dict[str, Any]:
        i = wb.dim(i=I)
        x = wb.recurrent("x", (), over=i)
        x[0] = 0.5
        loss = x * x[0] + x * wb.gather(x, i=wb.index(i))
        x[i + 1] = x + 0.25
        return {"x": x, "gradient": wb.gradient(loss, x)}

    found = wb.run(others(), backend="numpy", dtype="float64", progress=False)
    x = found["x"][:3]
    np.testing.assert_allclose(found["gradient"], x[0] + x)


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
