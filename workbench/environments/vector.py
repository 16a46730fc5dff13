"""The Gymnasium environments of one run, side by side; a program's calls are made on them.

An environment's whole answer is one row: the observation, entries of `info`, reward, terminated,
truncated. It travels through a vector environment as the observation, so one array is all that a
call hands over. A user's own vector environment answers with rows too (`OwnRows`).
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import wait
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from workbench.environments.package import package
from workbench.environments.spaces import (
    InfoEntry,
    Path,
    built,
    entries,
    leaves,
    taken,
    write,
)
from workbench.errors import RunError

FLAGS = 3
"""Entries of a row behind the observation: reward, terminated, truncated."""
CLOSING_SECONDS = 2.0
"""The time that closing waits for a worker that is still stepping."""

Rows = npt.NDArray[Any]


class Row:
    """One environment with rows as answers, as a vector environment expects it.

    An exception goes along as `raised`, so that the other environments finish their step. Once
    done, it rests until it is reset: its row stays, with reward 0.
    """

    metadata: ClassVar[dict[str, Any]] = {}
    render_mode = None

    def __init__(
        self, make: Callable[[], Any], process: int, infos: tuple[InfoEntry, ...] = ()
    ) -> None:
        if os.getpid() != process:  # Ctrl-C is the main process's, which closes the workers
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.environment = make()
        observed = self.environment.observation_space
        self.action_space = self.environment.action_space
        self.leaves, self.infos = leaves(observed), infos
        self.size = entries(observed) + sum(entry.size for entry in infos)
        shape = (self.size + FLAGS,)
        self.observation_space = package().spaces.Box(-np.inf, np.inf, shape, np.float64)
        self.row = np.zeros(shape)
        self.done = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Rows, dict[str, Any]]:
        """Return the first row of an episode."""
        try:
            observation, info = self.environment.reset(seed=seed)
            self._write(observation, info, 0.0, False, False)
        except Exception as error:  # another package's code: whatever it raises
            return self.row, _raised(error)
        return self.row, {}

    def step(self, action: Any) -> tuple[Rows, float, bool, bool, dict[str, Any]]:
        """Return the row after an action. The vector environment sees no reward and no end."""
        if self.done:
            self.row[self.size] = 0.0
            return self.row, 0.0, False, False, {}
        try:
            self._write_step(*self.environment.step(action))
        except Exception as error:  # another package's code: whatever it raises
            return self.row, 0.0, False, False, _raised(error)
        return self.row, 0.0, False, False, {}

    def close(self) -> None:
        """Close the environment."""
        self.environment.close()

    def _write_step(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any]
    ) -> None:
        self._write(observation, info, reward, terminated, truncated)

    def _write(
        self, observation: Any, info: dict[str, Any], reward: Any, terminated: Any, truncated: Any
    ) -> None:
        row, size = self.row, self.size
        for leaf in self.leaves:
            write(leaf, row[None], observation)
        for entry in self.infos:
            entry.write(row[None], info)
        row[size], row[size + 1], row[size + 2] = reward, terminated, truncated
        self.done = bool(terminated or truncated)


class OwnRows:
    """A user's own vector environment, with rows as answers. Those that are done rest until they
    are reset: their rows stay, with reward 0. Gymnasium's own refuse to step one that is done, so
    it begins an episode that nobody sees.
    """

    def __init__(self, vector: Any, count: int, infos: tuple[InfoEntry, ...]) -> None:
        if vector.num_envs != count:
            vector.close()
            raise RunError(f"it has {vector.num_envs} environments, where {count} were asked for")
        self.vector, self.infos = vector, infos
        self.single_action_space = vector.single_action_space
        observed = vector.single_observation_space
        self.leaves = leaves(observed)
        self.size = entries(observed) + sum(entry.size for entry in infos)
        self.rows = np.zeros((count, self.size + FLAGS))
        self.ended = np.zeros(count, bool)

    def reset(
        self, *, seed: list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Rows, dict[str, Any]]:
        """Return the rows, the first of an episode where the options' `reset_mask` says so."""
        mask = np.ones(len(self.rows), bool) if options is None else options["reset_mask"]
        observations, info = self.vector.reset(seed=seed, options=options)
        self._write(observations, info, mask)
        self.rows[mask, self.size :] = 0.0
        self.ended[mask] = False
        return self.rows, {}

    def step(self, actions: Any) -> tuple[Rows, dict[str, Any]]:
        """Return the rows after an action of each."""
        if self.ended.any():
            self.vector.reset(options={"reset_mask": self.ended})
        observations, reward, terminated, truncated, info = self.vector.step(actions)
        self.ended = np.asarray(terminated) | np.asarray(truncated)
        goes_on: Rows = np.asarray(~self.rows[:, self.size + 1 :].any(axis=1))
        self._write(observations, info, goes_on)
        self.rows[:, self.size] = np.where(goes_on, reward, 0.0)
        for place, flag in ((1, terminated), (2, truncated)):
            self.rows[goes_on, self.size + place] = np.asarray(flag)[goes_on]
        return self.rows, {}

    def close(self, **options: Any) -> None:
        """Close the vector environment."""
        self.vector.close(**options)

    def _write(self, observations: Any, info: dict[str, Any], where: Rows) -> None:
        """Write what is answered to the rows `where` it counts."""
        answered = np.zeros_like(self.rows)
        for leaf in self.leaves:
            write(leaf, answered, observations)
        for entry in self.infos:
            entry.write(answered, info)
        self.rows[where, : self.size] = answered[where, : self.size]


def _raised(error: Exception) -> dict[str, Any]:
    return {"raised": f"{type(error).__name__}: {error}"}


class Vector:
    """`count` environments; environment b is seeded with `seed` + b at the first reset.

    Calls write the rows of all environments, (count, row), into `out`.
    """

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        count: int,
        seed: int,
        vectorized: str,
        infos: tuple[InfoEntry, ...] = (),
    ) -> None:
        self.name = name
        self.seeds: list[int] | None = [seed + b for b in range(count)]
        self.vector = self._made(make, count, vectorized, infos)
        space = self.vector.single_action_space
        self.action_space, self.action_leaves = space, leaves(space)
        self.workers: list[Any] = getattr(self.vector, "processes", [])

    def reset(self, out: Rows, *before: Rows) -> None:
        """Begin an episode of every environment."""
        self._ask(out, self.vector.reset, seed=self.seeds)
        self.seeds = None

    def step(self, out: Rows, before: Rows, state: Rows, *actions: Rows) -> None:
        """Act in every environment. `before` is the last call's result, `state` the part of it that
        the program read, `actions` are in the order of the parts of the space.
        """
        seen = before[:, :-FLAGS]
        if not np.array_equal(state, seen) and not np.array_equal(state, seen, equal_nan=True):
            b = int(np.argwhere((state != seen).any(axis=1))[0, 0])
            raise RunError(
                f"{self.name} is stepped from another state than environment {b} is in; it goes on "
                "from the state that reset, step or restart returned"
            )
        parts: dict[Path, Rows] = {
            leaf.path: taken(leaf, self.name, action)
            for leaf, action in zip(self.action_leaves, actions, strict=True)
        }
        self._ask(out, self.vector.step, built(self.action_space, parts.__getitem__))

    def restart(self, out: Rows, before: Rows, done: Rows) -> None:
        """Begin another episode where `done`; the other rows stay."""
        if done.any():
            self._ask(out, self.vector.reset, options={"reset_mask": done})
        else:
            out[...] = before

    def close(self) -> None:
        """Close every environment, and end the workers."""
        if not self.workers:
            self.vector.close()
            return
        try:
            with warnings.catch_warnings():
                # of a call still pending after Ctrl-C or a failure, Gymnasium warns
                warnings.filterwarnings("ignore", ".*Calling `close` while waiting", UserWarning)
                self.vector.close(timeout=CLOSING_SECONDS)
        except (EOFError, ConnectionError):  # a worker has ended without being asked
            for process in self.workers:
                process.terminate()
                process.join()
            self.vector.closed = True

    def _made(
        self, make: Callable[..., Any], count: int, vectorized: str, infos: tuple[InfoEntry, ...]
    ) -> Any:
        if vectorized == "own":
            return OwnRows(make(num_envs=count), count, infos)
        vectors = package().vector
        options = {"autoreset_mode": vectors.AutoresetMode.DISABLED, "copy": False}
        one = partial(Row, make, os.getpid(), infos)
        if vectorized == "async":
            return vectors.AsyncVectorEnv([one] * count, **options)
        made: list[Row] = []
        try:
            made += (one() for _ in range(count))
        except BaseException:
            for row in made:
                row.close()
            raise
        return vectors.SyncVectorEnv([partial(_same, row) for row in made], **options)

    def _ask(self, out: Rows, method: Callable[..., Any], *given: Any, **options: Any) -> None:
        """Write the rows that the vector environment answers with."""
        try:
            rows, *_, told = method(*given, **options)
        except (EOFError, ConnectionError) as error:
            sentinels = [worker.sentinel for worker in self.workers]
            ended = wait(sentinels, 1.0)
            gone = [str(b) for b, sentinel in enumerate(sentinels) if sentinel in ended]
            raise RunError(
                f"a worker process of {self.name}, environment {', '.join(gone)}, has ended"
            ) from error
        if "raised" in told:
            b = int(told["_raised"].argmax())
            raise RunError(f"{self.name}, environment {b}, raised {told['raised'][b]}")
        out[...] = rows


def _same(row: Row) -> Row:
    return row
