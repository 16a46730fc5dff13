"""What is held in memory, and its course over a schedule, as values."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Held:
    """A buffer that is held for a while: an array of the program, a slice of one that lives on the
    host, or memory that operations need in between (then `array` is None).

    It is held from `first_line` to `last_line` of the loop program's text (from 1), which is the
    program's end for what is never given back. `last_reader` is the statement that reads it last;
    `until` says in words how long that is. `statements` write it.
    """

    name: str
    array: str | None
    space: str
    bytes: int
    formula: str
    first_line: int
    last_line: int
    last_reader: str | None
    until: str
    statements: tuple[str, ...]


@dataclass(frozen=True)
class HeldPoint:
    """The bytes held from a line of the loop program's text on (from 1), inside `loops`, and what
    they are of: positions among all buffers. `text` is the line's.
    """

    line: int
    text: str
    loops: tuple[str, ...]
    bytes: int
    live: frozenset[int]


@dataclass(frozen=True)
class HeldBy:
    """A backend that runs a program, in a dtype, on so many threads."""

    backend: str
    dtype: str
    threads: int

    def __str__(self) -> str:
        shared = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.dtype}, {self.backend}{shared}"


@dataclass(frozen=True)
class Course:
    """The bytes held in a space: a point for every place where they change, in a loop program of so
    many lines.
    """

    space: str
    lines: int
    points: tuple[HeldPoint, ...] = ()

    def with_all_along(self, buffer: int, bytes: int) -> Course:
        """Return the course with a buffer that is held at all points."""
        points = (replace(p, bytes=p.bytes + bytes, live=p.live | {buffer}) for p in self.points)
        return replace(self, points=tuple(points))

    @property
    def fullest(self) -> HeldPoint | None:
        """The point with the most bytes; None where nothing is held."""
        return max(self.points, key=lambda point: point.bytes, default=None)

    @property
    def peak_bytes(self) -> int:
        """The most bytes held at one time."""
        return max((point.bytes for point in self.points), default=0)

    @property
    def live_at_peak(self) -> frozenset[int]:
        """What is held at the fullest point: positions among all buffers."""
        fullest = self.fullest
        return fullest.live if fullest else frozenset()
