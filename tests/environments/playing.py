"""Programs that play Gymnasium environments at random, and one that can be made to fail."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np

import workbench as wb
from workbench.environments import Gymnasium

Box, Discrete = gymnasium.spaces.Box, gymnasium.spaces.Discrete


def restarting(env: Any, act: Callable[..., Any], **sizes: int) -> wb.Program:
    """Random actions; episodes go on over updates and restart where they are done."""

    @wb.program
    def play(B: int = 3, I: int = 2, T: int = 40) -> dict[str, Any]:
        b, i, t = wb.dims(b=B, i=I, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        action = act(b, i, t)
        following, reward, terminated, truncated = env.step(state, action)
        state[b, 0, 0] = env.reset(over=b)
        state[b, i + 1, 0] = state[b, i, T]
        state[b, i, t + 1] = env.restart(terminated | truncated, following)
        return {
            "state": state,
            "action": action,
            "following": following,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
        }

    return play(**sizes)


def one_episode(env: Any, act: Callable[..., Any], **sizes: int) -> wb.Program:
    """Random actions; every update resets all environments, nothing restarts in between."""

    @wb.program
    def play(B: int = 3, I: int = 3, T: int = 40) -> dict[str, Any]:
        b, i, t = wb.dims(b=B, i=I, t=T)
        state = wb.recurrent("state", env.state_size, over=(b, i, t))
        action = act(b, i, t)
        following, reward, terminated, truncated = env.step(state, action)
        state[b, i, 0] = env.reset(over=(b, i))
        state[b, i, t + 1] = following
        done = terminated | truncated
        return {"state": state, "action": action, "reward": reward, "done": done}

    return play(**sizes)


def choice(n: int) -> Callable[..., Any]:
    """One of n actions at random."""
    return lambda *over: wb.cast(wb.floor(wb.uniform(0.0, float(n), over=over)), int)


def push(size: int, most: float) -> Callable[..., Any]:
    """Floats up to `most` at random."""
    return lambda *over: wb.uniform(-most, most, shape=size, over=over)


def run(program: Any, seed: int = 0, backend: str = "numpy", **options: Any) -> wb.Result:
    """In float64, which holds every observation exactly."""
    return wb.run(program, backend, dtype="float64", seed=seed, progress=False, **options)


class Clock(gymnasium.Env[Any, Any]):
    """Counts steps; everything about it can be chosen. `open_clocks` are those not closed."""

    open_clocks: ClassVar[list[Clock]] = []

    def __init__(
        self,
        observed: Any = None,
        taken: Any = None,
        fails: str = "",
        when: int = 3,
        process: int = 0,
    ) -> None:
        self.observation_space = observed or Box(-np.inf, np.inf, (2, 2))
        self.action_space = taken or Discrete(2)
        self.fails, self.when, self.process = fails, when, process
        self.steps = self.number = 0
        self.open_clocks.append(self)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self.number = seed
        if self.fails == "reset" and self.number == 1:
            raise ValueError("the clock is stuck at 100%")
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if self.number == 1 and self.steps == self.when:
            if self.fails == "step":
                raise ValueError("the clock is stuck at 100%")
            if self.fails == "interrupt":  # what Ctrl-C sends
                os.kill(self.process, signal.SIGINT)
            if self.fails == "end":
                os._exit(3)
        return self._observation(), float(np.sum(action)), False, self.steps == 6, {"n": self.steps}

    def _observation(self) -> Any:
        if isinstance(self.observation_space, Discrete):
            return self.observation_space.start + self.steps % int(self.observation_space.n)
        return np.full(self.observation_space.shape, self.steps, self.observation_space.dtype)

    def close(self) -> None:
        if self in self.open_clocks:
            self.open_clocks.remove(self)


def clock(vectorized: str = "sync", **arguments: Any) -> Gymnasium:
    """An environment from a function."""
    return Gymnasium(Clock, vectorized, **arguments)
