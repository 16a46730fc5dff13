"""What can be wrong with a Gymnasium environment, or go wrong in it: each with its sentence."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

import workbench as wb
from tests.environments.playing import (
    Clock,
    choice,
    clock,
    restarting,
    run,
)
from workbench import environments
from workbench.algorithms import ppo
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.environments import Gymnasium
from workbench.errors import ProgramError, RunError, UnavailableError, WorkbenchError


@pytest.fixture(autouse=True)
def clocks() -> Any:
    """Every environment that a test makes is closed at its end."""
    Clock.open_clocks.clear()
    yield
    assert Clock.open_clocks == []


# -- bad input ------------------------------------------------------------------------------------


def test_an_unknown_id_refused_with_the_nearest() -> None:
    with pytest.raises(ProgramError, match="no environment 'CartPoel-v1'; did you mean C") as told:
        Gymnasium("CartPoel-v1")
    assert told.value.line is not None
    assert told.value.line.text == 'Gymnasium("CartPoel-v1")'
    with pytest.raises(ProgramError, match="no environment 'CartPole-v77'; did you mean C"):
        environments.named("Gymnasium:CartPole-v77")


def test_gymnasium_named_without_an_id_refused() -> None:
    with pytest.raises(ProgramError, match="which one\\? For example Gymnasium:CartPole-v1"):
        environments.named("Gymnasium")


def test_another_way_to_vectorize_refused() -> None:
    with pytest.raises(
        ProgramError, match="vectorized='threads'; expected 'sync' or 'async' or 'own'"
    ):
        Gymnasium("CartPole-v1", "threads")


def test_an_environment_that_cannot_be_made_says_why() -> None:
    with pytest.raises(ProgramError, match=r"cannot be made: TypeError: .*unexpected keyword"):
        Gymnasium("CartPole-v1", gravitation=3)


@pytest.mark.parametrize("missing", ["gymnasium", "gymnasium.vector"])
def test_without_gymnasium_it_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UnavailableError, match=r"pip install 'gymnasium>=1\.1'"):
        Gymnasium("CartPole-v1")


def test_a_package_that_an_environment_needs_is_named() -> None:
    def lander() -> Any:
        raise gymnasium.error.DependencyNotInstalled("Box2D is not installed")

    with pytest.raises(UnavailableError, match="lander: Box2D is not installed"):
        Gymnasium(lander)


@pytest.mark.parametrize(
    ("name", "policy", "sentence"),
    [
        (
            "Pendulum-v1",
            lambda: wb.Categorical(wb.normal(shape=3)),
            r"takes actions from Box\(-2.0, 2.0, \(1,\), float32\), but the policy's are from "
            r"Discrete\(3\); use wb.Normal\(mean, std\).sample\(\) with 1 entries",
        ),
        (
            "CartPole-v1",
            lambda: wb.Categorical(wb.normal(shape=3)),
            r"takes actions from Discrete\(2\), but the policy's are from Discrete\(3\); use "
            r"wb.Categorical\(logits=…\).sample\(\) with 2 logits",
        ),
        (
            "CartPole-v1",
            lambda: wb.Normal(wb.normal(shape=1), 1.0),
            r"takes actions from Discrete\(2\), but the policy's are from float\(1,\)",
        ),
        (
            "Pendulum-v1",
            lambda: wb.Normal(wb.normal(shape=2), 1.0),
            r"Box\(-2.0, 2.0, \(1,\), float32\), but the policy's are from float\(2,\)",
        ),
    ],
)
def test_a_policy_refused_when_its_actions_are_from_another_space(
    name: str, policy: Callable[[], Any], sentence: str
) -> None:
    with pytest.raises(ProgramError, match=sentence) as refused:
        restarting(Gymnasium(name), lambda *over: policy().sample())
    assert refused.value.line is not None
    assert "env.step(state, action)" in refused.value.line.text


def test_an_action_beyond_its_space_ends_the_run() -> None:
    with pytest.raises(RunError, match=r"action \d+ of environment \d: .*Clock.* takes 0 to 1"):
        run(restarting(clock(), choice(5)))


@pytest.mark.parametrize("vectorized", ["sync", "async"])
@pytest.mark.parametrize(("fails", "where"), [("step", "i=0, t=2"), ("reset", "")])
def test_an_environment_that_raises_ends_the_run_and_all_are_closed(
    vectorized: str, fails: str, where: str
) -> None:
    program = restarting(clock(vectorized, fails=fails), choice(2))
    with pytest.raises(RunError) as failed:
        run(program)
    sentence = "Clock, environment 1, raised ValueError: the clock is stuck at 100%"
    assert str(failed.value).startswith(f"at {where}: {sentence}" if where else sentence)
    assert failed.value.line is not None
    assert f"env.{fails}(" in failed.value.line.text
    with pytest.raises(RunError, match="environment 1, raised ValueError"):
        Reference(program.equations).outputs()


def test_an_environment_that_cannot_be_made_twice_closes_the_first_ones() -> None:
    made: list[Clock] = []

    def third() -> Clock:
        made.append(Clock())
        if len(made) == 4:
            made[-1].close()
            raise OSError("no more clocks")
        return made[-1]

    program = restarting(Gymnasium(third), choice(2))
    with pytest.raises(RunError, match="failed: OSError: no more clocks"):
        run(program)


def test_a_worker_that_ends_ends_the_run_and_all_are_closed() -> None:
    program = restarting(clock("async", fails="end"), choice(2))
    with pytest.raises(RunError) as failed:
        run(program)
    sentence = "at i=0, t=2: a worker process of Clock, environment 1, has ended"
    assert str(failed.value).startswith(sentence)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("vectorized", ["sync", "async"])
def test_ctrl_c_in_a_step_ends_the_run_and_closes_all(vectorized: str) -> None:
    program = restarting(clock(vectorized, fails="interrupt", process=os.getpid()), choice(2), I=3)
    done = get("numpy").compile(program).run()
    assert done.completed == 0
    assert multiprocessing.active_children() == []


@pytest.fixture(scope="module")
def outside() -> wb.Variant:
    """Training as written, with an environment outside the program."""
    env = Gymnasium("CartPole-v1")
    return wb.variant(ppo(environment=env, B=2, I=1, T=4, E=1, M=1, hidden=(4,)))


@pytest.fixture(scope="module")
def trained(outside: wb.Variant) -> wb.Result:
    return run(outside)


def test_a_program_with_an_environment_outside_does_not_go_on_from_a_file(
    outside: wb.Variant, trained: wb.Result, tmp_path: Any
) -> None:
    trained.save(tmp_path / "ppo.safetensors")
    with pytest.raises(WorkbenchError, match="the state of CartPole-v1 lies outside the program"):
        run(outside, parameters=tmp_path / "ppo.safetensors")


def test_arrays_that_an_environment_answers_are_not_given_to_a_run(
    outside: wb.Variant, trained: wb.Result
) -> None:
    carried = trained.carried
    sentence = (
        r"has environment\.token, state, which ppo takes from CartPole-v1 at the start of a run"
    )
    with pytest.raises(WorkbenchError, match=sentence):
        run(outside, parameters=carried)
    own = {name: x for name, x in carried.items() if name.startswith("parameters.")}
    again = run(outside, parameters=own)
    assert again["loss"].shape == (1, 1, 1)
    assert not all((again.carried[name] == x).all() for name, x in own.items())


# -- equations ------------------------------------------------------------------------------------


def test_a_second_step_refused() -> None:
    env = Gymnasium("CartPole-v1")

    @wb.program
    def twice(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, t))
        state[b, 0] = env.reset(over=b)
        state[b, t + 1] = env.step(state, wb.cast(wb.uniform(over=(b, t)) < 0.5, int))[0]
        _, other, _, _ = env.step(state, wb.cast(wb.uniform(over=(b, t)) < 0.5, int))
        return {"other": other}

    with pytest.raises(ProgramError, match="a second step of CartPole-v1, which has one state"):
        twice()


def broken(reset: Any = None, given: Any = None) -> Callable[[], wb.Program]:
    """A program whose reset or stepped state is not as it should be."""
    env = Gymnasium("CartPole-v1")

    @wb.program
    def play(B: int = 2, I: int = 2, T: int = 3) -> dict[str, Any]:
        b, i, t = wb.dims(b=B, i=I, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        action = wb.cast(wb.uniform(over=(b, i, t)) < 0.5, int)
        following, reward, _, _ = env.step(given(state) if given else state, action)
        if reset is not None:
            state[b, i, 0] = reset(env, b, i, t)
        state[b, i, t + 1] = following
        return {"reward": reward}

    return play


def test_an_environment_refused_when_never_reset() -> None:
    with pytest.raises(ProgramError, match="CartPole-v1 is stepped, but never reset"):
        broken(lambda env, b, i, t: wb.uniform(shape=4, over=(b, i)))()


def test_a_reset_refused_when_over_other_dims() -> None:
    sentence = r"reset over \(b, t\), but stepped over \(b, i, t\): reset it over b or \(b, i\)"
    with pytest.raises(ProgramError, match=sentence):
        broken(lambda env, b, i, t: env.reset(over=(b, t))[b, 0])()
    with pytest.raises(ProgramError, match="the environments of CartPole-v1 are along b, not i"):
        broken(lambda env, b, i, t: env.reset(over=(i, b)))()


def test_a_step_from_another_state_ends_the_run() -> None:
    moved = broken(lambda env, b, i, t: env.reset(over=(b, i)), lambda state: state * 0.5)()
    with pytest.raises(
        RunError, match=r"at i=0, t=0: .*from another state than environment 0 is in"
    ):
        run(moved)


def test_a_restart_refused_when_not_behind_the_step() -> None:
    env = Gymnasium("CartPole-v1")

    @wb.program
    def play(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, t))
        action = wb.cast(wb.uniform(over=(b, t)) < 0.5, int)
        following, _, terminated, _ = env.step(state, action)
        state[b, 0] = env.reset(over=b)
        state[b, t + 1] = env.restart(terminated, following * 2.0)
        return {"state": state}

    with pytest.raises(ProgramError, match="it goes on from the state that step returned"):
        play()
