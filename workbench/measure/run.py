"""`wb.run`: compile a variant, run it once, and return its outputs and its last carried values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from workbench.backends import get, or_default
from workbench.backends.philox import checked_seed
from workbench.backends.protocol import CompilerWork
from workbench.backends.tracker import Capacity, limits_of
from workbench.datasets.rows import expect_given
from workbench.errors import OutOfMemoryError, ProgramError, WorkbenchError, nearest
from workbench.identity import remembered
from workbench.lowering.loops.bytes import Point
from workbench.lowering.loops.records import DEVICE, HOST
from workbench.lowering.memory.takeover import holding
from workbench.measure.runs import checkpoint
from workbench.measure.runs.checkpoint import Checkpoint
from workbench.measure.runs.compiling import compiled
from workbench.measure.runs.lengths import counted_ends, lengths_in
from workbench.measure.runs.progress import Report, bar, title
from workbench.planning.recipe.aim import telling
from workbench.program.carrying.carried import KEPT, along, counting, keeping, resumed
from workbench.program.carrying.past import lost
from workbench.program.sizes import resolve
from workbench.program.text.units import bytes_text, on_threads, percent, seconds_text
from workbench.program.values import Equations, Program
from workbench.transforms.storage.swap import Swap
from workbench.variants.progress_line import progress_line
from workbench.variants.variant import Data, Variant, optimize, variant

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Result(Mapping[str, Any]):
    """The outputs of a run: `result["loss"]` is an array over `result.dims["loss"]`, then the inner
    shape.

    `seconds` is the time of the run without compilation, `compile_seconds` that of compilation; in
    it `compiler` is a C compiler's work, None where there is none. `peak` is the most bytes that
    each memory space held, `peak_bytes` the device's; each of `threads` has memory for a block of
    its own. `completed` of `total` iterations of the outermost loop were run: fewer after Ctrl-C,
    and then the outputs end there.
    """

    variant: Variant
    outputs: Mapping[str, npt.NDArray[Any]] = field(repr=False)
    dims: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]
    seed: int
    dtype: str
    backend: str
    threads: int
    seconds: float
    compile_seconds: float
    compiler: CompilerWork | None
    peak: Mapping[str, int]
    completed: int
    total: int
    timeline: list[Point] = field(repr=False)
    first: int = 0
    """The number of updates done before this run, when it went on from a checkpoint."""
    lengths: Mapping[str, npt.NDArray[Any]] = field(repr=False, default_factory=dict)
    """By a dim along which episodes end (`wb.until`): the number of steps of each episode, over the
    other dims of its event."""
    unended: Mapping[str, int] = field(default_factory=dict)
    """By such a dim: the number of episodes in which the event never came."""
    carried: Mapping[str, npt.NDArray[Any]] = field(repr=False, default_factory=dict)
    """The values that the last update handed to the next: parameters, an optimizer's moments,
    environment states. Empty after Ctrl-C. Of a program without parameters they are those of its
    outermost recurrence, where they were to be kept."""

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self.outputs:
            raise KeyError(f"no output {name!r}: {nearest(name, self.outputs, 'outputs')}")
        return self.outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def counted(self) -> str:
        """The dim that counts updates: a run goes on along it."""
        return counting(self.variant.root.program.equations)

    @property
    def peak_bytes(self) -> int:
        """The most bytes that the device's memory held."""
        return self.peak[DEVICE]

    @property
    def interrupted(self) -> bool:
        """Tell whether the run ended before its last iteration."""
        return self.completed < self.total

    def save(self, path: str | Path) -> None:
        """Write the values carried over the last update to a safetensors file. `wb.run(program,
        parameters=path)` goes on from it.
        """
        program = self.variant.program
        checkpoint.expect_savable(self.variant.root.program, path)
        if not self.carried and not self.interrupted:
            raise WorkbenchError(
                f"{program.name} has no parameters, and what its recurrences carry was not kept: "
                "wb.run(…, keep=True) keeps it"
            )
        if self.interrupted:
            raise WorkbenchError(
                f"the run was interrupted after {self.completed} of {self.total} updates: "
                "parameters are kept at the end of a run only"
            )
        kept = Checkpoint(
            program=program.name,
            key=self.variant.key,
            sizes=self.sizes,
            seed=self.seed,
            dtype=self.dtype,
            updates=self.first + program.dim[self.counted].size.evaluate(self.sizes),
            tensors=self.carried,
        )
        checkpoint.save(kept, path)

    def frame(self) -> Any:
        """Return the outputs of scalar elements that vary over one dimension as a pandas table
        indexed by it. Updates are numbered on from a checkpoint.
        """
        import pandas as pd

        def index(dim: str, length: int) -> Any:
            start = self.first if dim == self.counted else 0
            return pd.RangeIndex(start, start + length, name=dim)

        columns = {
            name: pd.Series(values, index=index(self.dims[name][0], len(values)))
            for name, values in self.outputs.items()
            if len(self.dims[name]) == 1 and values.ndim == 1
        }
        return pd.DataFrame(columns)

    def plot(self, *names: str) -> Figure:
        """Draw the outputs (or those named) against their first dimension, as a matplotlib Figure.
        There are gaps where an output is not a number, such as the return of an update in which no
        episode ended.
        """
        from workbench.measure.runs.curves import curves

        program = self.variant.program
        sizes = ", ".join(f"{p.name}={self.sizes[p.name]}" for p in program.parameters)
        first = {self.counted: self.first} if self.first else {}
        title = f"{program.name}: {sizes}, seed {self.seed}, {self.dtype}"
        return curves(self.outputs, self.dims, title, names or None, first)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(values.shape)}" for name, values in self.outputs.items())
        steps = ", ".join(str(step) for step in self.variant.steps) or "as written"
        part = f", interrupted after {self.completed} of {self.total}" if self.interrupted else ""
        there = f": {shapes}" if shapes else ""
        where = on_threads(self.backend, self.threads)
        never = "".join(
            f", no end of {count} of {self.lengths[dim].size} episodes along {dim}"
            for dim, count in self.unended.items()
            if count
        )
        return (
            f"<{self.variant.program.name} ({steps}) on {where}{there}; "
            f"{seconds_text(self.seconds)}, peak {peak_text(self.peak)}{never}{part}>"
        )


def run(
    program: Program | Variant,
    backend: str | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    seed: int | None = None,
    dtype: str = "float32",
    progress: bool | Report = True,
    check_finite: bool = False,
    capacity: Capacity = None,
    parameters: str | Path | Mapping[str, Any] | None = None,
    threads: int | None = None,
    data: Data = None,
    keep: bool = False,
) -> Result:
    """Run a variant as it is, or a program under the automatic recipe for these sizes, this backend
    and the device's capacity (`result.variant.steps` shows it).

    `backend`: "native" where there is a C compiler, else "numpy", unless given; `result.backend`
    and the line of progress say which.
    `progress`: a bar, nothing, or a function of (iterations done, of how many, outputs so far).
    `sizes` overrides sizes by name without a new trace. The same seed gives the same draws whatever
    the variant, the dtype ("float32" or "float64") or the sizes; it is 0 unless given.
    `check_finite` stops at the first NaN, or infinity made of finite operands, and names statement
    and instance: an action mask's -inf is let through. `capacity` bounds the device's memory in
    bytes, or that of each space it names: `{"device": 2**30}`. Where no variant that is found fits,
    the program is refused with the least memory found. Ctrl-C ends the run and returns what was
    done. `threads`: on native the processors that this process may use, unless given, on NumPy
    those of its matrix products, one unless given; any number gives the same bits on native.

    `parameters`: a file that `Result.save` wrote, or arrays by name, to start from. From a file the
    run goes on: all values carried over updates are read from it, and updates are counted on.
    Unless given, the seed is the file's, so that the run equals the rest of one longer run. From
    arrays by name a new run starts, in which those named have these values at first: parameters, or
    any other array that a recurrence begins with. A program without `nn.parameters` goes on along
    the outermost dim of a recurrence; `keep` then keeps what that hands on, in `result.carried` and
    for `result.save`. With parameters it is kept anyway.

    `data`: the sources of the program's data sets by name, each arrays by column, as in `{"log":
    {"state": states, "reward": rewards}}`, a structured array, a pandas table, a file, a folder of
    .npy files, or a data set of Minari's. The number of rows is the default of the last size that a
    data set runs over; a larger source is read from its first row on. What has the dtype of the run
    and is in order is read where it lies.
    """
    if seed is not None:
        seed = checked_seed(seed)
    if dtype not in ("float32", "float64"):
        raise WorkbenchError(f'dtype {dtype!r}; expected "float32" or "float64"')
    chosen = variant(program, data)
    expect_given(chosen.root.program.equations, chosen.rows)
    sizes = chosen.rows.sizes(sizes)
    if check_finite and chosen.program.equations.ends:
        raise WorkbenchError(
            f"check_finite of {chosen.program.name}, whose episodes end (wb.until): values past an "
            "end, which nothing reads, would be checked too"
        )
    known = resolve(chosen.program.equations, sizes)
    asked, backend = backend, or_default(backend)
    runner = get(backend)
    used = runner.threads(threads)
    if not check_finite:
        runner.prepare_ahead()
    limit = limits_of(capacity).get(DEVICE)
    line = title(chosen.program.name, asked, used)
    if not isinstance(program, Variant):
        most = None if limit is None else int(limit)
        with progress_line(line, progress is True) as say:
            say("choosing steps")
            chosen = optimize(
                chosen,
                capacity=most,
                sizes=sizes,
                backend=backend,
                dtype=dtype,
                threads=threads,
                progress=telling(say),
            )
        if keep or parameters is not None:
            chosen = holding_past(chosen)
    start = None if parameters is None else checkpoint.opened(parameters)
    if seed is None:
        seed = 0 if start is None else start.seed
    program, written, given = chosen.program, chosen.root.program, {}
    if keep or start is not None:
        program, written = along(program), along(written)
        _expect_past(program, written)
    if keep:
        checkpoint.expect_kept(written)
    if start is not None:
        given = checkpoint.fitting(start, written, known, dtype)
        program = holding(resumed(program, given, start.updates, written.equations), program)
    kept = _keeping(program, written.equations, asked=keep)
    ahead = (written.updates, 0 if start is None else start.updates)
    values = given | chosen.rows.tables(known, dtype, ahead)
    with progress_line(line, progress is True) as say:
        say("compiling")
        ready, compile_seconds, work = compiled(runner, kept, dtype, prepare=not check_finite)
    with bar(chosen.program, known, line, progress) as report:
        try:
            done = ready.run(sizes, seed, dtype, report, check_finite, capacity, values, used)
        except OutOfMemoryError as error:
            peak = partial(_peak, sizes=sizes, backend=backend, dtype=dtype, threads=used)
            raise _with_help(error, chosen, peak) from None
    arrays = chosen.program.array
    counted = counted_ends(chosen.program)
    outputs = {o.name: o.array for o in chosen.program.outputs if o.name not in counted}
    after = {end.dim: done.outputs[name] for name, end in counted.items() if name in done.outputs}
    steps = {dim: chosen.program.dim[dim].size.evaluate(known) for dim in after}
    lengths = lengths_in(chosen.program, done.outputs, known)
    chosen.ran(lengths)
    return Result(
        variant=chosen,
        outputs={name: done.outputs[name] for name in outputs if name in done.outputs},
        dims={name: arrays[array].dims for name, array in outputs.items()},
        sizes=known,
        seed=seed,
        dtype=dtype,
        backend=backend,
        threads=used,
        seconds=done.seconds,
        compile_seconds=compile_seconds,
        compiler=work,
        peak=done.peak,
        completed=done.completed,
        total=done.total,
        timeline=done.timeline,
        first=start.updates if start is not None else 0,
        lengths=lengths,
        unended={dim: int(np.count_nonzero(x == steps[dim])) for dim, x in after.items()},
        carried={
            name.removeprefix(KEPT): x
            for name, x in done.outputs.items()
            if name not in outputs and name not in counted
        },
    )


def holding_past(chosen: Variant) -> Variant:
    """Return the variant without the steps after which no later run can go on: those that compute
    again what is read at random among the last updates. The other steps are taken where they can
    be.
    """
    written = along(chosen.root.program).equations
    if not lost(chosen.program.equations, written):
        return chosen
    result = chosen.root
    for step in chosen.steps:
        if result.check(step) is None:
            after = result.apply(step)
            result = result if lost(after.program.equations, written) else after
    return result


def _expect_past(program: Program, written: Program) -> None:
    """Raise where steps keep no past of an array that a run which goes on reads."""
    names = lost(program.equations, written.equations)
    if names:
        raise ProgramError(
            f"the variant computes {', '.join(names)} again where it is read at random, and a run "
            "that goes on does not have what that needs of the updates before; leave that step out"
        )


def peak_text(peak: Mapping[str, int]) -> str:
    """Describe the device's peak, and the host's where anything lives there."""
    host = f" and {bytes_text(peak[HOST])} on the host" if peak[HOST] else ""
    return f"{bytes_text(peak[DEVICE])}{host}"


def _with_help(
    error: OutOfMemoryError, chosen: Variant, peak: Callable[[Variant], int]
) -> OutOfMemoryError:
    """Return the error, with the Swap of an array it names that leaves least on the device, if
    there is room for that. Where nobody knows the room, no limit was set and none is of a device:
    then the host's memory is the same.
    """
    if error.space != DEVICE or error.room is None:
        return error
    known = chosen.program.array
    arrays = [text for text in error.arrays if text in known and known[text].dims]
    steps = [step for step in map(Swap, arrays) if chosen.check(step) is None]
    peaks = {step: peak(chosen.apply(step)) for step in steps}
    best = min(peaks, key=peaks.__getitem__, default=None)
    if best is None or peaks[best] > error.room:
        return error
    share = percent(peaks[best] / peak(chosen))
    said = f"{error.message}; {best} would leave {share} of what the device holds at most"
    return OutOfMemoryError(said, error.space, error.arrays, error.room)


def _peak(
    chosen: Variant, *, sizes: Mapping[str, int] | None, backend: str, dtype: str, threads: int
) -> int:
    """Return the bytes that a run of a variant takes on the device."""
    return chosen.predict(sizes, backend, dtype, threads).peak_bytes[DEVICE]


def _keeping(program: Program, written: Equations, asked: bool) -> Program:
    """Return the program that also returns its carried values, where a later run needs nothing
    else. Raises ProgramError where they are `asked` for and cannot be kept.
    """
    try:
        return _with_carried(program, written)
    except ProgramError:
        if asked:
            raise
        return program


@remembered(16, same=2)
def _with_carried(program: Program, written: Equations) -> Program:
    """Return that program, the same for every run of a variant: it is lowered once."""
    return holding(keeping(program, written), program)
