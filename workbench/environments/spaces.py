"""Spaces of Gymnasium as flat entries: what they are built of, written to rows and read from
actions.

An observation is flat: a `Box` and a `MultiBinary` have their entries, a choice of a `Discrete` and
each of a `MultiDiscrete` is one-hot, the parts of a `Dict` and a `Tuple` come one behind the other,
as `gymnasium.spaces.flatten` has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from workbench.environments.package import package
from workbench.errors import RunError

Rows = npt.NDArray[Any]
Path = tuple[str | int, ...]
Made = TypeVar("Made")

EXPECTED = "Box, Discrete, MultiDiscrete, MultiBinary, or a Dict or Tuple of these"


class NoEntriesError(Exception):
    """A space that is no number of entries, at a path in another."""

    def __init__(self, space: Any, path: Path) -> None:
        self.space, self.path = space, path
        super().__init__(f"{space}{path_text(path)}")


@dataclass(frozen=True)
class Leaf:
    """A space of numbers at a path in another, and its entries in a flat observation."""

    path: Path
    space: Any
    first: int
    size: int

    @property
    def kind(self) -> str:
        """The name of its class."""
        return kind_of(self.space)

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of choices of a `Discrete` or a `MultiDiscrete`."""
        if self.kind == "Discrete":
            return (int(self.space.n),)
        return tuple(int(n) for n in np.ravel(self.space.nvec))

    @property
    def begins(self) -> npt.NDArray[np.int64]:
        """The first choice of each."""
        return np.ravel(np.asarray(self.space.start, np.int64))


def kind_of(space: Any) -> str:
    """Return the name of the class of spaces that a space is of; "" where it is another's."""
    spaces = package().spaces
    for name in ("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Dict", "Tuple"):
        if isinstance(space, getattr(spaces, name)):
            return name
    return ""


def leaves(space: Any) -> tuple[Leaf, ...]:
    """Return the spaces of numbers that a space is built of, in order. Raises NoEntriesError."""
    found: list[Leaf] = []
    for path, one in _walk(space, ()):
        first = found[-1].first + found[-1].size if found else 0
        found.append(Leaf(path, one, first, _size(one)))
    return tuple(found)


def entries(space: Any) -> int:
    """Count the entries of a flat observation. Raises NoEntriesError."""
    return sum(leaf.size for leaf in leaves(space))


def _walk(space: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    kind = kind_of(space)
    if kind == "Dict":
        for name, part in space.spaces.items():
            yield from _walk(part, (*path, name))
    elif kind == "Tuple":
        for number, part in enumerate(space.spaces):
            yield from _walk(part, (*path, number))
    elif kind:
        yield path, space
    else:
        raise NoEntriesError(space, path)


def _size(space: Any) -> int:
    kind = kind_of(space)
    if kind == "Discrete":
        return int(space.n)
    return int(np.sum(space.nvec)) if kind == "MultiDiscrete" else math.prod(space.shape)


def built(space: Any, made: Callable[[Path], Made]) -> Any:
    """Return what is made at each path, in the form of a space: dicts and tuples of it."""

    def at(space: Any, path: Path) -> Any:
        kind = kind_of(space)
        if kind == "Dict":
            return {name: at(part, (*path, name)) for name, part in space.spaces.items()}
        if kind == "Tuple":
            return tuple(at(part, (*path, n)) for n, part in enumerate(space.spaces))
        return made(path)

    return at(space, ())


def part_of(value: Any, path: Path) -> Any:
    """Return what stands at a path in dicts and tuples."""
    for key in path:
        value = value[key]
    return value


def path_text(path: Path) -> str:
    """Write a path as one reads it: `["arm"][0]`."""
    return "".join(f"[{key!r}]" for key in path).replace("'", '"')


def write(leaf: Leaf, rows: Rows, observations: Any) -> None:
    """Write the leaf's entries of observations, one a row."""
    mine = rows[:, leaf.first : leaf.first + leaf.size]
    values = np.asarray(part_of(observations, leaf.path)).reshape(len(rows), -1)
    if leaf.kind in ("Box", "MultiBinary"):
        mine[...] = values
        return
    mine[...] = 0.0
    place = 0
    for k, (count, begin) in enumerate(zip(leaf.counts, leaf.begins, strict=True)):
        mine[np.arange(len(rows)), place + values[:, k].astype(np.int64) - begin] = 1.0
        place += count


def taken(leaf: Leaf, name: str, actions: Rows) -> Rows:
    """Return actions of all environments as the leaf's space has them. Raises RunError for one that
    it does not hold.
    """
    count = len(actions)
    if leaf.kind == "Box":
        return actions.astype(leaf.space.dtype).reshape(count, *leaf.space.shape)
    if leaf.kind == "MultiBinary":
        wrong = (actions != 0) & (actions != 1)
        _refuse(wrong, actions, name, leaf, lambda k: "0 or 1")
        return actions.astype(leaf.space.dtype).reshape(count, *leaf.space.shape)
    wide = actions.astype(np.int64).reshape(count, -1)
    most = np.asarray(leaf.counts)
    wrong = wide.view(np.uint64) >= most.astype(np.uint64)  # negative ones are large
    _refuse(wrong, wide, name, leaf, lambda k: f"0 to {most[k] - 1}")
    return (wide + leaf.begins).reshape(count, *leaf.space.shape)


def _refuse(
    wrong: npt.NDArray[np.bool_], actions: Rows, name: str, leaf: Leaf, takes: Callable[[int], str]
) -> None:
    if not wrong.any():
        return
    b, k = (int(n) for n in np.argwhere(wrong.reshape(len(wrong), -1))[0])
    found = actions.reshape(len(wrong), -1)[b, k]
    entry = "" if leaf.kind == "Discrete" else f"[{k}]"
    raise RunError(
        f"action{path_text(leaf.path)}{entry} {found} of environment {b}: {name} takes {takes(k)}"
    )


@dataclass(frozen=True)
class InfoEntry:
    """An entry of `info` that goes along with the observation, from `first` on in a row."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    first: int

    @property
    def size(self) -> int:
        """The number of its entries."""
        return math.prod(self.shape)

    def write(self, rows: Rows, info: Mapping[str, Any]) -> None:
        """Write the values of all rows. Raises KeyError, with what there is, where it is not
        there.
        """
        if self.name not in info:
            there = ", ".join(map(repr, info)) or "nothing"
            raise KeyError(f"info has no {self.name!r} here, but {there}")
        values = np.asarray(info[self.name]).reshape(len(rows), -1)
        rows[:, self.first : self.first + self.size] = values


def info_entries(
    names: tuple[str, ...], info: Mapping[str, Any], first: int
) -> Iterator[InfoEntry]:
    """Yield the named entries of an environment's `info`, behind the `first` entries of a row.
    Raises KeyError for one that is not there, TypeError for one that is no numbers.
    """
    for name in names:
        if name not in info:
            raise KeyError(name)
        values = np.asarray(info[name])
        if values.dtype.kind not in "biuf":
            raise TypeError(name)
        kind = {"b": "bool", "f": "float"}.get(values.dtype.kind, "int32")
        entry = InfoEntry(name, values.shape, kind, first)
        first += entry.size
        yield entry
