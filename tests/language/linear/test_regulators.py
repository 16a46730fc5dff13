"""Optimal control as recurrences: a regulator by Riccati's recurrence, and iLQR on a pendulum, both
against NumPy written from their papers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.native_runs import run_native
from workbench.backends.numpy import NumPyBackend
from workbench.program.values import Program
from workbench.transforms import Contract, Persist, Vectorize
from workbench.transforms.step.transform import Transform

Array = npt.NDArray[np.float64]
Q, R = np.diag([1.0, 0.5, 2.0]), np.array([[0.3, 0.1], [0.1, 0.7]])


def turned(matrix: Any, other: Any) -> Any:
    """The product of a matrix, transposed, with another."""
    return wb.contract("ki,kj->ij", matrix, other)


@wb.program
def regulator(B: int = 3, T: int = 6) -> dict[str, Any]:
    """Finite-horizon LQR (Anderson & Moore 1990, "Optimal Control", 2.4) of drawn systems."""
    b, t = wb.dims(b=B, t=T)
    a, c = wb.normal(shape=(3, 3), over=b), wb.normal(shape=(3, 2), over=b)
    value = wb.recurrent("value", (3, 3), over=(b, t))
    after = value[b, t + 1]
    gain = wb.solve(R + turned(c, after @ c), turned(c, after @ a))
    value[b, T] = Q
    value[b, t] = Q + turned(a, after @ (a - c @ gain))
    state = wb.recurrent("state", (3,), over=(b, t))
    state[b, 0] = wb.normal(shape=(3,), over=b)
    control = -(gain @ state)
    state[b, t + 1] = a @ state + c @ control
    cost = state @ (Q @ state) + control @ (R @ control)
    last = state[b, T]
    total = cost.sum(over=t) + last @ (Q @ last)
    return {"a": a, "c": c, "gain": gain, "value": value, "state": state, "cost": total}


def riccati(a: Array, c: Array, steps: int) -> tuple[Array, Array]:
    """Gains and value matrices, by inverting what the equations invert."""
    value, gains = [Q], []
    for _ in range(steps):
        after = value[0]
        gains.insert(0, np.linalg.inv(R + c.T @ after @ c) @ c.T @ after @ a)
        value.insert(0, Q + a.T @ after @ a - a.T @ after @ c @ gains[0])
    return np.array(gains), np.array(value)


def run(program: Program, backend: str) -> dict[str, Any]:
    if backend == "native":
        return run_native(program, seed=3)
    return NumPyBackend().compile(program).run({}, 3, "float64").outputs


def near(found: Any, wanted: Any, tolerance: float = 1e-9) -> None:
    scale = np.abs(wanted) + np.max(np.abs(wanted))
    assert np.max(np.abs(found - wanted) / scale) <= tolerance


BLOCKS = (Persist("b", 2), Contract())


@pytest.mark.parametrize(
    ("backend", "steps"),
    [("numpy", ()), ("numpy", (Vectorize("b"),)), ("numpy", BLOCKS), ("native", BLOCKS)],
    ids=["one by one", "in lanes", "in blocks", "in compiled blocks"],
)
def test_a_regulator_is_riccatis(backend: str, steps: tuple[Transform, ...]) -> None:
    variant = wb.variant(regulator())
    for step in steps:
        variant = variant.apply(step)
    found = run(variant.program, backend)
    for b in range(3):
        gains, value = riccati(found["a"][b], found["c"][b], 6)
        near(found["gain"][b], gains)
        near(found["value"][b], value)
        first = found["state"][b, 0]
        near(found["cost"][b], first @ value[0] @ first)  # by the recurrence of the states


STEP, LAST = 0.1, np.diag([10.0, 1.0])


def followed(state: Any, control: Any) -> Any:
    """A pendulum's next state, its angle being 0 where it stands on its head."""
    angle, speed = wb.unstack(state)
    faster = speed + STEP * (9.81 * wb.sin(angle) + control[..., 0])
    return wb.stack([angle + STEP * faster, faster])


def costs(state: Any, control: Any) -> Any:
    angle, speed = wb.unstack(state)
    return 1.0 - wb.cos(angle) + 0.1 * speed**2 + 0.05 * (control @ control)


def slopes(y: Any, x: Any) -> Any:
    """The derivatives of a vector, a row for each of its elements."""
    return wb.stack([wb.gradient(one, x) for one in wb.unstack(y)])


@wb.program
def balancing(B: int = 2, I: int = 5, T: int = 10) -> dict[str, Any]:
    """ILQR (Li & Todorov 2004) with the derivatives of a pendulum by `wb.gradient`."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    state = wb.recurrent("state", (2,), over=(b, i, t))
    control = wb.recurrent("control", (1,), over=(b, i, t))
    gain = wb.recurrent("gain", (1, 2), over=(b, i, t))
    change = wb.recurrent("change", (1,), over=(b, i, t))
    start, turn = wb.uniform(-1.0, 1.0, shape=(2,), over=b), i + 1
    state[b, 0, 0] = start
    state[b, 0, t + 1] = followed(state[b, 0, t], control[b, 0, t])
    state[b, turn, 0] = start
    state[b, turn, t + 1] = followed(state[b, turn, t], control[b, turn, t])
    control[b, 0, t] = wb.normal(shape=(1,), over=(b, t))
    control[b, turn, t] = control - change - gain @ (state[b, turn, t] - state)

    still, held = wb.stop_gradient(state), wb.stop_gradient(control)
    by_state, by_control = (
        slopes(followed(state, held), state),
        slopes(followed(still, control), control),
    )
    cost_state = wb.gradient(costs(state, held), state)
    cost_control = wb.gradient(costs(still, control), control)

    value = wb.recurrent("value", (2, 2), over=(b, i, t))
    slope = wb.recurrent("slope", (2,), over=(b, i, t))
    value[b, i, T] = LAST
    slope[b, i, T] = LAST @ state[b, i, T]
    after, onwards = value[b, i, t + 1], slope[b, i, t + 1]
    mixed = turned(by_control, after @ by_state)
    curve = slopes(cost_control, control) + turned(by_control, after @ by_control)
    gain[b, i, t] = wb.solve(curve, mixed)
    change[b, i, t] = wb.solve(curve, cost_control + onwards @ by_control)
    value[b, i, t] = (
        slopes(cost_state, state) + turned(by_state, after @ by_state) - turned(mixed, gain)
    )
    slope[b, i, t] = cost_state + onwards @ by_state - change @ mixed
    last = state[b, i, T]
    total = costs(state, control).sum(over=t) + 0.5 * (last @ (LAST @ last))
    return {"state": state, "control": control, "gain": gain, "cost": total}


Laws = list[tuple[float, Array]]
"""The change of the control at each step, and its gain."""


def by_hand(controls: Array, start: Array, passes: int) -> Iterator[tuple[Array, Array, float]]:
    """States, controls and cost of each pass, with the pendulum's derivatives worked out."""
    laws: Laws = [(0.0, np.zeros(2))] * len(controls)
    states = np.zeros((len(controls), 2))
    for _ in range(passes):
        states, controls = rolled(states, controls, laws, start)
        running = 1.0 - np.cos(states[:-1, 0]) + 0.1 * states[:-1, 1] ** 2 + 0.05 * controls**2
        yield states, controls, running.sum() + 0.5 * states[-1] @ LAST @ states[-1]
        laws = improved(states, controls)


def rolled(states: Array, controls: Array, laws: Laws, start: Array) -> tuple[Array, Array]:
    """States and controls by laws, beside those of the pass before."""
    after, chosen = [start], []
    for old, control, (change, gain) in zip(states, controls, laws, strict=False):
        angle, speed = after[-1]
        chosen.append(control - change - gain @ (after[-1] - old))
        speed += STEP * (9.81 * np.sin(angle) + chosen[-1])
        after.append(np.array([angle + STEP * speed, speed]))
    return np.array(after), np.array(chosen)


def improved(states: Array, controls: Array) -> Laws:
    """The laws of the next pass, from its last step to the first."""
    value, slope, laws = LAST, LAST @ states[-1], []
    by_control = np.array([STEP * STEP, STEP])
    for (angle, speed), control in zip(states[-2::-1], controls[::-1], strict=True):
        pull = STEP * 9.81 * np.cos(angle)
        by_state = np.array([[1.0 + STEP * pull, STEP], [pull, 1.0]])
        q_state = np.array([np.sin(angle), 0.2 * speed]) + by_state.T @ slope
        q_control = 0.1 * control + by_control @ slope
        bend = np.diag([np.cos(angle), 0.2]) + by_state.T @ value @ by_state
        curve = 0.1 + by_control @ value @ by_control
        mixed = by_control @ value @ by_state
        laws.insert(0, (q_control / curve, mixed / curve))
        value = bend - np.outer(mixed, mixed) / curve
        slope = q_state - mixed * q_control / curve
    return laws


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_ilqr_is_that_of_numpy(backend: str) -> None:
    variant = wb.variant(balancing()).apply(Vectorize("b"))
    found = run(variant.program, backend)
    for b in range(2):
        states, controls = found["state"][b], found["control"][b, ..., 0]
        costs = []
        for i, (x, u, cost) in enumerate(by_hand(controls[0], states[0, 0], 5)):
            near(states[i], x)
            near(controls[i], u)
            near(found["cost"][b, i], cost)
            costs.append(cost)
        assert costs[-1] < 0.5 * costs[0] and costs[-2] - costs[-1] < 1e-3 * costs[-1]


def test_nvrtc_finds_registers_for_a_regulator() -> None:
    told = wb.inspect_kernels(wb.variant(regulator()).apply(Persist("b", 16)), ("sm_90",))
    assert told.kernels and not any(kernel.spilled for kernel in told.kernels)
