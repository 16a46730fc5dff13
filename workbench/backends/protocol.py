"""The interface of every backend: compile a program, run it, and report the memory that took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from workbench.backends.tracker import Capacity
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.bytes import Point
from workbench.lowering.loops.records import DEVICE
from workbench.program.values import Program

Outputs = Mapping[str, Any]
Progress = Callable[[int, int, Outputs], None]
"""A function of (iterations done, in all, outputs so far), called after each outermost
iteration.
"""


@dataclass(frozen=True)
class Execution:
    """One run. `outputs` are over their arrays' dimensions in order, then the inner shape.

    `completed` of `total` iterations of the outermost loop were run. If that is fewer, outputs hold
    those alone, and outputs that do not vary over the loop's dimension are left out. `peak` is the
    most that each memory space held. `timeline` is one iteration of every loop on the device: bytes
    and live arrays at each point of the loop program.
    """

    outputs: dict[str, Any]
    seconds: float
    peak: Mapping[str, int]
    completed: int
    total: int
    memory: Callable[[], list[Point]] = field(repr=False, default=list)
    """A function that computes the timeline."""

    @property
    def peak_bytes(self) -> int:
        """The most bytes that the device's memory held."""
        return self.peak[DEVICE]

    @cached_property
    def timeline(self) -> list[Point]:
        """The bytes and live arrays at each point of the loop program: one iteration a loop."""
        return self.memory()


@dataclass(frozen=True)
class CompilerWork:
    """The work of a compiler for a program: seconds by the clock, and of all cores together; none
    where the program was compiled before.
    """

    seconds: float
    cpu_seconds: float


class Compiled(Protocol):
    """A program ready to run at any sizes, seeds and dtypes."""

    @property
    def source(self) -> str:
        """The generated source text."""

    @property
    def loop_program(self) -> LoopProgram:
        """The loop program it was generated from."""

    def prepare(self, dtype: str = "float32") -> CompilerWork | None:
        """Generate and load the code for runs with a dtype, so that the first does no more than the
        others. Return the work of the compiler that made it, None where none is needed.
        """

    def run(
        self,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        on_progress: Progress | None = None,
        check_finite: bool = False,
        capacity: Capacity = None,
        given: Mapping[str, Any] | None = None,
        threads: int = 1,
    ) -> Execution:
        """Run once. Ctrl-C ends the run early and returns the work so far.

        `given` are the values of the bodies `given("…")` by name: over the instances, then the
        inner shape. Any number of `threads` gives the same bits, as far as matrix products are
        not those of a library.

        Raises RunError: out of memory (more than `capacity` bytes on the device, or in the spaces
        that it names, or than the machine has), an index outside its range, an empty max; with
        `check_finite` at the first instance that is NaN, or infinite while its operands are finite.
        """


class Backend(Protocol):
    """A way to run programs."""

    name: str

    def unavailable(self) -> str | None:
        """Return the sentence that says why it cannot run here, or None."""

    def device(self) -> str:
        """Return the maker's name of the device that runs programs, as measurements record it."""

    def threads(self, asked: int | None) -> int:
        """Return the number of threads of a run, for None the usual one.

        Raises WorkbenchError where it is none, or more than there are.
        """

    def prepare_ahead(self) -> None:
        """Begin, beside the caller, what the first run of any program needs: called before one is
        planned.
        """

    def compile(self, program: Program) -> Compiled:
        """Lower and generate; raises UnavailableError where the backend is not available."""
