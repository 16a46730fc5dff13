"""Every environment against Gymnasium, transition by transition, from random states and actions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np
import pytest

import workbench as wb
from workbench import environments
from workbench.language.tracing.tensor import Tensor

TRANSITIONS = 10_000


@dataclass(frozen=True)
class Case:
    """An environment, its twin, and the box that states and continuous actions are drawn from."""

    environment: Any
    twin: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    actions: tuple[float, float] | None = None


CASES = {
    "CartPole": Case(
        environments.CartPole(), "CartPole-v1", (-2.5, -3.0, -0.25, -3.0), (2.5, 3.0, 0.25, 3.0)
    ),
    "Pendulum": Case(
        environments.Pendulum(), "Pendulum-v1", (-12.0, -8.0), (12.0, 8.0), (-2.5, 2.5)
    ),
    "MountainCar": Case(environments.MountainCar(), "MountainCar-v0", (-1.2, -0.07), (0.6, 0.07)),
    "MountainCarContinuous": Case(
        environments.MountainCarContinuous(),
        "MountainCarContinuous-v0",
        (-1.2, -0.07),
        (0.6, 0.07),
        (-1.5, 1.5),
    ),
    "Acrobot": Case(
        environments.Acrobot(), "Acrobot-v1", (-3.1, -3.1, -12.0, -28.0), (3.1, 3.1, 12.0, 28.0)
    ),
}


def transitions(case: Case, count: int = TRANSITIONS) -> dict[str, np.ndarray]:
    """Random states and actions with what our step makes of them, in float64."""

    @wb.program
    def one_step(N: int = count) -> dict[str, Any]:
        (n,) = wb.dims(n=N)
        draw = wb.uniform(shape=len(case.low), over=n)
        width = [high - low for low, high in zip(case.low, case.high, strict=True)]
        drawn = np.array(case.low) + np.array(width) * draw
        state = wb.stack([*wb.unstack(drawn), 7.0])
        action: Tensor
        if case.actions is None:
            action = wb.cast(wb.floor(wb.uniform(0.0, case.environment.action_count, over=n)), int)
        else:
            action = wb.uniform(*case.actions, shape=1, over=n)
        following, reward, terminated, truncated = case.environment.step(state, action)
        return {
            "state": state,
            "action": action,
            "observation": case.environment.observe(following),
            "following": following,
            "reward": wb.cast(terminated, float) * 0.0 + reward,
            "terminated": terminated,
            "truncated": truncated,
        }

    at_once = wb.variant(one_step()).apply(wb.transforms.Vectorize("n"))
    return dict(wb.run(at_once, dtype="float64", progress=False, backend="numpy"))


@pytest.mark.parametrize("name", CASES)
def test_step_agrees_with_gymnasium(name: str) -> None:
    case = CASES[name]
    ours = transitions(case)
    twin = gymnasium.make(case.twin).unwrapped
    twin.reset(seed=0)
    size = len(case.low)
    theirs: dict[str, list[Any]] = {name: [] for name in ("following", "observation", "reward")}
    ended: list[bool] = []
    for n in range(TRANSITIONS):
        twin.state = ours["state"][n, :size].copy()
        if hasattr(twin, "steps_beyond_terminated"):
            twin.steps_beyond_terminated = None
        observation, reward, terminated, _, _ = twin.step(ours["action"][n])
        theirs["following"].append(np.asarray(twin.state))
        theirs["observation"].append(observation)
        theirs["reward"].append(reward)
        ended.append(bool(terminated))
    expected = np.array(theirs["following"])
    # one twin rounds the state it keeps to float32; then the rounded value is what must agree
    near = 1e-7 if expected.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(ours["following"][:, :size], expected, rtol=0.0, atol=near)
    found = np.array(theirs["observation"])
    np.testing.assert_allclose(ours["observation"], found, rtol=2e-7, atol=1e-6)
    rewards = np.array(theirs["reward"], np.float64)
    np.testing.assert_allclose(ours["reward"], rewards, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(ours["terminated"], ended)


@pytest.mark.parametrize("name", CASES)
def test_time_limit_truncates(name: str) -> None:
    case = CASES[name]
    for limit, truncated in ((8, True), (9, False)):
        limited = replace(case, environment=type(case.environment)(time_limit=limit))
        assert (transitions(limited, 1000)["truncated"] == truncated).all()


@pytest.mark.parametrize("name", CASES)
def test_reset_draws_from_the_same_box(name: str) -> None:
    environment, twin = CASES[name].environment, gymnasium.make(CASES[name].twin).unwrapped

    @wb.program
    def resets(N: int = 2000) -> dict[str, Any]:
        (n,) = wb.dims(n=N)
        return {"state": environment.reset(over=n)}

    ours = wb.run(resets(), dtype="float64", progress=False, backend="numpy")["state"]
    theirs = []
    for seed in range(2000):
        twin.reset(seed=seed)
        theirs.append(np.asarray(twin.state, dtype=np.float64))
    found = np.array(theirs)
    size = found.shape[1]
    assert (ours[:, size] == 0.0).all()
    np.testing.assert_allclose(ours[:, :size].min(0), found.min(0), atol=0.02 * np.pi)
    np.testing.assert_allclose(ours[:, :size].max(0), found.max(0), atol=0.02 * np.pi)
