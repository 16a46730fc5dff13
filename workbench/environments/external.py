"""Gymnasium environments in a program: their calls, and tensors over `b` of the results."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from workbench.environments.environment import Environment
from workbench.environments.vector import FLAGS, Vector, entries, package
from workbench.errors import ProgramError, UnavailableError, nearest
from workbench.language.outside.external_calls import Calls
from workbench.language.tracing.tensor import Node, Tensor
from workbench.language.tracing.trace import current, dim_names, scope, user_line
from workbench.program.operations.shapes import shape_text

VECTORIZED = ("sync", "async")


class Gymnasium(Environment):
    """An environment of Gymnasium, by its id or by a function that makes one.

    Every run makes fresh environments and seeds environment b with seed + b. They live outside the
    program, so its equations hold observations only: `state` is the observation (flat; a `Discrete`
    one as one-hot), and `step` leads on from the state that the environments are in. Their calls
    run one after the other, in host memory: `vectorized` "sync" in this process, "async" in a
    worker process per environment. `arguments` are those of `gymnasium.make`, or the function's.

    An environment that is done rests until it is reset: `step` repeats its last observation, with
    reward 0. Actions are handed on as they are, also beyond the bounds of a `Box`.
    """

    def __init__(
        self, id: str | Callable[..., Any], vectorized: str = "sync", **arguments: Any
    ) -> None:
        self.id = id
        self.vectorized = vectorized
        self.arguments = arguments
        if vectorized not in VECTORIZED:
            raise ProgramError(
                f"{self.name}: vectorized={vectorized!r}; "
                f"expected {' or '.join(map(repr, VECTORIZED))}",
                user_line(),
            )
        self._checked()

    def __repr__(self) -> str:
        name = self.name if isinstance(self.id, str) else f"{self.id.__module__}.{self.name}"
        listed = "".join(f", {k}={v!r}" for k, v in sorted(self.arguments.items()))
        return f"Gymnasium({name!r}, {self.vectorized!r}{listed})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gymnasium) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def name(self) -> str:
        """The id, or the name of the function."""
        return self.id if isinstance(self.id, str) else getattr(self.id, "__name__", repr(self.id))

    @property
    def observation_size(self) -> int:
        """Entries of the observation, which is flat."""
        return entries(self._spaces[0])

    @property
    def state_size(self) -> int:
        """As many entries as the observation has."""
        return self.observation_size

    @property
    def action_count(self) -> int:
        """Choices of a discrete action; another space has no such attribute."""
        if not _is_discrete(self._spaces[1]):
            raise AttributeError(f"{self.name} takes actions from {self._spaces[1]}, not choices")
        return entries(self._spaces[1])

    @property
    def action_size(self) -> int:
        """Entries of a continuous action, which is flat; another space has no such attribute."""
        if _is_discrete(self._spaces[1]):
            raise AttributeError(f"{self.name} takes actions from {self._spaces[1]}, not floats")
        return entries(self._spaces[1])

    def reset(self, over: Any) -> Tensor:
        """Return the first observation of an episode of every environment, for each instance of
        `over`.

        The first of the dims `over` is the environments'; `restart` begins single episodes anew.
        """
        environments, *starts = dim_names(over)
        with scope("environment"):
            calls = self._calls(environments)
            return calls.at(self._observed(calls.start("reset", tuple(starts))))

    def observe(self, state: Tensor) -> Tensor:
        """Return the whole state."""
        return state

    def step(self, state: Tensor, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated.

        The first dim of `state` is the environments'. The others are the order of the steps.
        """
        self._expect(action)
        environments, *order = state.dims
        with scope("environment"):
            calls = self._calls(environments)
            stepped = calls.step("step", tuple(order), states=state, actions=action)
            n = self.observation_size
            following = calls.at(self._observed(stepped))
            reward = calls.at(stepped[..., n])
            terminated = calls.at(stepped[..., n + 1]) != 0.0
            truncated = calls.at(stepped[..., n + 2]) != 0.0
            return following, reward, terminated, truncated

    def restart(self, done: Tensor, following: Tensor) -> Tensor:
        """Return the observation after `step`, or where `done` the first one of another episode."""
        with scope("environment"):
            calls = self._calls(following.dims[0])
            if calls.stepped is None or following.source is not self._following(calls):
                raise ProgramError(
                    f"restart of {self.name} is given {following!r}; it goes on from the state "
                    "that step returned",
                    user_line(),
                )
            return calls.at(self._observed(calls.follow("restart", ended=done)))

    def open(self, count: int, seed: int) -> Vector:
        """Make the environments of one run."""
        return Vector(self.name, self._make, count, seed, self.vectorized)

    # -- in the language -------------------------------------------------------------------------

    def _calls(self, over: str) -> Calls:
        """Return this environment's calls in the program that is being traced."""
        for calls in current().calls:
            if calls.external.factory is self:
                if calls.over != over:
                    raise ProgramError(
                        f"the environments of {self.name} are along {calls.over}, not {over}: the "
                        "first dim of the state, and of reset's over, is theirs",
                        user_line(),
                    )
                return calls
        return Calls(self, self.name, over, (self.observation_size + FLAGS,))

    def _observed(self, rows: Tensor) -> Tensor:
        return rows[..., : self.observation_size]

    def _following(self, calls: Calls) -> Any:
        assert calls.stepped is not None
        return calls.at(self._observed(calls.stepped)).source

    def _expect(self, action: Tensor) -> None:
        """Refuse an action that the environment's space does not hold."""
        space = self._spaces[1]
        choices = action.source.choices if isinstance(action.source, Node) else None
        if _is_discrete(space):
            fits = action.dtype in ("int32", "int64") and not action.shape
            fits = fits and choices in (None, entries(space))
            use = f"wb.Categorical(logits=…).sample() with {entries(space)} logits"
        else:
            fits = action.dtype == "float" and action.shape == (entries(space),)
            use = f"wb.Normal(mean, std).sample() with {entries(space)} entries"
        if not fits:
            given = f"{action.dtype}{shape_text(action.shape)}"
            known = f"Discrete({choices})" if choices is not None else given
            raise ProgramError(
                f"{self.name} takes actions from {space}, but the policy's are from {known}; "
                f"use {use}",
                user_line(),
            )

    # -- in Gymnasium ----------------------------------------------------------------------------

    @cached_property
    def _make(self) -> Callable[[], Any]:
        """Return a function that makes one environment."""
        if not isinstance(self.id, str):
            return partial(self.id, **self.arguments)
        return partial(package().make, self.id, **self.arguments)

    @cached_property
    def _spaces(self) -> tuple[Any, Any]:
        """Return the observation space and the action space."""
        made = self._make()
        made.close()
        return made.observation_space, made.action_space

    def _checked(self) -> None:
        """Make one environment, to read its spaces: bad input is refused where it is written."""
        gymnasium, line = package(), user_line()
        try:
            observed, taken = self._spaces
        except gymnasium.error.UnregisteredEnv:
            offered = nearest(self.name, gymnasium.registry, "ids")
            raise ProgramError(
                f"Gymnasium has no environment {self.name!r}; {offered}", line
            ) from None
        except gymnasium.error.DependencyNotInstalled as error:
            raise UnavailableError(f"{self.name}: {error}", line) from None
        except Exception as error:  # another package's code: whatever it raises
            raise ProgramError(
                f"{self.name} cannot be made: {type(error).__name__}: {error}", line
            ) from error
        kinds = (gymnasium.spaces.Box, gymnasium.spaces.Discrete)
        for space, what in ((observed, "observations"), (taken, "actions")):
            if not isinstance(space, kinds):
                raise ProgramError(
                    f"{self.name} has {what} from {space}; expected a Box or a Discrete space",
                    line,
                )


def _is_discrete(space: Any) -> bool:
    return isinstance(space, package().spaces.Discrete)
