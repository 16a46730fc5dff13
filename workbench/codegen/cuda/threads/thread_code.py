"""What the threads of a block run: the records of a kernel, each told which threads have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.codegen.kernel_records import Invoke, KernelRecord, Loop, Scratch, Total, Where
from workbench.polyhedral.expression import Expression


@dataclass(frozen=True)
class Everywhere:
    """Records that each thread runs for itself. What they store, the first thread stores."""

    records: tuple[KernelRecord, ...]


@dataclass(frozen=True)
class First:
    """Records that the first thread runs alone."""

    records: tuple[KernelRecord, ...]


@dataclass(frozen=True)
class Elements:
    """A loop of which each thread runs some turns, or two, of which `inside` is in each turn of the
    other: then turns are the pairs.
    """

    loop: Loop
    inside: Loop | None = None

    @property
    def body(self) -> tuple[KernelRecord, ...]:
        """The records of a turn."""
        return (self.inside or self.loop).body

    @property
    def turns(self) -> Expression:
        """The number of turns."""
        rows = self.loop.upper - self.loop.lower
        return rows if self.inside is None else rows * (self.inside.upper - self.inside.lower)


@dataclass(frozen=True)
class Points:
    """A loop whose turns are added up in parts: turn n in part n mod 16, by a thread each."""

    loop: Loop


@dataclass(frozen=True)
class Totals:
    """Parts that are combined: the first thread knows the result."""

    record: Total


@dataclass(frozen=True)
class WarpTurns:
    """A loop of which each warp runs some turns, each of which adds up points: in its body the
    threads are those of the warp, which may wait for each other.
    """

    loop: Loop
    body: tuple[Code, ...]


@dataclass(frozen=True)
class Together:
    """A function that all threads run together."""

    record: Invoke


@dataclass(frozen=True)
class Lane:
    """Records of the lanes of a tile. The first thread of a lane runs them, or all of them do:
    then the first one stores.
    """

    records: tuple[KernelRecord, ...]
    by_all: bool


@dataclass(frozen=True)
class Rows:
    """A loop over rows of a tile, which the threads of a lane share."""

    loop: Loop


@dataclass(frozen=True)
class Tile:
    """The lanes of a tile: those of `loop`, each of which has threads of its own."""

    loop: Loop
    body: tuple[Code, ...]


@dataclass(frozen=True)
class EachWarp:
    """Code that each of so many warps runs for itself, with memory of its own: in its body the
    threads are those of the warp. `variable` is that of the loop over blocks of the program.
    """

    warps: int
    body: tuple[Code, ...]
    variable: str


@dataclass(frozen=True)
class Around:
    """A loop or a condition that is the same for all threads."""

    record: Loop | Where
    body: tuple[Code, ...]


@dataclass(frozen=True)
class Memory:
    """Scratch memory of the block: the elements of the record, or those for each "lane" or "thread"
    of so many. Or what a thread keeps in its "registers", as functions of all threads say.
    """

    record: Scratch
    each: str = ""
    times: int = 1


@dataclass(frozen=True)
class Barrier:
    """A barrier that all threads of the block reach. `of_warps`: each waits for its warp alone."""

    of_warps: bool = False


Code: TypeAlias = (
    Everywhere
    | First
    | Elements
    | Points
    | Totals
    | WarpTurns
    | Together
    | Lane
    | Rows
    | Tile
    | EachWarp
    | Around
    | Memory
    | Barrier
)


def memory_of(codes: Sequence[Code]) -> Iterator[Memory]:
    """Yield the scratch memory that code asks for."""
    for code in codes:
        if isinstance(code, Memory):
            yield code
        elif isinstance(code, (Around, EachWarp, Tile)):
            yield from memory_of(code.body)
