"""The progress of a run: iterations of the main loop, and the outputs that those done define."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from workbench.backends.protocol import Execution, Progress
from workbench.lowering.loop_program import LoopProgram
from workbench.lowering.loops.records import ResultBuffer


class RunProgress:
    """The iterations done of a run. `outputs` are whole, by name; they may come while it runs."""

    def __init__(
        self,
        loops: LoopProgram,
        sizes: Mapping[str, int],
        on_progress: Progress | None,
        outputs: Mapping[str, Any],
    ) -> None:
        self.loops, self.sizes = loops, sizes
        self._on_progress, self._outputs = on_progress, outputs
        self.iterations: range = range(0)
        """The main loop's values in the order of the run."""
        loop = loops.main_loop
        if loop is not None:
            low, high = (bound.evaluate(sizes) for bound in loop.range)
            self.iterations = range(high - 1, low - 1, -1) if loop.backwards else range(low, high)
        self.done = 0
        self.total = 1 if loop is None else len(self.iterations)

    def step(self) -> None:
        """Count a finished iteration of the main loop."""
        self.done += 1
        if self._on_progress is not None:
            self._on_progress(self.done, self.total, self.finished())

    def finish(self) -> None:
        """Count the whole run as done."""
        self.done = self.total

    def finished(self) -> dict[str, Any]:
        """Return the outputs, as far as the completed iterations define them."""
        if self.done >= self.total:
            return {r.name: self._own(r) for r in self.loops.results if r.name in self._outputs}
        loop = self.loops.main_loop
        parts = {}
        for result in self.loops.results:
            if loop is None or loop.dim not in result.dims or result.name not in self._outputs:
                continue
            axis = result.dims.index(loop.dim)
            array = self._own(result)
            kept = self.done + array.shape[axis] - self.total
            part = slice(array.shape[axis] - kept, None) if loop.backwards else slice(0, kept)
            parts[result.name] = array[(slice(None),) * axis + (part,)]
        return parts

    def _own(self, result: ResultBuffer) -> Any:
        """Return an output without the rows of the past."""
        array = self._outputs[result.name]
        if result.past is None:
            return array
        dim, rows = result.past
        axis = result.dims.index(dim)
        return array[(slice(None),) * axis + (slice(rows.evaluate(self.sizes), None),)]

    def execution(self, seconds: float, peak: Mapping[str, int], dtype: str) -> Execution:
        """Return the run as it is now."""
        timeline = partial(self.loops.timeline, self.sizes, dtype)
        return Execution(self.finished(), seconds, peak, self.done, self.total, timeline)
