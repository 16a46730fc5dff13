"""Gymnasium environments in a program: their calls, and tensors over `b` of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import prod
from typing import Any

from workbench.environments.environment import Environment
from workbench.environments.package import package
from workbench.environments.spaces import (
    EXPECTED,
    InfoEntry,
    Leaf,
    NoEntriesError,
    Path,
    built,
    entries,
    info_entries,
    kind_of,
    leaves,
    part_of,
    path_text,
)
from workbench.environments.vector import FLAGS, Vector
from workbench.errors import ProgramError, UnavailableError, WorkbenchError, nearest
from workbench.language.outside.external_calls import Calls
from workbench.language.tracing.functions import reshape
from workbench.language.tracing.nodes import cast
from workbench.language.tracing.tensor import Node, Tensor
from workbench.language.tracing.trace import current, dim_names, scope, user_line
from workbench.program.operations.shapes import shape_text

VECTORIZED = ("sync", "async", "own")

Action = Tensor | Mapping[str, Any] | Sequence[Any]
"""A tensor, or those of the parts of a Dict or Tuple space, in its form."""


@dataclass(frozen=True)
class Made:
    """What an environment tells of itself: its spaces, and the entries of `info` that were asked
    for.
    """

    observed: Any
    taken: Any
    infos: tuple[InfoEntry, ...]


class Gymnasium(Environment):
    """An environment of Gymnasium, by its id or by a function that makes one.

    Every run makes fresh environments and seeds environment b with seed + b. They live outside the
    program, so its equations hold observations only: `state` is the observation, flat as
    `gymnasium.spaces.flatten` makes it, and `step` leads on from the state that the environments
    are in. `parts(state)` has the observation in the form of its space.

    `info` names entries of the environment's `info` that go along with every observation, such as
    Taxi's `action_mask`. They are behind the observation in `state`, `observe(state)` leaves them
    out, `info(state, "action_mask")` is one of them.

    The calls run one after the other, in host memory: `vectorized` "sync" in this process, "async"
    in a worker process per environment. "own" is a vector environment of the user's: the function
    makes one of `num_envs` environments, and so does `gymnasium.make_vec` by an id. It is not to
    restart episodes by itself (`AutoresetMode.DISABLED`), and to reset those of a `reset_mask`: one
    that is done and stepped again is reset first, unseen. Of an id it is the environment's own
    kind, unless `vectorization_mode` names one.
    `arguments` are those of `gymnasium.make` or `make_vec`, or the function's.

    An environment that is done rests until it is reset: `step` repeats its last observation, with
    reward 0. Actions are handed on as they are, also beyond the bounds of a `Box`.
    """

    def __init__(
        self,
        id: str | Callable[..., Any],
        vectorized: str = "sync",
        info: Sequence[str] = (),
        **arguments: Any,
    ) -> None:
        self.id = id
        self.vectorized = vectorized
        self.infos = (info,) if isinstance(info, str) else tuple(info)
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
        info = f", {self.infos!r}" if self.infos else ""
        return f"Gymnasium({name!r}, {self.vectorized!r}{info}{listed})"

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
        return entries(self._told.observed)

    @property
    def state_size(self) -> int:
        """Entries of the observation, and of what `info` has beside."""
        return self.observation_size + sum(entry.size for entry in self._told.infos)

    @property
    def action_count(self) -> int:
        """Choices of a discrete action; another space has no such attribute."""
        return int(self._space_of("Discrete", "choices").n)

    @property
    def action_counts(self) -> tuple[int, ...]:
        """Choices of each part of a `MultiDiscrete` action; another space has no such attribute."""
        return leaves(self._space_of("MultiDiscrete", "several choices"))[0].counts

    @property
    def action_flags(self) -> int:
        """Entries of a `MultiBinary` action; another space has no such attribute."""
        return leaves(self._space_of("MultiBinary", "flags"))[0].size

    @property
    def action_size(self) -> int:
        """Entries of a continuous action, which is flat; another space has no such attribute."""
        return prod(self._space_of("Box", "floats").shape)

    @property
    def action_bounds(self) -> tuple[Any, Any]:
        """The least and the greatest entries of a continuous action, as flat arrays."""
        space = self._space_of("Box", "floats")
        return space.low.astype(float).ravel(), space.high.astype(float).ravel()

    def _space_of(self, kind: str, what: str) -> Any:
        space = self._told.taken
        if kind_of(space) != kind:
            raise AttributeError(f"{self.name} takes actions from {space}, not {what}")
        return space

    def reset(self, over: Any) -> Tensor:
        """Return the first observation of an episode of every environment, for each instance of
        `over`.

        The first of the dims `over` is the environments'; `restart` begins single episodes anew.
        """
        environments, *starts = dim_names(over)
        with scope("environment"):
            calls = self._calls(environments)
            return calls.at(self._state(calls.start("reset", tuple(starts))))

    def observe(self, state: Tensor) -> Tensor:
        """Return the observation of a state: all of it but the entries of `info`."""
        return state[..., : self.observation_size] if self._told.infos else state

    def parts(self, state: Tensor) -> Any:
        """Return the observation of a state in the form of its space: a `Dict` as a dict, a `Tuple`
        as a tuple, a `Box` and a `MultiBinary` in their shape, a choice as one-hot, those of a
        `MultiDiscrete` as a tuple of these.
        """
        by_path = {leaf.path: leaf for leaf in leaves(self._told.observed)}
        return built(self._told.observed, lambda path: _part(by_path[path], state))

    def info(self, state: Tensor, name: str) -> Tensor:
        """Return an entry of `info` that goes along with the observations, in its shape: bools and
        integers (int32) as such, which a float of the state holds up to 2**24.
        """
        known = {entry.name: entry for entry in self._told.infos}
        if name not in known:
            offered = nearest(name, known, "entries of info=")
            raise ProgramError(f"{self.name} is made without info={name!r}: {offered}", user_line())
        entry = known[name]
        values = state[..., entry.first : entry.first + entry.size]
        if len(entry.shape) != 1:
            values = reshape(values, entry.shape)
        return values != 0.0 if entry.dtype == "bool" else cast(values, entry.dtype)

    def step(self, state: Tensor, action: Action) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the following state, the reward, terminated, truncated.

        The first dim of `state` is the environments'. The others are the order of the steps. The
        action of a `Dict` or `Tuple` space is a dict or a tuple of tensors, one for each part.
        """
        actions = dict(self._actions(action))
        environments, *order = state.dims
        with scope("environment"):
            calls = self._calls(environments)
            stepped = calls.step("step", tuple(order), states=state, **actions)
            n = self.state_size
            following = calls.at(self._state(stepped))
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
            return calls.at(self._state(calls.follow("restart", ended=done)))

    def open(self, count: int, seed: int) -> Vector:
        """Make the environments of one run."""
        infos = self._told.infos
        return Vector(self.name, self._make, count, seed, self.vectorized, infos)

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
        return Calls(self, self.name, over, (self.state_size + FLAGS,))

    def _state(self, rows: Tensor) -> Tensor:
        return rows[..., : self.state_size]

    def _following(self, calls: Calls) -> Any:
        assert calls.stepped is not None
        return calls.at(self._state(calls.stepped)).source

    def _actions(self, action: Action) -> Iterator[tuple[str, Tensor]]:
        """Yield the tensors of an action's parts, each with a name. Refuse what the environment's
        space does not hold.
        """
        form = built(self._told.taken, lambda path: None)
        self._expect_form(form, action, ())
        for leaf in leaves(self._told.taken):
            tensor = part_of(action, leaf.path)
            self._expect(leaf, tensor)
            yield "_".join(["actions", *map(str, leaf.path)]), tensor

    def _expect_form(self, form: Any, action: Any, path: Path) -> None:
        """Refuse an action that is not in the form of its space."""
        if form is None:
            fits = isinstance(action, Tensor)
            expected = "one tensor"
        elif isinstance(form, dict):
            fits = isinstance(action, Mapping) and set(action) == set(form)
            expected = f"a dict of {', '.join(map(repr, form))}"
        else:
            fits = isinstance(action, tuple | list) and len(action) == len(form)
            expected = f"a tuple of {len(form)}"
        if not fits:
            raise ProgramError(
                f"{self.name} takes actions from {self._told.taken}: action{path_text(path)} is "
                f"{action!r}; expected {expected}",
                user_line(),
            )
        if isinstance(form, dict):
            for name, part in form.items():
                self._expect_form(part, action[name], (*path, name))
        elif form is not None:
            for number, part in enumerate(form):
                self._expect_form(part, action[number], (*path, number))

    def _expect(self, leaf: Leaf, action: Tensor) -> None:
        """Refuse an action, or a part of one, that its space does not hold."""
        choices = action.source.choices if isinstance(action.source, Node) else None
        integers = action.dtype in ("int32", "int64")
        if leaf.kind == "Discrete":
            (count,) = leaf.counts
            fits = integers and not action.shape and choices in (None, count)
            use = f"wb.Categorical(logits=…).sample() with {count} logits"
        elif leaf.kind == "MultiDiscrete":
            fits = integers and action.shape == (len(leaf.counts),)
            use = f"wb.MultiCategorical(logits, {leaf.counts}).sample()"
        elif leaf.kind == "MultiBinary":
            fits = (integers or action.dtype == "bool") and action.shape == (leaf.size,)
            use = f"wb.Bernoulli(logits).sample() with {leaf.size} logits"
        else:
            fits = action.dtype == "float" and action.shape == (leaf.size,)
            use = f"wb.Normal(mean, std).sample() with {leaf.size} entries"
        if not fits:
            given = f"{action.dtype}{shape_text(action.shape)}"
            known = f"Discrete({choices})" if choices is not None else given
            raise ProgramError(
                f"{self.name} takes actions{path_text(leaf.path)} from {leaf.space}, but the "
                f"policy's are from {known}; use {use}",
                user_line(),
            )

    # -- in Gymnasium ----------------------------------------------------------------------------

    @cached_property
    def _make(self) -> Callable[..., Any]:
        """Return a function that makes one environment, or a vector one of `num_envs`."""
        if not isinstance(self.id, str):
            return partial(self.id, **self.arguments)
        if self.vectorized == "own":
            arguments = {"vectorization_mode": "vector_entry_point"} | self.arguments
            return partial(package().make_vec, self.id, **arguments)
        return partial(package().make, self.id, **self.arguments)

    @cached_property
    def _told(self) -> Made:
        """Make one environment, and ask it what it is."""
        own = self.vectorized == "own"
        made = self._make(num_envs=1) if own else self._make()
        try:
            if own:
                self._expect_no_restarts(made)
                observed, taken = made.single_observation_space, made.single_action_space
            else:
                observed, taken = made.observation_space, made.action_space
            for space, what in ((observed, "observations"), (taken, "actions")):
                self._expect_entries(space, what)
            return Made(observed, taken, self._info_of(made, entries(observed)))
        finally:
            made.close()

    def _info_of(self, made: Any, first: int) -> tuple[InfoEntry, ...]:
        """Return the entries of `info` that were asked for, as a reset has them."""
        if not self.infos:
            return ()
        _, info = made.reset(seed=0)
        if self.vectorized == "own":
            info = {name: values[0] for name, values in info.items()}
        try:
            return tuple(info_entries(self.infos, info, first))
        except KeyError as error:
            offered = nearest(error.args[0], info, "entries")
            raise ProgramError(
                f"{self.name} has no info {error.args[0]!r} after a reset; {offered}", user_line()
            ) from None
        except TypeError as error:
            raise ProgramError(
                f"{self.name}: info {error.args[0]!r} is no numbers", user_line()
            ) from None

    def _expect_no_restarts(self, made: Any) -> None:
        """Refuse a vector environment that restarts episodes by itself."""
        disabled = package().vector.AutoresetMode.DISABLED
        mode = made.metadata.get("autoreset_mode")
        if mode != disabled:
            raise ProgramError(
                f"{self.name} restarts episodes by itself (autoreset_mode {mode}); expected "
                f"{disabled} in its metadata: a restart is an equation of the program",
                user_line(),
            )

    def _expect_entries(self, space: Any, what: str) -> None:
        """Refuse a space that is no number of entries."""
        try:
            leaves(space)
        except NoEntriesError as error:
            inside = f" at {path_text(error.path)}" if error.path else ""
            raise ProgramError(
                f"{self.name} has {what} from {error.space}{inside}; expected {EXPECTED}",
                user_line(),
            ) from None

    def _checked(self) -> None:
        """Make one environment, to read its spaces: bad input is refused where it is written."""
        gymnasium, line = package(), user_line()
        try:
            _ = self._told
        except gymnasium.error.UnregisteredEnv:
            offered = nearest(self.name, gymnasium.registry, "ids")
            raise ProgramError(
                f"Gymnasium has no environment {self.name!r}; {offered}", line
            ) from None
        except gymnasium.error.DependencyNotInstalled as error:
            raise UnavailableError(f"{self.name}: {error}", line) from None
        except WorkbenchError:
            raise
        except Exception as error:  # another package's code: whatever it raises
            raise ProgramError(
                f"{self.name} cannot be made: {type(error).__name__}: {error}", line
            ) from error


def _part(leaf: Leaf, state: Tensor) -> Any:
    """Return the entries of a leaf in its form."""
    values = state[..., leaf.first : leaf.first + leaf.size]
    if leaf.kind == "MultiDiscrete":
        ends = [sum(leaf.counts[:k]) for k in range(len(leaf.counts) + 1)]
        return tuple(values[..., a:b] for a, b in pairwise(ends))
    shape = (leaf.size,) if leaf.kind == "Discrete" else leaf.space.shape
    return values if len(shape) == 1 else reshape(values, shape)
