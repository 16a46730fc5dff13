"""Programs on a GPU with a mark behind each launch: a run tells how long each function took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.cuda.launching import FunctionLaunch
from workbench.backends.cuda.run import CudaRun, Launches
from workbench.backends.externals import Externals
from workbench.backends.timed.stamps import MOST_LAUNCHES, TimedLaunch, TimedRun
from workbench.codegen.cuda.kernel_functions import all_functions
from workbench.program.sizes import resolve


def timed_functions(
    compiled: CudaProgram,
    sizes: Mapping[str, int] | None,
    seed: int,
    dtype: str,
    given: Mapping[str, Any] | None = None,
) -> TimedRun:
    """Run once, each launch by itself; numbers are those of functions in order."""
    known = resolve(compiled.program.equations, sizes)
    memory = compiled.memory(known, seed, dtype, None, given or {})
    made = compiled.launched(dtype)
    run = _TimedRun(compiled.kernels, made, compiled.loaded(dtype), memory, None)
    run.count([function.name for function in all_functions(made)])
    with Externals(compiled.program.equations, known, seed) as externals:
        execution = run.run(externals)
    none = [0] * len(run.calls)
    return TimedRun(execution, run.seconds, run.calls, none, 0.0, tuple(run.log))


class _TimedRun(CudaRun):
    """A run that launches without graphs, and marks the time behind each launch."""

    def count(self, names: list[str]) -> None:
        """Begin to count, functions by their places among these names."""
        self.places = {name: number for number, name in enumerate(names)}
        self.seconds = [0.0] * len(names)
        self.calls = [0] * len(names)
        self.log: list[TimedLaunch] = []
        self.begun = self.driver.mark()
        self.marks: list[tuple[int, Any, Any]] = []
        """The launches that are not waited for: their numbers, and the marks around them."""

    def _launch(self, launches: Launches, again: bool) -> None:
        before = self.driver.mark()
        for one in launches:
            self._launch_each((one,))
            behind = self.driver.mark()
            if isinstance(one, FunctionLaunch):
                self.marks.append((self.places[one.function], before, behind))
            before = behind

    def _look(self) -> None:
        super()._look()
        for number, before, behind in self.marks:
            seconds = self.driver.seconds_between(before, behind)
            self.seconds[number] += seconds
            self.calls[number] += 1
            if len(self.log) < MOST_LAUNCHES:
                end = self.driver.seconds_between(self.begun, behind)
                self.log.append(TimedLaunch(number, end - seconds, end))
        self.marks.clear()
