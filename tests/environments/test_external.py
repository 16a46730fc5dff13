"""Gymnasium environments in programs, against Gymnasium used directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import workbench as wb
from tests.environments.playing import (
    Box,
    Clock,
    Discrete,
    choice,
    clock,
    one_episode,
    push,
    restarting,
    run,
)
from workbench.algorithms import a2c, ppo, reinforce
from workbench.backends.reference.evaluator import Reference
from workbench.environments import Gymnasium
from workbench.session.picture.snapshot import snapshot


@pytest.fixture(autouse=True)
def clocks() -> Any:
    """Every environment that a test makes is closed at its end."""
    Clock.open_clocks.clear()
    yield
    assert Clock.open_clocks == []


# -- against Gymnasium ----------------------------------------------------------------------------

CASES = {
    "CartPole-v1": (choice(2), {}),
    "Pendulum-v1": (push(1, 2.0), {"max_episode_steps": 15}),
    "MountainCarContinuous-v0": (push(1, 1.0), {"max_episode_steps": 11}),
    "Acrobot-v1": (choice(3), {"max_episode_steps": 9}),
}


@pytest.mark.parametrize("vectorized", ["sync", "async"])
@pytest.mark.parametrize("name", CASES)
def test_steps_and_restarts_are_gymnasiums(name: str, vectorized: str) -> None:
    act, arguments = CASES[name]
    found = run(restarting(Gymnasium(name, vectorized, **arguments), act), seed=7)
    ends = 0
    for b in range(3):
        twin = gymnasium.make(name, **arguments)
        observation, _ = twin.reset(seed=7 + b)
        for i in range(2):
            for t in range(40):
                at = (b, i, t)
                assert np.array_equal(found["state"][at], observation)
                action = found["action"][at]
                taken = action.astype(np.float32) if action.shape else int(action)
                observation, reward, terminated, truncated, _ = twin.step(taken)
                assert np.array_equal(found["following"][at], observation)
                assert found["reward"][at] == reward
                assert found["terminated"][at] == terminated
                assert found["truncated"][at] == truncated
                if terminated or truncated:
                    ends += 1
                    observation, _ = twin.reset()
        twin.close()
    assert ends >= 5


def test_a_reset_of_all_follows_the_update_before_and_the_done_ones_rest() -> None:
    found = run(one_episode(Gymnasium("CartPole-v1"), choice(2)))
    for b in range(3):
        twin = gymnasium.make("CartPole-v1")
        for i in range(3):
            observation, _ = twin.reset(seed=b if i == 0 else None)
            done = False
            for t in range(40):
                assert np.array_equal(found["state"][b, i, t], observation)
                assert not done or found["done"][b, i, t]
                if done:
                    assert found["reward"][b, i, t] == 0.0
                    continue
                taken = int(found["action"][b, i, t])
                observation, reward, terminated, truncated, _ = twin.step(taken)
                done = terminated or truncated
                assert found["reward"][b, i, t] == reward
        twin.close()


def test_two_runs_are_identical_and_another_seed_is_another_run() -> None:
    program = restarting(Gymnasium("CartPole-v1"), choice(2))
    first, second, other = run(program), run(program), run(program, seed=1)
    for name in first:
        assert first[name].tobytes() == second[name].tobytes()
    assert not np.array_equal(first["state"], other["state"])


@pytest.mark.parametrize("program", [restarting, one_episode])
def test_every_variant_agrees_with_the_reference(program: Callable[..., wb.Program]) -> None:
    traced = program(Gymnasium("CartPole-v1"), choice(2), I=2, T=20)
    expected = Reference(traced.equations).outputs()
    for variant in (wb.variant(traced), wb.variant(traced).apply(wb.transforms.Vectorize("b"))):
        found = run(variant)
        for name, values in expected.items():
            assert np.array_equal(found[name], values, equal_nan=values.dtype.kind == "f"), name


def test_a_value_is_shown_without_asking_the_environment_again() -> None:
    traced = one_episode(Gymnasium("CartPole-v1"), choice(2), I=2, T=20)
    shown = wb.value(traced, "state", b=1, i=1, t=9)
    assert np.array_equal(shown.value, Reference(traced.equations).element("state", (1, 1, 9)))
    assert "environment.token" in str(shown.inputs[0])


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        *((algorithm, "CartPole-v1") for algorithm in (reinforce, ppo, a2c)),
        (reinforce, "Pendulum-v1"),
        *(pytest.param(one, "Pendulum-v1", marks=pytest.mark.soundness) for one in (ppo, a2c)),
    ],
)
def test_algorithms_agree_with_the_reference(algorithm: Any, name: str) -> None:
    sizes = {"B": 2, "I": 2, "T": 8} | ({"E": 1, "M": 2} if algorithm is ppo else {})
    program = algorithm(environment=f"Gymnasium:{name}", hidden=(4,), **sizes)
    found = run(program)
    for output, values in Reference(program.equations).outputs().items():
        np.testing.assert_allclose(found[output], values, rtol=1e-9, equal_nan=True)


# -- spaces ---------------------------------------------------------------------------------------


def test_a_box_of_any_shape_is_observed_flat() -> None:
    env = clock()
    found = run(restarting(env, choice(2), I=1, T=4))
    assert env.observation_size == env.state_size == 4
    assert np.array_equal(found["following"][0, 0], [[1] * 4, [2] * 4, [3] * 4, [4] * 4])


def test_a_discrete_observation_is_one_hot_and_counts_from_its_start() -> None:
    found = run(restarting(clock(observed=Discrete(3, start=5)), choice(2), I=1, T=4))
    assert np.array_equal(found["state"][0, 0, :4], np.eye(3)[[0, 1, 2, 0]])


def test_actions_count_from_the_start_of_their_space() -> None:
    found = run(restarting(clock(taken=Discrete(2, start=7)), choice(2)))
    assert np.array_equal(found["reward"], found["action"] + 7.0)


def test_a_box_of_actions_has_its_own_shape_and_dtype() -> None:
    env = clock(taken=Box(-1.0, 1.0, (2, 3), np.float64))
    found = run(restarting(env, push(6, 1.0)))
    assert env.action_size == 6
    np.testing.assert_allclose(found["reward"], found["action"].sum(axis=-1), rtol=1e-12)


# -- the order of the calls -----------------------------------------------------------------------


def test_steps_are_one_after_the_other_whatever_is_vectorized() -> None:
    variant = wb.variant(one_episode(Gymnasium("CartPole-v1"), choice(2)))
    step = "environment.token"
    for dim in ("t", "i"):
        refusal = variant.check(wb.transforms.Vectorize(dim, (step,)))
        assert refusal is not None
        assert refusal.kind == "dependence"
        assert refusal.witness is not None
        assert "environment.token" in refusal.sentence
    both = variant.apply(wb.transforms.Vectorize("b")).apply(wb.transforms.Vectorize("t"))
    assert any("left as a loop over t" in note for note in both.notes)
    first, second = run(variant), run(both)
    for name in first:
        assert np.array_equal(first[name], second[name], equal_nan=True)


def test_two_environments_of_one_kind_are_two() -> None:
    @wb.program
    def both(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        outputs = {}
        for name in ("one", "two"):
            env = Gymnasium("CartPole-v1")
            state = wb.recurrent(name, env.state_size, over=(b, t))
            action = wb.cast(wb.index(t) >= 0, int)
            state[b, 0] = env.reset(over=b)
            state[b, t + 1] = env.step(state, action)[0]
            outputs[name] = state
        return outputs

    program = both()
    assert [e.name for e in program.externals] == ["CartPole-v1", "CartPole-v1_2"]
    found = run(program)
    assert np.array_equal(found["one"], found["two"])


# -- names ----------------------------------------------------------------------------------------


def test_the_key_knows_the_environment() -> None:
    def key(*positional: Any, **arguments: Any) -> str:
        return wb.variant(restarting(Gymnasium(*positional, **arguments), choice(2))).key

    assert key("CartPole-v1") == key("CartPole-v1")
    assert key("CartPole-v1") != key("CartPole-v1", max_episode_steps=9)
    assert key("CartPole-v1") != key("CartPole-v1", "async")


def test_the_equations_show_the_calls() -> None:
    text = str(restarting(Gymnasium("CartPole-v1"), choice(2)))
    assert "environment.token[0, 0]: float(B, 7) = CartPole-v1.reset()" in text
    assert (
        "environment.stepped[i, t]: float(B, 7) = CartPole-v1.step(environment.token[i, t], "
        "environment.states[i, t], environment.actions[i, t])"
    ) in text
    assert (
        "environment.token[i, t + 1] = CartPole-v1.restart(environment.stepped[i, t], "
        "environment.ended[i, t])"
    ) in text
    assert "environment.states[i, t]: float(B, 4) = collect(b) state[b, i, t]" in text


def test_the_picture_names_the_calls() -> None:
    nodes = snapshot(restarting(Gymnasium("CartPole-v1"), choice(2))).nodes
    called = {n.summary for n in nodes if n.kind == "external"}
    assert called == {f"call CartPole-v1.{call} (B, 7)" for call in ("reset", "step", "restart")}
