"""Fragments: a statement's instance as array operations that any loop program can take over.

An instance's operations depend only on the statement, its place and the storage of its arrays. So
they are remembered for these, with placeholders for new names. A loop program replaces the
placeholders in the order in which the names were asked for. A step changes few statements and the
storage of few arrays: nothing is computed anew for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from workbench.identity import Same
from workbench.lowering.instances.statements import linearize
from workbench.lowering.instances.swapping import Swapping
from workbench.lowering.loops.records import Buffer, Record
from workbench.lowering.loops.renaming import renamed
from workbench.lowering.values.layout import Value
from workbench.lowering.values.scope import FreshNames, Prepared, Workspace
from workbench.lowering.values.stored import Stored
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.loops.axis_blocks import AxisBlock
from workbench.program.values import Statement

Values = tuple[tuple[str, Expression], ...]
Ranges = tuple[tuple[str, tuple[Expression, Expression]], ...]


@dataclass(frozen=True)
class InstancePlace:
    """The place of an instance: array axes, values of its other dimensions, and context.

    The context is the ranges of loop variables, the order of dimensions in memory, and the axes'
    blocks.
    """

    axes: tuple[str, ...]
    values: Values
    ranges: Ranges
    order: tuple[str, ...]
    blocks: tuple[AxisBlock, ...]


def instance(
    statement: Statement,
    place: InstancePlace,
    stored: Mapping[str, Stored],
    workspace: Workspace,
    swapping: Swapping,
) -> list[Record]:
    """Return the array operations of one instance, named in the workspace of the loop program.

    Where it touches an array on the host, they also depend on the slices on the device.
    """
    touched = statement.touched
    if not swapping.arrays.isdisjoint(touched):
        return _linearized(statement, place, stored, workspace, swapping)
    own = {*statement.dims, *statement.reduction_dims}.union(
        *(stored[array].array.dims for array in touched)
    )
    place = replace(place, order=tuple(dim for dim in place.order if dim in own))
    fragment = _fragment(Same(statement, *(stored[array] for array in touched)), place)
    names: dict[str, str] = {}
    for entry in fragment.entries:
        _take(entry, workspace, names)
    records, buffers = _named(fragment, tuple(names.items()))
    for buffer in buffers:
        workspace.reserve(buffer)
    return list(records)


def _linearized(
    statement: Statement,
    place: InstancePlace,
    stored: Mapping[str, Stored],
    workspace: Workspace,
    swapping: Swapping,
) -> list[Record]:
    return linearize(
        statement,
        place.axes,
        dict(place.values),
        dict(place.ranges),
        stored,
        workspace,
        {name: rank for rank, name in enumerate(place.order)},
        swapping,
        place.blocks,
    )


# -- on its own ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Named:
    """A placeholder for a name."""

    name: str
    wish: str
    of: str


@dataclass(frozen=True, eq=False)
class _Once:
    """A value made in front of all loops, with the names that making it asks for."""

    key: Any
    values: tuple[Value, ...]
    records: tuple[Record, ...]
    entries: tuple[_Named | _Once, ...]


@dataclass(frozen=True, eq=False)
class _Fragment:
    """An instance's records under placeholders, which a loop program replaces by names."""

    records: tuple[Record, ...]
    entries: tuple[_Named | _Once, ...]
    buffers: tuple[Buffer, ...]


class _Placeholders(FreshNames):
    """FreshNames that no user's name can equal."""

    def fresh(self, wish: str) -> str:
        name = f"#{len(self.taken)}"
        self.taken.add(name)
        return name


@dataclass
class _Own(Workspace):
    """The workspace of one instance: its requests, in order."""

    entries: list[_Named | _Once] = field(default_factory=list)

    def fresh(self, wish: str, of: str = "") -> str:
        name = self.names.fresh(wish)
        self.entries.append(_Named(name, wish, of))
        return name

    def once(self, key: Any, make: Callable[[], Prepared]) -> tuple[Value, ...]:
        if key not in self.made:
            outside, self.entries = self.entries, []
            self.made[key], records = make()
            inside, self.entries = self.entries, outside
            self.entries.append(_Once(key, self.made[key], tuple(records), tuple(inside)))
        return self.made[key]


@lru_cache(maxsize=4096)
def _fragment(parts: Same, place: InstancePlace) -> _Fragment:
    """Return the fragment of a statement's instance: the statement is the first of the parts.

    The other parts say how its arrays are stored.
    """
    statement, *touched = parts.objects
    own = _Own(_Placeholders())
    stored = {where.array.name: where for where in touched}
    records = _linearized(statement, place, stored, own, Swapping(frozenset()))
    return _Fragment(tuple(records), tuple(own.entries), tuple(own.buffers.values()))


# -- taken over ------------------------------------------------------------------------------------


def _take(entry: _Named | _Once, workspace: Workspace, names: dict[str, str]) -> None:
    """Name an entry's results; values made in front of all loops already have names."""
    if isinstance(entry, _Named):
        names[entry.name] = workspace.fresh(entry.wish, names.get(entry.of, entry.of))
        return
    made = workspace.once(entry.key, lambda: _made(entry, workspace, names))
    for placeholder, value in zip(entry.values, made, strict=True):
        names[placeholder.name], names[placeholder.buffer] = value.name, value.buffer
    for inner in _inside(entry):
        if inner.values[0].name not in names:
            for placeholder, value in zip(inner.values, workspace.made[inner.key], strict=True):
                names[placeholder.name], names[placeholder.buffer] = value.name, value.buffer


def _inside(entry: _Once) -> Iterator[_Once]:
    for inner in entry.entries:
        if isinstance(inner, _Once):
            yield inner
            yield from _inside(inner)


def _made(entry: _Once, workspace: Workspace, names: dict[str, str]) -> Prepared:
    for inner in entry.entries:
        _take(inner, workspace, names)
    values = tuple(
        replace(v, name=names.get(v.name, v.name), buffer=names.get(v.buffer, v.buffer))
        for v in entry.values
    )
    return values, [renamed(record, names) for record in entry.records]


@lru_cache(maxsize=8192)
def _named(
    fragment: _Fragment, names: tuple[tuple[str, str], ...]
) -> tuple[tuple[Record, ...], tuple[Buffer, ...]]:
    """Return the records and buffers of an instance under these names."""
    known = dict(names)
    buffers = (replace(b, name=known[b.name]) for b in fragment.buffers if b.name in known)
    return tuple(renamed(record, known) for record in fragment.records), tuple(buffers)
