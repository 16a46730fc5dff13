"""Bytes held over the schedule, by memory space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryPoint:
    """From this place in the loop program on so many bytes are held, in these arrays. `line` is the
    place's line in the loop program's text (`CodeView.loops`, from 0), `loops` the loops around it.

    Arrays are positions in `MemoryView.arrays`.
    """

    line: int
    loops: tuple[str, ...]
    bytes: int
    live: tuple[int, ...]


@dataclass(frozen=True)
class BufferView:
    """What lives for a while: an array of the program (`array`), or memory that operations need in
    between (`array` is null). `statements` write it.
    """

    name: str
    array: str | None
    bytes: int
    formula: str
    statements: tuple[str, ...]


@dataclass(frozen=True)
class SpaceView:
    """A memory space's course; one iteration stands for all of a loop."""

    space: str
    peak_bytes: int
    points: tuple[MemoryPoint, ...]


@dataclass(frozen=True)
class MemoryView:
    """The courses of all spaces in which anything is held."""

    sizes: Mapping[str, int]
    dtype: str
    arrays: tuple[BufferView, ...]
    spaces: tuple[SpaceView, ...]
