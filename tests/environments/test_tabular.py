"""Tables of transitions: as Gymnasium has them, drawn as often as they say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import environments
from workbench.errors import ProgramError, WorkbenchError

gymnasium = pytest.importorskip("gymnasium")


def drawn(name: str, place: int, action: int, K: int = 4000) -> Any:
    """Starts of episodes, and outcomes of an action in a place."""

    @wb.program
    def outcomes(K: int = K) -> dict[str, Any]:
        k = wb.dim(k=K)
        env = environments.Tabular(name)
        state = wb.recurrent("state", env.state_size, over=k, dtype=int)
        state[k] = wb.stack([place, wb.index(k)])
        following, reward, terminated, truncated = env.step(state, wb.cast(action, int))
        each = 0 * wb.index(k)
        return {
            "start": env.observe(env.reset(over=k)) + each,
            "following": env.observe(following) + each,
            "reward": reward + wb.cast(each, float),
            "terminated": wb.cast(terminated, int) + each,
            "truncated": wb.cast(truncated, int) + each,
        }

    return wb.run(outcomes(), "numpy", progress=False)


@pytest.mark.parametrize(
    ("name", "place", "action"),
    [
        ("FrozenLake-v1", 14, 2),
        ("FrozenLake-v1", 0, 0),
        ("CliffWalking-v1", 36, 1),
        ("Taxi-v4", 1, 3),
    ],
)
def test_outcomes_come_as_often_as_gymnasium_says(name: str, place: int, action: int) -> None:
    made = gymnasium.make(name)
    found = drawn(name, place, action)
    columns = (np.asarray(found[c]).tolist() for c in ("following", "reward", "terminated"))
    counts = Counter(zip(*columns, strict=True))
    expected: Counter[Any] = Counter()
    for chance, after, reward, over in made.unwrapped.P[place][action]:
        expected[int(after), float(reward), bool(over)] += chance
    assert set(counts) == {outcome for outcome, chance in expected.items() if chance}
    for outcome, chance in expected.items():
        deviation = np.sqrt(4000 * chance * (1 - chance))
        assert abs(counts[outcome] - 4000 * chance) <= 5 * deviation
    limit = made.spec.max_episode_steps
    wanted = np.arange(1, 4001) >= limit if limit else np.zeros(4000, bool)
    np.testing.assert_array_equal(np.asarray(found["truncated"]), wanted)
    starts = made.unwrapped.initial_state_distrib
    first = np.bincount(np.asarray(found["start"]), minlength=len(starts))
    assert np.all(np.abs(first - 4000 * starts) <= 5 * np.sqrt(4000 * starts * (1 - starts)))


def refused(environment: Any) -> str:
    """The error of an environment that is no table."""

    @wb.program
    def example(B: int = 2) -> dict[str, Any]:
        b = wb.dim(b=B)
        return {"y": environments.tabular(environment).reset(over=b)}

    with pytest.raises(ProgramError) as error:
        example()
    return error.value.message


def test_refused_when_it_is_no_table() -> None:
    assert refused("CartPole-v1") == (
        "CartPole-v1 has no table of transitions P; expected an environment such as FrozenLake-v1, "
        "CliffWalking-v1 or Taxi-v4"
    )
    assert refused("FrozenLake-v9").startswith("FrozenLake-v9: ")
    assert refused(environments.CartPole()) == (
        "CartPole(time_limit=500) is no table of transitions; expected environments.Tabular(name), "
        'or the name: "FrozenLake-v1"'
    )


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"])
def test_a_log_is_a_walk_through_the_table(name: str) -> None:
    env, rows = environments.Tabular(name), 2000
    made = gymnasium.make(name)
    log = env.log(rows, seed=5)
    kinds = {key: column.dtype.str for key, column in log.items()}
    assert kinds == {
        "state": "<i4",
        "action": "<i4",
        "following": "<i4",
        "reward": "<f4",
        "terminated": "|b1",
    }
    starts = set(np.flatnonzero(made.unwrapped.initial_state_distrib))
    elapsed, limit = 0, made.spec.max_episode_steps
    for n, (s, a, after, reward, over) in enumerate(zip(*log.values(), strict=True)):
        possible = [one[1:] for one in made.unwrapped.P[s][a] if one[0]]
        assert (after, reward, over) in possible
        elapsed += 1
        if n + 1 == rows:
            continue
        if over or elapsed == limit:
            elapsed = 0
            assert log["state"][n + 1] in starts
        else:
            assert log["state"][n + 1] == after
    counts = np.bincount(log["action"], minlength=env.action_count)
    share = 1 / env.action_count
    assert np.all(np.abs(counts - rows * share) <= 5 * np.sqrt(rows * share * (1 - share)))


def test_a_log_follows_its_seed_and_the_chances_of_the_table() -> None:
    env = environments.Tabular("FrozenLake-v1")
    log, again, other = env.log(30_000), env.log(30_000, seed=0), env.log(30_000, seed=1)
    for name, column in log.items():
        np.testing.assert_array_equal(column, again[name])
    assert (log["action"] != other["action"]).any()
    # the ice is slippery: as often along the action as to either side of it
    there = (log["state"] == 0) & (log["action"] == 2)
    shares = np.bincount(log["following"][there], minlength=5)[[0, 1, 4]] / there.sum()
    assert there.sum() > 1000 and np.all(np.abs(shares - 1 / 3) < 0.06)


@pytest.mark.parametrize("rows", [0, 1.5, None])
def test_a_log_is_refused_without_rows(rows: Any) -> None:
    with pytest.raises(WorkbenchError) as error:
        environments.Tabular("FrozenLake-v1").log(rows)
    assert str(error.value) == f"FrozenLake-v1: a log of {rows} rows; expected 1 or more"


def test_a_state_that_is_no_whole_number_is_refused_where_the_step_is_taken() -> None:
    @wb.program
    def example(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        env = environments.Tabular("FrozenLake-v1")
        state = wb.recurrent("state", env.state_size, over=(b, t))
        state[b, 0] = 0.0
        action = wb.cast(wb.uniform(over=(b, t)) * 4.0, int)
        following, reward, terminated, truncated = env.step(state, action)
        state[b, t + 1] = env.restart(terminated | truncated, following)
        return {"reward": reward}

    with pytest.raises(ProgramError) as error:
        example()
    assert error.value.message == (
        "FrozenLake-v1 is in states of whole numbers, found state[b, t]: float(2,); expected "
        "wb.recurrent(…, dtype=int)"
    )
    assert error.value.line is not None and "env.step(state, action)" in error.value.line.text
