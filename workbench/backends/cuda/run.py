"""One run on a GPU: each iteration of the main loop is a graph, which is made once and replayed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from workbench.backends.cuda.driver import Kernels
from workbench.backends.cuda.launching import ExternalCall, Launching, OfDevice, Step, Transfer
from workbench.backends.cuda.run_memory import RunMemory, address_of
from workbench.backends.cuda.streams import OnStreams, stream_of
from workbench.backends.externals import Externals
from workbench.backends.failed_checks import failed_check
from workbench.backends.protocol import Execution, Progress
from workbench.backends.run_progress import RunProgress
from workbench.codegen.cuda.functions import Function, Stages
from workbench.codegen.kernels import ProgramKernels

MOST_LAUNCHES = 4096
"""Those of a graph: a longer iteration is several, one behind the other."""
MOST_GRAPHS = 64
"""Iterations that differ are launched one by one beyond so many."""


class Launches(tuple[OfDevice, ...]):
    """What the device does by itself, one behind the other. There are many, and the same come in
    each iteration: so their hash is found once.
    """

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash


Piece: TypeAlias = Launches | ExternalCall
"""What is asked of the device at once, or of an external object."""


class CudaRun:
    """A run whose kernels are loaded and whose memory is there."""

    def __init__(
        self,
        made: ProgramKernels,
        launched: Sequence[Function | Stages],
        loaded: Kernels,
        memory: RunMemory,
        on_progress: Progress | None,
    ) -> None:
        self.made, self.kernels, self.memory = made, loaded.kernels, memory
        self.driver = memory.driver
        self.launching = Launching(made, launched, memory.numbers, memory.dtype, memory.addresses)
        outputs = _Outputs(made, memory)
        self.progress = RunProgress(made.loops, memory.sizes, on_progress, outputs)
        self.graphs: dict[Launches, Any] = {}
        self._pieces: list[Piece] | None = None
        """Those of an iteration, where all iterations have the same."""

    def run(self, externals: Externals) -> Execution:
        """Run all kernels; raise what a check or an external object has to say. Ctrl-C ends the run
        behind the iteration that is on the device.
        """
        start = time.perf_counter()
        launching, driver = self.launching, self.driver
        try:
            self._run(pieces_of(launching.steps(launching.begin, {})), externals, {})
            for value in self.progress.iterations:
                variables = {launching.variable: value}
                self._run(self._iteration(variables), externals, variables)
                self.progress.step()
            self._run(pieces_of(launching.steps(launching.end, {})), externals, {})
            self.progress.finish()
        except KeyboardInterrupt:
            driver.wait()
        seconds = time.perf_counter() - start
        return self.progress.execution(seconds, self.memory.peak, self.memory.dtype)

    def _iteration(self, variables: Mapping[str, int]) -> list[Piece]:
        """Return the pieces of an iteration of the main loop."""
        steps = partial(self.launching.steps, self.launching.iteration, variables)
        if self.launching.varies:
            return pieces_of(steps())
        if self._pieces is None:
            self._pieces = pieces_of(steps())
        return self._pieces

    def _run(
        self, pieces: Sequence[Piece], externals: Externals, variables: Mapping[str, int]
    ) -> None:
        """Run pieces, those of an iteration with its variable; wait for them, and look at
        checks.
        """
        memory, state = self.memory, self.memory.state
        if variables:
            (state.iteration,) = variables.values()
            memory.copy_state_to_device()
        for piece in pieces:
            if isinstance(piece, ExternalCall):
                self._call(piece, externals, variables)
            else:
                self._launch(piece, bool(variables))
        if pieces:
            self._look()

    def _launch(self, launches: Launches, again: bool) -> None:
        """Launch kernels, with the copies between: as a graph those that may come again."""
        if not again or self.progress.total == 1 or len(launches) == 1:
            self._launch_each(launches)
            return
        graph = self.graphs.get(launches)
        if graph is None and len(self.graphs) < MOST_GRAPHS:
            try:
                self.driver.begin_graph()
                self._launch_each(launches)
            finally:
                graph = self.driver.end_graph()
            self.graphs[launches] = graph
        if graph is None:
            self._launch_each(launches)
        else:
            self.driver.replay(graph)

    def _launch_each(self, launches: Sequence[OfDevice]) -> None:
        OnStreams.of(launches).ask(self.driver, self._do)

    def _do(self, step: OfDevice) -> None:
        if isinstance(step, Transfer):
            self.driver.copy(step.to, step.source, step.count, stream_of(step))
        else:
            self.driver.launch(self.kernels[step.function], step.blocks, step.given)

    def _call(self, step: ExternalCall, externals: Externals, variables: Mapping[str, int]) -> None:
        """Let an external object answer: its operands come to the host, its result goes back."""
        arrays, option = self.memory.calls[step.number], self.made.calls[step.number].option
        for array, address in zip(arrays.operands, step.operands, strict=True):
            self.driver.copy(address_of(array), address, array.nbytes)
        self._look()
        values = {**self.memory.sizes, **dict(step.variables), **variables}
        at = [(d, e.evaluate(values)) for d, e in option["instance"]]
        names = (option["name"], option["method"], option["statement"])
        externals.call(*names, at, arrays.out, *arrays.operands)
        self.driver.copy(step.out, address_of(arrays.out), arrays.out.nbytes)

    def _look(self) -> None:
        """Wait for all that was launched; raise the error of a check that failed."""
        self.memory.copy_state_to_host()
        self.driver.wait()
        state = self.memory.state
        if state.failed:
            check = self.made.checks[state.failed - 1]
            equations = self.made.program.equations
            raise failed_check(equations, check, state.instance, state.numbers)


def pieces_of(steps: Iterable[Step]) -> list[Piece]:
    """Return steps in pieces: calls of external objects, and what is launched between them."""
    pieces: list[Piece] = []
    for of_device, group in groupby(steps, lambda step: not isinstance(step, ExternalCall)):
        if of_device:
            launches = [step for step in group if not isinstance(step, ExternalCall)]
            for first in range(0, len(launches), MOST_LAUNCHES):
                pieces.append(Launches(launches[first : first + MOST_LAUNCHES]))
        else:
            pieces += [step for step in group if isinstance(step, ExternalCall)]
    return pieces


class _Outputs(Mapping[str, npt.NDArray[np.generic]]):
    """The outputs by name, each read from the device when it is asked for."""

    def __init__(self, made: ProgramKernels, memory: RunMemory) -> None:
        self._results = {result.name: result for result in made.loops.results}
        self._memory = memory

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        result = self._results[name]
        return self._memory.read(result.buffer, result.axes)

    def __contains__(self, name: object) -> bool:
        return name in self._results

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)
