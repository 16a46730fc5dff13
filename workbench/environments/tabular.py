"""Environments that are tables of transitions: those of Gymnasium's toy texts."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workbench.environments.actions import discrete
from workbench.environments.environment import Environment
from workbench.environments.package import package
from workbench.errors import ProgramError, WorkbenchError
from workbench.language.random import draws, uniform
from workbench.language.tracing.functions import cast, stack
from workbench.language.tracing.nodes import literal
from workbench.language.tracing.tensor import Tensor, TensorLike
from workbench.language.tracing.trace import scope, user_line
from workbench.polyhedral.expression import whole
from workbench.program.operations.dtypes import INTEGERS

Array = npt.NDArray[Any]


class Transitions(NamedTuple):
    """What may follow each action in each place: places, rewards and ends over (S, A, K) outcomes,
    and up to which number below 1 each but the last comes. `starts` are the first places of
    episodes, with such numbers too.
    """

    following: Array
    reward: Array
    terminated: Array
    until: Array
    starts: Array
    starts_until: Array


@dataclass(frozen=True)
class Tabular(Environment):
    """An environment of Gymnasium that has a table of transitions `P`: `Tabular("FrozenLake-v1")`,
    CliffWalking, Taxi.

    State: the place and the elapsed steps, integers; the observation is the place. The episode is
    truncated after as many steps as Gymnasium says, where it says so. `step` never restarts.
    """

    name: str

    state_size = 2

    @property
    def observation_count(self) -> int:
        """The number of places."""
        return len(self.transitions.reward)

    @property
    def action_count(self) -> int:
        """The number of actions."""
        return int(self.transitions.reward.shape[1])

    @cached_property
    def time_limit(self) -> int | None:
        """The steps after which an episode is truncated."""
        limit: int | None = self._made.spec.max_episode_steps
        return limit

    @cached_property
    def _made(self) -> Any:
        gymnasium = package()
        try:
            return gymnasium.make(self.name)
        except gymnasium.error.Error as error:
            raise ProgramError(f"{self.name}: {error}", user_line()) from None

    @cached_property
    def transitions(self) -> Transitions:
        """The table, as arrays."""
        made = self._made.unwrapped
        table = getattr(made, "P", None)
        if table is None:
            raise ProgramError(
                f"{self.name} has no table of transitions P; expected an environment such as "
                "FrozenLake-v1, CliffWalking-v1 or Taxi-v4",
                user_line(),
            )
        most = max(len(outcomes) for row in table.values() for outcomes in row.values())
        # where there are fewer outcomes than elsewhere the last one is repeated, with chance 0
        rows = [
            [
                list(table[s][a]) + [(0.0, *table[s][a][-1][1:])] * (most - len(table[s][a]))
                for a in table[s]
            ]
            for s in sorted(table)
        ]
        chances = np.array([[[o[0] for o in outcomes] for outcomes in row] for row in rows])
        first = np.asarray(made.initial_state_distrib)
        (starts,) = np.nonzero(first)
        return Transitions(
            np.array([[[o[1] for o in outcomes] for outcomes in row] for row in rows], np.int32),
            np.array([[[o[2] for o in outcomes] for outcomes in row] for row in rows], float),
            np.array([[[o[3] for o in outcomes] for outcomes in row] for row in rows], bool),
            np.cumsum(chances, axis=2)[..., :-1],
            starts.astype(np.int32),
            np.cumsum(first[starts])[:-1],
        )

    def log(self, rows: int = 20_000, seed: int = 0) -> dict[str, Array]:
        """Return a log to learn from, of so many steps whose actions are drawn evenly: the columns
        `state`, `action`, `following` (int32), `reward` (float32) and `terminated` (bool), a row a
        step, as `wb.data` takes them. Behind an end or the time limit an episode begins anew.
        """
        number = whole(rows)
        if number is None or number < 1:
            raise WorkbenchError(f"{self.name}: a log of {rows!r} rows; expected 1 or more")
        table, random = self.transitions, np.random.default_rng(seed)
        action, drawn = random.integers(self.action_count, size=number), random.random(number)
        begins = np.searchsorted(table.starts_until, random.random(number + 1), side="right")
        state, outcome = self._walked(
            action.tolist(), drawn.tolist(), table.starts[begins].tolist()
        )
        at = state, action, outcome
        return {
            "state": state,
            "action": action.astype(np.int32),
            "following": table.following[at],
            "reward": table.reward[at].astype(np.float32),
            "terminated": table.terminated[at],
        }

    def _walked(
        self, actions: list[int], drawn: list[float], starts: list[int]
    ) -> tuple[Array, Array]:
        """Return the places of a walk and the numbers of what happened there. `starts` has the
        first place, and for each step one from which the walk goes on where an episode is over.
        """
        table, limit = self.transitions, self.time_limit
        until, following = table.until.tolist(), table.following.tolist()
        terminated = table.terminated.tolist()
        places, outcomes = [], []
        place, elapsed = starts[0], 0
        for action, number, start in zip(actions, drawn, starts[1:], strict=True):
            outcome = bisect_right(until[place][action], number)
            places.append(place)
            outcomes.append(outcome)
            elapsed += 1
            if terminated[place][action][outcome] or elapsed == limit:
                place, elapsed = start, 0
            else:
                place = following[place][action][outcome]
        return np.array(places, np.int32), np.array(outcomes)

    def reset(self, over: Any) -> Tensor:
        """Draw the first place, for each instance of `over`."""
        with scope("environment"):
            table = self.transitions
            if len(table.starts) == 1:
                return literal([int(table.starts[0]), 0])
            which = cast(uniform(over=over) >= literal(table.starts_until), int).sum()
            return stack([literal(table.starts)[..., which], 0])

    def observe(self, state: Tensor) -> Tensor:
        """Return the place."""
        return state[..., 0]

    def step(self, state: Tensor, action: TensorLike) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated."""
        if state.dtype not in INTEGERS:
            raise ProgramError(
                f"{self.name} is in states of whole numbers, found {state!r}; expected "
                "wb.recurrent(…, dtype=int)",
                user_line(),
            )
        with scope("environment"):
            table, place = self.transitions, state[..., 0]
            action = discrete(self.name, action, self.action_count)
            outcome: Any = 0
            if table.until.shape[2]:
                drawn = draws("uniform", (), state.dims)
                passed = drawn >= literal(table.until)[..., place, action, :]
                outcome = cast(passed, int).sum()
            following, reward, terminated = (
                literal(x)[..., place, action, outcome]
                for x in (table.following, table.reward, table.terminated)
            )
            elapsed = state[..., 1] + 1
            truncated = elapsed >= self.time_limit if self.time_limit else literal(False)
            return stack([following, elapsed]), reward, terminated, truncated
