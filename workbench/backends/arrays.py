"""The array backend: generated Python source over an array module, with every byte tracked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from workbench.backends import philox
from workbench.backends.protocol import Execution, Progress
from workbench.backends.source import ENTRY, generate, main_loop
from workbench.backends.tracker import Memory
from workbench.errors import RunError
from workbench.lowering.program import LoopProgram, lower
from workbench.program.operations import OPERATIONS
from workbench.program.sizes import resolve
from workbench.program.values import Program

Functions = dict[str, Any]


def functions_of(xp: Any) -> Functions:
    """The table of functions that generated source calls, over an array module."""
    names = {row.ufunc for row in OPERATIONS.values() if row.ufunc}
    found: Functions = {name: getattr(xp, name) for name in names}
    for name in ("add", "maximum", "minimum", "logical_or"):
        found[f"{name}.reduce"] = getattr(getattr(xp, name), "reduce", None)
    found["add.accumulate"] = getattr(xp.add, "accumulate", None)
    for name in ("copyto", "dot", "matmul", "broadcast_to"):
        found[name] = getattr(xp, name)
    for name in ("take", "argmax", "argmin"):
        found[name] = getattr(xp.ndarray, name)
    found["random"] = philox.fill
    found["orthogonalize"] = _orthogonalize
    found["segment_add"] = segment_add
    found["check_index"] = _check_index
    found["check_length"] = _check_length
    found["check_all"] = _check_all
    return found


@dataclass(frozen=True)
class CompiledArrays:
    """A program as source over an array module."""

    program: Program
    loop_program: LoopProgram
    xp: Any = field(repr=False)
    functions: Functions = field(repr=False)
    finish: Callable[[], Any] = field(repr=False, default=lambda: None)
    """Waits until the device is done."""

    @cached_property
    def source(self) -> str:
        """The generated source text."""
        return generate(self.loop_program)

    @cached_property
    def _plain(self) -> Callable[..., None]:
        return _function(self.source, self.program.name)

    @cached_property
    def _checking(self) -> Callable[..., None]:
        return _function(generate(self.loop_program, check_finite=True), self.program.name)

    def run(
        self,
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        dtype: str = "float32",
        on_progress: Progress | None = None,
        check_finite: bool = False,
        capacity: int | None = None,
    ) -> Execution:
        """Run once; see `protocol.Compiled`."""
        known = resolve(self.program, sizes)
        memory = Memory(self.xp, capacity)
        run = _Run(self, known, on_progress)
        function = self._checking if check_finite else self._plain
        start = time.perf_counter()
        try:
            with np.errstate(all="ignore"):
                function(
                    self.xp,
                    self.functions,
                    memory,
                    philox.checked_seed(seed),
                    getattr(self.xp, dtype),
                    tuple(known.values()),
                    run.results,
                    run.step,
                    run.check,
                )
            self.finish()
            run.done = run.total
        except KeyboardInterrupt:
            pass
        seconds = time.perf_counter() - start
        timeline = self.loop_program.timeline(known, dtype)
        return Execution(run.finished(), seconds, memory.peak, run.done, run.total, timeline)


class _Run:
    """What one run has done so far."""

    def __init__(
        self, compiled: CompiledArrays, sizes: Mapping[str, int], on_progress: Progress | None
    ) -> None:
        self.compiled = compiled
        self.sizes = sizes
        self.on_progress = on_progress
        self.results: dict[str, Any] = {}
        self.done = 0
        self.loop = main_loop(compiled.loop_program)
        self.total = 1
        if self.loop is not None:
            self.total = max(0, self.loop.upper.evaluate(sizes) - self.loop.lower.evaluate(sizes))

    def step(self) -> None:
        """An iteration of the outermost loop is done."""
        self.done += 1
        if self.on_progress is not None:
            self.on_progress(self.done, self.total, self.finished())

    def finished(self) -> dict[str, Any]:
        """The outputs, as far as the completed iterations define them."""
        if self.done >= self.total:
            return dict(self.results)
        found = {}
        for result in self.compiled.loop_program.results:
            if self.loop is None or self.loop.dim not in result.dims:
                continue
            if result.name not in self.results:
                continue
            axis = result.dims.index(self.loop.dim)
            array = self.results[result.name]
            kept = self.done + array.shape[axis] - self.total
            part = slice(array.shape[axis] - kept, None) if self.loop.backwards else slice(0, kept)
            found[result.name] = array[(slice(None),) * axis + (part,)]
        return found

    def check(
        self,
        statement: str,
        value: Any,
        instance: list[tuple[str, int]],
        lows: list[tuple[str, int]],
    ) -> None:
        """Raise RunError where a statement's result is not finite, naming its first instance."""
        xp = self.compiled.xp
        if value.dtype.kind != "f":
            return
        wrong = ~xp.isfinite(value)
        if not bool(wrong.any()):
            return
        place = [int(k) for k in np.argwhere(np.asarray(wrong))[0]]
        where = dict(instance) | {d: low + k for (d, low), k in zip(lows, place, strict=False)}
        record = self.compiled.program.statement[statement]
        spelled = ", ".join(f"{d}={where[d]}" for d in record.dims)
        found = float(value[tuple(place)])
        raise RunError(
            f"{record.array} is {found} at {spelled or 'its only instance'}, the first value that "
            f"is not finite (statement {statement})",
            record.line,
        )


def compile_arrays(
    program: Program, xp: Any, functions: Functions, finish: Callable[[], Any] = lambda: None
) -> CompiledArrays:
    """Lower a program and generate its source over an array module."""
    return CompiledArrays(program, lower(program), xp, functions, finish)


def _function(source: str, name: str) -> Callable[..., None]:
    space: dict[str, Any] = {}
    exec(compile(source, f"<generated from {name}>", "exec"), space)
    found: Callable[..., None] = space[ENTRY]
    return found


# -- functions of the table that are not the module's ---------------------------------------------


def _orthogonalize(x: Any, out: Any) -> None:
    evaluate = OPERATIONS["orthogonalize"].evaluate
    assert evaluate is not None
    out[...] = evaluate(x)


def segment_add(out: Any, value: Any, indices: Sequence[Any], lower: Sequence[int]) -> None:
    """out[index] = sum of the values with that index, added in order; `out` is contiguous."""
    places: Any = None
    inside: Any = True
    for index, low, n in zip(indices, lower, out.shape, strict=False):
        place = index.reshape(-1) - low
        inside = inside & (place >= 0) & (place < n)
        places = place if places is None else places * n + place
    count = math.prod(out.shape[: len(indices)])
    rows, inner = value.reshape(len(inside), -1), out.size // max(count, 1)
    if not inside.all():
        places, rows = places[inside], rows[inside]
    if inner > 1:
        places = (places[:, None] * inner + np.arange(inner)).reshape(-1)
    out[...] = 0
    np.add.at(out.reshape(-1), places, rows.reshape(-1))


def _check_index(index: Any, lower: int, upper: int, array: str, dim: str, statement: str) -> None:
    if not index.size:
        return
    low, high = int(index.min()), int(index.max())
    if low < lower or high >= upper:
        wrong = low if low < lower else high
        raise RunError(
            f"{statement} reads {array} at {dim} = {wrong}, outside {lower} to {upper - 1}"
        )


def _check_length(length: int, axis: str, statement: str) -> None:
    if length <= 0:
        raise RunError(f"{statement} combines no elements over {axis}: an empty max has no value")


def _check_all(some: Any, statement: str) -> None:
    if not bool(some.all()):
        raise RunError(
            f"{statement} combines no elements at some instance: an empty max has no value"
        )
