"""Spaces built of others, entries of `info` and vector environments of the user's own, step by step
against Gymnasium used directly.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import workbench as wb
from tests.environments.playing import Clock, choice, clock, restarting, run
from workbench.algorithms import ppo, reinforce
from workbench.backends.reference.evaluator import Reference
from workbench.environments import Gymnasium
from workbench.errors import ProgramError, RunError

OBSERVED = spaces.Dict(
    {
        "where": spaces.Discrete(3, start=5),
        "body": spaces.Tuple((spaces.Box(-1, 1, (2, 2)), spaces.MultiBinary(3))),
        "hands": spaces.MultiDiscrete([2, 4], start=[1, 0]),
    }
)
TAKEN = spaces.Dict(
    {
        "move": spaces.Discrete(3, start=-1),
        "turn": spaces.Tuple((spaces.MultiDiscrete([2, 3], start=[0, 7]), spaces.MultiBinary(2))),
        "push": spaces.Box(-1, 1, (2, 1), np.float64),
    }
)


class Mixed(gymnasium.Env[Any, Any]):
    """Observes anything, and returns what is asked of it as its reward."""

    observation_space = OBSERVED
    action_space = TAKEN

    def __init__(self, forgets: bool = False) -> None:
        self.forgets = forgets

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space = deepcopy(OBSERVED)
            self.observation_space.seed(seed)
        self.steps = 0
        return self._observed()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        observation, info = self._observed()
        if self.forgets:
            del info["ratio"]
        return observation, worth(action), self.steps == 4, False, info

    def _observed(self) -> tuple[Any, dict[str, Any]]:
        mask = self.np_random.integers(0, 2, (2, 3), np.int8)
        ratio = float(self.np_random.random())
        info = {"mask": mask, "ratio": ratio, "ready": bool(mask[0, 0]), "who": "a clock"}
        return self.observation_space.sample(), info


def worth(action: Any) -> float:
    """A number that tells actions apart; only one of the space has one."""
    assert TAKEN.contains(action)
    (several, binary), push = action["turn"], action["push"]
    entries = [action["move"], *several, *binary, *push.ravel()]
    return float(np.dot(entries, 3.0 ** np.arange(len(entries))))


INFO = ("mask", "ready", "ratio")


def act(*over: Any) -> dict[str, Any]:
    """Random actions in the form of the space."""
    return {
        "move": choice(3)(*over),
        "turn": (
            wb.MultiCategorical(wb.normal(shape=5, over=over), (2, 3)).sample(),
            wb.Bernoulli(wb.normal(shape=2, over=over)).sample(),
        ),
        "push": wb.uniform(-1.0, 1.0, shape=2, over=over),
    }


def mixed(env: Any) -> wb.Program:
    """A program that returns all that it sees of it."""

    @wb.program
    def play(B: int = 2, T: int = 9) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, t))
        action = act(b, t)
        following, reward, terminated, truncated = env.step(state, action)
        state[b, 0] = env.reset(over=b)
        state[b, t + 1] = env.restart(terminated | truncated, following)
        parts = env.parts(state)
        return {
            "state": state,
            "observation": env.observe(state),
            "move": action["move"],
            "several": action["turn"][0],
            "binary": action["turn"][1],
            "push": action["push"],
            "reward": reward,
            "done": terminated | truncated,
            "mask": env.info(state, "mask"),
            "ready": env.info(state, "ready"),
            "ratio": env.info(state, "ratio"),
            "where": parts["where"],
            "box": parts["body"][0],
            "bits": parts["body"][1],
            "left": parts["hands"][0],
            "right": parts["hands"][1],
        }

    return play()


def seen(found: Any, at: tuple[int, ...], observation: Any, info: dict[str, Any]) -> None:
    """An observation and its info are those of the program at a step."""
    flat = spaces.flatten(OBSERVED, observation)
    assert np.array_equal(found["observation"][at], flat)
    beside = [*info["mask"].ravel(), info["ready"], info["ratio"]]
    assert np.array_equal(found["state"][at], np.concatenate([flat, beside]))
    for name in INFO:
        assert np.array_equal(found[name][at], info[name]), name
    assert np.argmax(found["where"][at]) + 5 == observation["where"]
    assert np.array_equal(found["box"][at], observation["body"][0])
    assert np.array_equal(found["bits"][at], observation["body"][1])
    hands = [np.argmax(found["left"][at]) + 1, np.argmax(found["right"][at])]
    assert np.array_equal(hands, observation["hands"])


@pytest.mark.parametrize("vectorized", ["sync", "async", "own"])
def test_spaces_in_spaces_step_by_step(vectorized: str) -> None:
    def vector(num_envs: int) -> Any:
        return SyncVectorEnv([Mixed] * num_envs, autoreset_mode=AutoresetMode.DISABLED)

    made = vector if vectorized == "own" else Mixed
    found = run(mixed(Gymnasium(made, vectorized, INFO)), seed=3)
    assert found["mask"].dtype == np.int32
    assert found["ready"].dtype == bool
    ends = 0
    for b in range(2):
        twin = Mixed()
        observation, info = twin.reset(seed=3 + b)
        for t in range(9):
            at = (b, t)
            seen(found, at, observation, info)
            action = {
                "move": np.int64(found["move"][at] - 1),
                "turn": (found["several"][at] + [0, 7], found["binary"][at].astype(np.int8)),
                "push": found["push"][at].reshape(2, 1),
            }
            observation, reward, terminated, _, info = twin.step(action)
            assert found["reward"][at] == pytest.approx(reward, rel=1e-12)
            assert found["done"][at] == terminated
            if terminated:
                ends += 1
                observation, info = twin.reset()
    assert ends == 4


def vector_of(name: str, num_envs: int, steps: int) -> Any:
    one = partial(gymnasium.make, name, max_episode_steps=steps)
    return SyncVectorEnv([one] * num_envs, autoreset_mode=AutoresetMode.DISABLED)


def test_the_done_ones_of_a_vector_environment_of_the_users_own_rest() -> None:
    """Gymnasium's vector environments refuse to step them."""
    env = Gymnasium(partial(vector_of, "CartPole-v1"), "own", steps=9)

    @wb.program
    def play(B: int = 4, I: int = 3, T: int = 30) -> dict[str, Any]:
        b, i, t = wb.dims(b=B, i=I, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        action = choice(2)(b, i, t)
        following, reward, terminated, truncated = env.step(state, action)
        state[b, i, 0] = env.reset(over=(b, i))
        state[b, i, t + 1] = following
        done = terminated | truncated
        return {"state": state, "action": action, "reward": reward, "done": done}

    found = run(play(), seed=2)
    for b in range(4):
        twin = gymnasium.make("CartPole-v1", max_episode_steps=9)
        observation, _ = twin.reset(seed=2 + b)
        end = int(found["done"][b, 0].argmax())
        for t in range(end + 1):
            assert np.array_equal(found["state"][b, 0, t], observation)
            observation, _, ended, late, _ = twin.step(int(found["action"][b, 0, t]))
            assert (ended or late) == found["done"][b, 0, t]
        assert (found["state"][b, 0, end + 1 :] == observation).all()
        twin.close()
        for i in range(3):
            ends = int(found["done"][b, i].argmax())
            assert ends < 9 and found["done"][b, i, ends:].all()
            assert (np.abs(found["state"][b, i, 0]) <= 0.05).all(), "an episode begins"
            assert found["reward"][b, i].sum() == ends + 1


@pytest.mark.parametrize("name", ["CartPole-v1", "Acrobot-v1", "by make_vec"])
def test_a_vector_environment_of_the_users_own_step_by_step(name: str) -> None:
    if name == "by make_vec":
        mode = {"autoreset_mode": AutoresetMode.DISABLED}
        name, arguments = "CartPole-v1", {"vectorization_mode": "sync", "vector_kwargs": mode}
        env = Gymnasium(name, "own", max_episode_steps=9, **arguments)
    else:
        env = Gymnasium(partial(vector_of, name), "own", steps=9)
    found = run(restarting(env, choice(env.action_count), T=25), seed=2)
    for b in range(3):
        twin = gymnasium.make(name, max_episode_steps=9)
        observation, _ = twin.reset(seed=2 + b)
        for i in range(2):
            for t in range(25):
                at = (b, i, t)
                assert np.array_equal(found["state"][at], observation)
                observation, reward, ended, late, _ = twin.step(int(found["action"][at]))
                assert np.array_equal(found["following"][at], observation)
                assert found["reward"][at] == reward
                assert (found["terminated"][at], found["truncated"][at]) == (ended, late)
                if ended or late:
                    observation, _ = twin.reset()
        twin.close()


def test_taxis_take_what_their_mask_allows() -> None:
    name = max(name for name in gymnasium.registry if name.startswith("Taxi-"))
    env = Gymnasium(name, info="action_mask", max_episode_steps=12)
    assert (env.observation_size, env.state_size) == (500, 506)

    @wb.program
    def play(B: int = 2, T: int = 30) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, t))
        mask = env.info(state, "action_mask") == 1
        action = wb.Categorical(wb.normal(shape=6, over=(b, t)), mask=mask).sample()
        following, reward, terminated, truncated = env.step(state, action)
        state[b, 0] = env.reset(over=b)
        state[b, t + 1] = env.restart(terminated | truncated, following)
        return {"state": env.observe(state), "mask": mask, "action": action, "reward": reward}

    found = run(play(), seed=1)
    for b in range(2):
        twin = gymnasium.make(name, max_episode_steps=12)
        observation, info = twin.reset(seed=1 + b)
        for t in range(30):
            assert np.argmax(found["state"][b, t]) == observation
            assert np.array_equal(found["mask"][b, t], info["action_mask"] == 1)
            action = int(found["action"][b, t])
            assert info["action_mask"][action]
            observation, reward, terminated, truncated, info = twin.step(action)
            assert found["reward"][b, t] == reward
            if terminated or truncated:
                observation, info = twin.reset()
        twin.close()


@pytest.mark.parametrize("taken", [spaces.MultiDiscrete([3, 2]), spaces.MultiBinary(2)])
@pytest.mark.parametrize("algorithm", [reinforce, ppo])
def test_algorithms_take_several_choices(algorithm: Any, taken: Any) -> None:
    sizes = {"B": 2, "I": 2, "T": 8} | ({"E": 1, "M": 2} if algorithm is ppo else {})
    env = clock(taken=taken)
    program = algorithm(environment=env, hidden=(4,), **sizes)
    found = run(program)
    for output, values in Reference(program.equations).outputs().items():
        np.testing.assert_allclose(found[output], values, rtol=1e-9, equal_nan=True)


# -- what is refused ------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def clocks() -> Any:
    """Every environment that a test makes is closed at its end."""
    Clock.open_clocks.clear()
    yield
    assert Clock.open_clocks == []


TEXTS = spaces.Text(3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"observed": TEXTS}, f"has observations from {TEXTS}; expected Box, Discrete, MultiDis"),
        ({"taken": TEXTS}, f"has actions from {TEXTS}; expected Box, Discrete, MultiDiscrete"),
        (
            {"observed": spaces.Dict(a=spaces.Tuple((spaces.Discrete(2), TEXTS)))},
            f'has observations from {TEXTS} at ["a"][1]; expected Box',
        ),
        ({"info": "n"}, "has no info 'n' after a reset; there are no entries"),
    ],
)
def test_environments_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProgramError) as refused:
        clock(**arguments)
    assert sentence in str(refused.value)
    assert refused.value.line is not None


def test_info_refused_when_it_is_no_number_or_was_not_asked_for() -> None:
    with pytest.raises(ProgramError, match="Mixed: info 'who' is no numbers"):
        Gymnasium(Mixed, info="who")
    with pytest.raises(ProgramError, match="has no info 'mas' after a reset; did you mean mask"):
        Gymnasium(Mixed, info="mas")
    with pytest.raises(ProgramError, match="Mixed is made without info='ready': the only one is m"):
        mixed(Gymnasium(Mixed, info=("mask", "ready")[:1]))


def test_info_that_a_step_lacks_ends_the_run() -> None:
    with pytest.raises(RunError, match=r"environment 0, raised KeyError: .*no 'ratio' here, but"):
        run(mixed(Gymnasium(Mixed, "sync", INFO, forgets=True)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda action: action["move"], "action is "),
        (lambda action: {**action, "jump": 1}, "; expected a dict of 'move', 'push', 'turn'"),
        (lambda action: {**action, "turn": (1,)}, 'action["turn"] is (1,); expected a tuple of 2'),
        (lambda action: {**action, "move": action["turn"]}, '["move"] is ('),
        (
            lambda action: {**action, "push": action["move"]},
            'takes actions["push"] from Box(-1.0, 1.0, (2, 1), float64), but the policy',
        ),
        (
            lambda action: {**action, "turn": (action["push"], action["turn"][1])},
            "are from float(2,); use wb.MultiCategorical(logits, (2, 3)).sample()",
        ),
        (
            lambda action: {**action, "turn": (action["turn"][0], action["push"])},
            "are from float(2,); use wb.Bernoulli(logits).sample() with 2 logits",
        ),
    ],
)
def test_actions_refused(change: Callable[[Any], Any], sentence: str) -> None:
    env = Gymnasium(Mixed)
    with pytest.raises(ProgramError) as refused:
        restarting(env, lambda *over: change(act(*over)))
    assert sentence in refused.value.message


def test_a_choice_beyond_its_space_ends_the_run() -> None:
    env = clock(taken=spaces.MultiDiscrete([3, 2]))

    def several(*over: Any) -> Any:
        return wb.stack([choice(2)(*over), choice(4)(*over)])

    assert env.action_counts == (3, 2)
    with pytest.raises(RunError, match=r"action\[1\] [23] of environment \d: Clock takes 0 to 1"):
        run(restarting(env, several))
    bits = clock(taken=spaces.MultiBinary(2))
    with pytest.raises(RunError, match=r"action\[1\] [23] of environment \d: Clock takes 0 or 1"):
        run(restarting(bits, several))


def test_a_vector_environment_refused_when_it_restarts_by_itself() -> None:
    with pytest.raises(ProgramError, match=r"restarts episodes by itself \(autoreset_mode .*NEXT_"):
        Gymnasium("CartPole-v1", "own")


def test_a_vector_environment_of_another_number_ends_the_run() -> None:
    def two(num_envs: int) -> Any:
        return SyncVectorEnv([Mixed] * 2, autoreset_mode=AutoresetMode.DISABLED)

    env = Gymnasium(two, "own", INFO)
    program = mixed(env)
    with pytest.raises(RunError, match="it has 2 environments, where 5 were asked for"):
        run(program, sizes={"B": 5})
