"""The interface of a GPU: memory, copies, launches, and graphs of these.

What is asked for runs in order, behind all that was asked for before, and the caller goes on at
once. Copies can run beside it, those of each way in an order of their own: the first of these
follows an event of what was asked for before, and what comes behind them follows an event of the
last. `cupy_driver` asks CUDA for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Protocol

import numpy.typing as npt

from workbench.backends.protocol import CompilerWork
from workbench.codegen.cuda.functions import Function


@dataclass(frozen=True)
class Kernels:
    """Functions by name, as the driver launches them, and the compiler's work for them."""

    kernels: Mapping[str, Any] = field(repr=False)
    work: CompilerWork


class Stream(Enum):
    """An order in which things are done: kernels and all else, or copies of one way beside, since
    a bus carries both ways at once.
    """

    KERNELS = auto()
    TO_HOST = auto()
    TO_DEVICE = auto()


class Memory(Protocol):
    """Memory of the device, there as long as it is referred to."""

    @property
    def address(self) -> int:
        """The address of its first byte."""


class Driver(Protocol):
    """A GPU, a stream of work for it, and two of copies beside."""

    @property
    def multiprocessors(self) -> int:
        """The number of its multiprocessors."""

    @property
    def shared_bytes(self) -> int:
        """The bytes of shared memory of each."""

    @property
    def block_bytes(self) -> int:
        """The most bytes of it that a block may have."""

    def load(self, functions: Sequence[Function]) -> Kernels:
        """Compile functions, or find them compiled, and load them.

        Raises CompilerError, with the statement that the compiler speaks of.
        """

    def free_bytes(self) -> int:
        """Return the bytes of the device's memory that nobody has."""

    def memory(self, count: int) -> Memory:
        """Return new memory of the device. Raises MemoryError where there is too little."""

    def host_memory(self, count: int) -> npt.NDArray[Any]:
        """Return new memory of the host as bytes, which the device reaches at the same addresses.
        Raises MemoryError where there is too little.
        """

    def copy(self, to: int, source: int, count: int, stream: Stream = Stream.KERNELS) -> None:
        """Copy bytes between addresses of the device or of the host."""

    def event(self, stream: Stream = Stream.KERNELS) -> Any:
        """Return the event that all is done that a stream was asked for so far."""

    def follow(self, event: Any, stream: Stream = Stream.KERNELS) -> None:
        """Do what a stream is asked for from now on when an event has come. In a graph it is one of
        the same graph.
        """

    def fill(self, to: int, value: int, count: int) -> None:
        """Give each of so many bytes a value."""

    def launch(self, kernel: Any, blocks: int, given: Sequence[int]) -> None:
        """Launch a kernel in so many blocks. It is given addresses and integers."""

    def begin_graph(self) -> None:
        """Put what is asked for from now on into a graph, instead of doing it."""

    def end_graph(self) -> Any:
        """Return the graph, None where none was begun."""

    def replay(self, graph: Any) -> None:
        """Do what a graph holds."""

    def mark(self) -> Any:
        """Return a mark of the time when all that was asked for so far is done."""

    def seconds_between(self, one: Any, other: Any) -> float:
        """Return the seconds between two marks, both of which are waited for."""

    def wait(self) -> None:
        """Wait until all is done. A graph that was begun, and not ended, is dropped.

        Raises RunError where the device is lost to this process, since a kernel did what it must
        not.
        """
