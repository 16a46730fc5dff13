"""Direct and total derivatives: of each instance, and of the sum through all that follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from workbench import nn, optim
from workbench.errors import ProgramError

Floats = npt.NDArray[np.float64]


@wb.program
def controlled(B: int = 2, T: int = 5) -> dict[str, Any]:
    b, t = wb.dims(b=B, t=T)
    control = wb.normal(over=(b, t))
    state = wb.recurrent("state", (), over=(b, t))
    state[b, 0] = 1.0
    state[b, t + 1] = wb.sin(state) + 0.5 * control
    cost = state**2 * (1.0 + control) + control**2
    return {
        "control": control,
        "cost": cost,
        "direct": wb.gradient(cost, control),
        "total": wb.gradient(cost, control, total=True),
    }


def states(control: Floats) -> Floats:
    rows = [np.ones(len(control))]
    for t in range(control.shape[1]):
        rows.append(np.sin(rows[-1]) + 0.5 * control[:, t])
    return np.stack(rows[:-1], axis=1)


def cost(control: Floats) -> float:
    return float(np.sum(states(control) ** 2 * (1.0 + control) + control**2))


def test_direct_and_total_derivatives_of_a_cost_of_controls() -> None:
    program = controlled()
    for variant in (wb.variant(program), wb.optimize(wb.variant(program), backend="numpy")):
        result = wb.run(variant, backend="numpy", dtype="float64", progress=False)
        control, h = result["control"], 1e-6
        np.testing.assert_allclose(result["direct"], states(control) ** 2 + 2 * control)
        expected = np.zeros(control.shape)
        for place in np.ndindex(*control.shape):
            moved = np.zeros(control.shape)
            moved[place] = h
            expected[place] = (cost(control + moved) - cost(control - moved)) / (2 * h)
        np.testing.assert_allclose(result["total"], expected, rtol=1e-6, atol=1e-8)


def test_total_derivative_goes_through_a_mean_over_the_losses_dim() -> None:
    @wb.program
    def centred(B: int = 4) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.normal(over=b)
        loss = wb.exp(x - x.mean(over=b))
        return {"x": x, "total": wb.gradient(loss, x, total=True)}

    result = wb.run(centred(), backend="numpy", dtype="float64", progress=False)
    loss = np.exp(result["x"] - result["x"].mean())
    np.testing.assert_allclose(result["total"], loss - loss.mean(), atol=1e-12)


def test_the_graph_says_which_derivative_it_is() -> None:
    program = controlled()
    scopes = {s.scope for s in program.statements}
    assert {("gradient",), ("total_gradient",)} <= scopes
    assert "total_gradient:" in str(program)


def test_derivatives_refused_of_what_is_written_later() -> None:
    @wb.program
    def late(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        noise = wb.normal(over=t)
        x = wb.recurrent("x", (), over=t)
        x[0] = 1.0
        slope = wb.gradient((x[0:T] ** 2).sum(), noise)
        x[t + 1] = x * noise
        return {"slope": slope}

    with pytest.raises(ProgramError, match=r"^x\[t \+ 1\] = … comes after a derivative that goes"):
        late()


def test_total_derivative_refused_of_parameters_that_it_updates() -> None:
    @wb.program
    def ahead(I: int = 3) -> dict[str, Any]:
        i = wb.dim(i=I)
        network = nn.mlp("policy", 1, (), 1)
        theta = nn.parameters(network, over=i)
        loss = (network(theta, wb.stack([1.0])) ** 2).sum()
        theta.update(optim.sgd(wb.gradient(loss, theta, total=True), 0.1))
        return {"loss": loss}

    with pytest.raises(ProgramError, match="comes after a derivative that goes through it"):
        ahead()


def test_total_derivative_of_a_state_goes_through_the_states_that_follow() -> None:
    @wb.program
    def powers(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        x[0] = 1.5
        x[t + 1] = x**2
        loss = x[0:T].sum()
        held, total = wb.gradient(loss, x), wb.gradient(loss, x, total=True)
        return {"x": x, "held": held, "total": total}

    result = wb.run(powers(), backend="numpy", dtype="float64", progress=False)
    x, expected = result["x"], np.zeros(5)
    for t in reversed(range(4)):
        expected[t] = 1.0 + expected[t + 1] * 2.0 * x[t]
    np.testing.assert_allclose(result["total"], expected)
    np.testing.assert_allclose(result["held"], [1.0, 1.0, 1.0, 1.0, 0.0])


def test_a_derivative_has_the_elements_of_what_it_is_by() -> None:
    """What is to come has one element more, and its adjoint too."""

    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        value = wb.normal(over=t)
        to_come = wb.recurrent("to_come", (), over=t)
        to_come[T] = 0.0
        to_come[t] = value + 0.5 * to_come[t + 1]
        return {"slope": wb.gradient(to_come, value, total=True)}

    for backend in ("numpy", "native"):
        found = wb.run(wb.variant(example()), backend, dtype="float64", progress=False)
        np.testing.assert_array_equal(found["slope"], [1.0, 1.5, 1.75])


def test_a_gradient_through_what_is_defined_later_is_refused_on_its_line() -> None:
    @wb.program
    def example(E: int = 3) -> dict[str, Any]:
        e = wb.dim(e=E)
        theta = wb.recurrent("theta", 2, over=e)
        slope = wb.gradient((theta * theta).sum(), theta)
        theta[0] = 1.0
        theta[e + 1] = theta - 0.1 * slope
        return {"theta": theta}

    with pytest.raises(ProgramError) as error:
        example()
    assert error.value.message == (
        "the gradient goes through theta, which nothing defines yet: write theta[…] = … before it, "
        "of a recurrence its first elements at least"
    )
    assert error.value.line is not None and "wb.gradient(" in error.value.line.text
