"""The Gymnasium environments of one run, side by side; a program's calls are made on them.

An environment's whole answer is one row: the observation, reward, terminated, truncated. It travels
through a vector environment as the observation, so one array is all that a call hands over.
"""

from __future__ import annotations

import math
import os
import signal
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import wait
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from workbench.errors import RunError, UnavailableError, installing

FLAGS = 3
"""Entries of a row behind the observation: reward, terminated, truncated."""
CLOSING_SECONDS = 2.0
"""The time that closing waits for a worker that is still stepping."""

Rows = npt.NDArray[Any]


def package() -> Any:
    """Import Gymnasium, or raise an error that says what to install."""
    try:
        import gymnasium
        from gymnasium.vector import AutoresetMode  # noqa: F401  # since 1.1
    except ImportError as error:
        raise UnavailableError(
            f"environments.Gymnasium needs Gymnasium 1.1 or newer ({error}): "
            f"{installing('gymnasium>=1.1')}"
        ) from None
    return gymnasium


def entries(space: Any) -> int:
    """Count the entries of a flat Box, or the choices of a Discrete space."""
    return int(space.n) if isinstance(space, package().spaces.Discrete) else math.prod(space.shape)


class Row:
    """One environment with rows as answers, as a vector environment expects it.

    An exception goes along as `raised`, so that the other environments finish their step. Once
    done, it rests until it is reset: its row stays, with reward 0.
    """

    metadata: ClassVar[dict[str, Any]] = {}
    render_mode = None

    def __init__(self, make: Callable[[], Any], process: int) -> None:
        if os.getpid() != process:  # Ctrl-C is the main process's, which closes the workers
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        spaces = package().spaces
        self.environment = make()
        observed = self.environment.observation_space
        self.action_space = self.environment.action_space
        self.size = entries(observed)
        self.first = int(observed.start) if isinstance(observed, spaces.Discrete) else None
        shape = (self.size + FLAGS,)
        self.observation_space = spaces.Box(-np.inf, np.inf, shape, np.float64)
        self.row = np.zeros(shape)
        inside = (self.size,) if self.first is not None else observed.shape
        self.observed = self.row[: self.size].reshape(inside)
        self.done = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Rows, dict[str, Any]]:
        """Return the first row of an episode."""
        try:
            observation, _ = self.environment.reset(seed=seed)
        except Exception as error:  # another package's code: whatever it raises
            return self.row, _raised(error)
        self._write(observation, 0.0, False, False)
        return self.row, {}

    def step(self, action: Any) -> tuple[Rows, float, bool, bool, dict[str, Any]]:
        """Return the row after an action. The vector environment sees no reward and no end."""
        if self.done:
            self.row[self.size] = 0.0
            return self.row, 0.0, False, False, {}
        try:
            observation, reward, terminated, truncated, _ = self.environment.step(action)
        except Exception as error:  # another package's code: whatever it raises
            return self.row, 0.0, False, False, _raised(error)
        self._write(observation, reward, terminated, truncated)
        return self.row, 0.0, False, False, {}

    def close(self) -> None:
        """Close the environment."""
        self.environment.close()

    def _write(self, observation: Any, reward: Any, terminated: Any, truncated: Any) -> None:
        row, size = self.row, self.size
        if self.first is None:
            self.observed[...] = observation
        else:
            self.observed[...] = 0.0
            self.observed[int(observation) - self.first] = 1.0
        row[size], row[size + 1], row[size + 2] = reward, terminated, truncated
        self.done = bool(terminated or truncated)


def _raised(error: Exception) -> dict[str, Any]:
    return {"raised": f"{type(error).__name__}: {error}"}


class Vector:
    """`count` environments; environment b is seeded with `seed` + b at the first reset.

    Calls write the rows of all environments, (count, row), into `out`.
    """

    def __init__(
        self, name: str, make: Callable[[], Any], count: int, seed: int, vectorized: str
    ) -> None:
        self.name = name
        self.seeds: list[int] | None = [seed + b for b in range(count)]
        self.vector, self.action = self._made(make, count, vectorized)
        self.workers: list[Any] = getattr(self.vector, "processes", [])

    def reset(self, out: Rows, *before: Rows) -> None:
        """Begin an episode of every environment."""
        self._ask(out, self.vector.reset, seed=self.seeds)
        self.seeds = None

    def step(self, out: Rows, before: Rows, state: Rows, action: Rows) -> None:
        """Act in every environment. `before` is the last call's result, `state` the part of it that
        the program read.
        """
        seen = before[:, :-FLAGS]
        if not np.array_equal(state, seen) and not np.array_equal(state, seen, equal_nan=True):
            b = int(np.argwhere((state != seen).any(axis=1))[0, 0])
            raise RunError(
                f"{self.name} is stepped from another state than environment {b} is in; it goes on "
                "from the state that reset, step or restart returned"
            )
        self._ask(out, self.vector.step, self.action(action))

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
        self, make: Callable[[], Any], count: int, vectorized: str
    ) -> tuple[Any, Callable[[Rows], Rows]]:
        vectors = package().vector
        options = {"autoreset_mode": vectors.AutoresetMode.DISABLED, "copy": False}
        one = partial(Row, make, os.getpid())
        if vectorized == "async":
            vector = vectors.AsyncVectorEnv([one] * count, **options)
        else:
            made: list[Row] = []
            try:
                made += (one() for _ in range(count))
            except BaseException:
                for row in made:
                    row.close()
                raise
            vector = vectors.SyncVectorEnv([partial(_same, row) for row in made], **options)
        space = vector.single_action_space
        if isinstance(space, package().spaces.Discrete):
            return vector, partial(self._choices, int(space.n), int(space.start))
        return vector, partial(_boxed, (count, *space.shape), space.dtype)

    def _choices(self, n: int, first: int, action: Rows) -> Rows:
        wide = action.astype(np.int64)
        if wide.view(np.uint64).max() >= n:  # negative ones are large
            b = int(((action < 0) | (action >= n)).argmax())
            raise RunError(f"action {action[b]} of environment {b}: {self.name} takes 0 to {n - 1}")
        return wide + first

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


def _boxed(shape: tuple[int, ...], dtype: Any, action: Rows) -> Rows:
    return action.astype(dtype).reshape(shape)


def _same(row: Row) -> Row:
    return row
