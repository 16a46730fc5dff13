"""`wb.profile`: the time of a run by scope, kernel and statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.backends import get, or_default
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.cuda.compiled_program import CudaProgram
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.backends.philox import checked_seed
from workbench.backends.timed.peaks import Peaks, peaks
from workbench.backends.timed.stamps import Logged, TimedLaunch
from workbench.errors import WorkbenchError, nearest
from workbench.measure.profiles import trace
from workbench.measure.profiles.course import Course, Place, course
from workbench.measure.profiles.effort import RunRequest, expect_iterations, rounds, tried
from workbench.measure.profiles.parts import KEYS, PYTHON, KernelTime, Part, launches_of
from workbench.measure.profiles.predicted import predicted_parts
from workbench.measure.profiles.rows import ProfileRows, rows, touched_at_once
from workbench.measure.profiles.table import UNCERTAIN, html, text
from workbench.measure.profiles.timing import (
    Finished,
    Timing,
    array_timing,
    cuda_timing,
    native_timing,
)
from workbench.measure.rounds.expected import Expectation
from workbench.measure.rounds.rounds import DTYPES, RoundsListener, now, reporting
from workbench.measure.runs.compiling import compiled
from workbench.measure.runs.lengths import lengths_in
from workbench.measure.runs.progress import title
from workbench.program.sizes import numbers, resolve, settable
from workbench.program.text.units import on_threads, percent, seconds_text
from workbench.program.values import Program
from workbench.variants.variant import Data, Variant, optimize, variant

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FEW = 8
"""The rows of each kind that a profile shows of itself."""
NEAR = 0.05
"""The share by which its parts differ from an untimed run at most, on a machine at rest."""


@dataclass(frozen=True, repr=False, eq=False)
class Profile:
    """The time of a run by what it was spent on, in seconds.

    `parts` are statements in what was timed as one; where that serves several, they share its
    seconds by counted work, and rows that hold such seconds are marked `≈`. On native `kernels`
    are timed as they are launched; those of several statements are divided by a second build that
    has stamps inside, scaled to the first one's seconds. `untimed_seconds` are those of a run
    that nothing times: `seconds` are to come near. `peaks` are what the machine does at most, with
    memory as near as that of each kernel's launches; None on a GPU and without a C compiler.
    `predicted` has the seconds that were predicted of each statement and of what is between; empty
    for a backend without known constants. `date` is ISO 8601, in UTC.
    """

    variant: Variant
    backend: str
    device: str
    threads: int
    sizes: Mapping[str, int]
    seed: int
    dtype: str
    parts: tuple[Part, ...]
    untimed_seconds: float
    kernels: tuple[KernelTime, ...] = ()
    peaks: Peaks | None = None
    log: tuple[Logged, ...] = field(default=(), compare=False)
    """The first launches of kernels, or else executions of statements, and iterations of loops."""
    names: tuple[str, ...] = ()
    """What is launched, by the numbers that launches have."""
    places: tuple[Place, ...] = field(default=(), compare=False)
    """The launches and the loops around them, in the order of the loop program."""
    predicted: Mapping[str, float] = field(default_factory=dict)
    date: str = ""
    rounds: int = 1
    planned: int = 1
    """The rounds that were finished, and how many were planned: more where it was stopped."""

    @property
    def launches(self) -> tuple[TimedLaunch, ...]:
        """The first launches of kernels, or else executions of statements, for `trace`."""
        return tuple(entry for entry in self.log if isinstance(entry, TimedLaunch))

    @property
    def course(self) -> Course | None:
        """The first iterations on a time axis: lanes of loops, and of kernels, else statements."""
        what = "kernel" if self.kernels else "statement"
        calls: dict[str, int] = {}
        alone: dict[str, set[str]] = {}
        of: dict[str, set[str]] = {}
        for part in self.parts:
            row = KEYS[what](part)
            calls[row] = max(calls.get(row, 0), part.calls)
            alone.setdefault(part.statement, set()).add(row)
            of.setdefault(row, set()).add(part.statement)
        calls |= launches_of(self.kernels)
        known = {
            row: sum(self.predicted.get(name, 0.0) for name in names) / calls[row]
            for row, names in of.items()
            if self.predicted and calls[row] and all(len(alone[name]) == 1 for name in names)
        }
        numbers = enumerate(self.names)
        return course(
            self.log,
            self.places,
            {number: known[name] for number, name in numbers if name in known},
        )

    @property
    def seconds(self) -> float:
        """The seconds of all parts, Python between them included."""
        return sum(part.seconds for part in self.parts)

    @property
    def python_seconds(self) -> float:
        """The seconds between kernels and statements."""
        return sum(part.seconds for part in self.parts if part.kernel == PYTHON)

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The kernels whose division is uncertain: with stamps inside they took more than 15 % more
        or less.
        """
        return tuple(kernel.name for kernel in self.kernels if kernel.uncertain)

    def by(self, what: str) -> ProfileRows:
        """Return seconds, calls, operations and bytes by "scope", "kernel" or "statement"."""
        if what not in KEYS:
            raise WorkbenchError(f"by({what!r}): {nearest(str(what), KEYS, 'ways')}")
        if what == "kernel" and not self.kernels:
            raise WorkbenchError(
                f'by("kernel"): {self.backend} has no kernels; expected "scope" or "statement"'
            )
        found = rows(self.parts, what, self.peaks, launches_of(self.kernels), self.uncertain)
        return ProfileRows(what, found, self._head)

    def frame(self) -> Any:
        """Return the parts as a pandas table, a row each; `uncertain` are those of a kernel that
        `uncertain` names.
        """
        import pandas as pd

        unsure = set(self.uncertain)
        parts = [{**vars(part), "uncertain": part.kernel in unsure} for part in self.parts]
        table = pd.DataFrame(parts)
        return table.sort_values("seconds", ascending=False, ignore_index=True)

    def plot(self, what: str = "statement") -> Figure:
        """Draw the longest rows by statement, kernel or scope as bars, in a matplotlib Figure."""
        from workbench.measure.profiles.drawing import bars

        return bars(self.by(what), self._title, self.scopes(what))

    def trace(self, path: str | Path) -> None:
        """Write the first 20,000 launches of kernels as trace events, for https://ui.perfetto.dev;
        on other backends the first so many statements, without what is between them.
        """
        if not Path(path).absolute().parent.is_dir():
            raise WorkbenchError(f"no trace: there is no folder {Path(path).absolute().parent}")
        about = {
            "program": self.variant.program.name,
            "backend": on_threads(self.backend, self.threads),
            "sizes": dict(self.sizes),
            "seed": self.seed,
            "dtype": self.dtype,
            "device": self.device,
            "first": len(self.launches),
        }
        scopes = self.scopes("kernel" if self.kernels else "statement")
        trace.write(path, self.launches, self.names, scopes, about)

    def scopes(self, what: str) -> dict[str, str]:
        """Return the scope in which each row by "scope", "kernel" or "statement" spent most."""
        most: dict[str, tuple[float, str]] = {}
        shares: dict[tuple[str, str], float] = {}
        for part in self.parts:
            key = KEYS[what](part), part.scope
            shares[key] = shares.get(key, 0.0) + part.seconds
        for (name, scope), seconds in shares.items():
            most[name] = max(most.get(name, (-1.0, "")), (seconds, scope))
        return {name: scope for name, (_, scope) in most.items()}

    # -- text --------------------------------------------------------------------------------------

    @property
    def _title(self) -> str:
        where = on_threads(self.backend, self.threads)
        if self.backend == "native" and self.threads == 1:
            where = f"{where}, 1 thread"  # other runs take all cores unless told
        return (
            f"{self.variant.program.name} on {where}: {numbers(self.sizes)}, seed {self.seed}, "
            f"{self.dtype}"
        )

    @property
    def _head(self) -> str:
        """What was run, and how its parts add up."""
        return "\n".join([f"{self._title}; {self.device}", *self.summary])

    @property
    def summary(self) -> tuple[str, ...]:
        """Lines that tell how its parts add up, and how long kernels took in both builds."""
        return (self._sums(), *self._stopped(), *self._divided())

    def _sums(self) -> str:
        off = self.seconds / self.untimed_seconds - 1
        sign = "+" if off >= 0 else "−"
        busy = "" if abs(off) <= NEAR else ": other programs may have run beside it"
        what = "kernels" if self.kernels else "statements"
        inside = self.seconds - self.python_seconds
        return (
            f"{what} {seconds_text(inside)} + Python between {seconds_text(self.python_seconds)} = "
            f"{seconds_text(self.seconds)}; untimed run {seconds_text(self.untimed_seconds)} "
            f"({sign}{percent(abs(off))}{busy})"
        )

    def _stopped(self) -> Iterator[str]:
        if self.rounds < self.planned:
            yield f"stopped after {self.rounds} of {self.planned} rounds"

    def _divided(self) -> Iterator[str]:
        """Yield how long the kernels that were divided took in both builds."""
        divided = {k.name: k.division for k in self.kernels if k.division is not None}
        if not divided:
            return
        plain = sum(division.plain_seconds for division in divided.values())
        inside = sum(division.divided_seconds for division in divided.values())
        alone = " by one thread" if self.threads > 1 else ""
        several = len(divided) > 1
        yield (
            f"{len(divided)} kernel{'s' if several else ''} of several statements: "
            f"{seconds_text(plain)}{alone}, and {seconds_text(inside)} in the build that times "
            f"{'these' if several else 'them'} one by one"
        )
        for name, division in divided.items():
            if division.uncertain:
                yield (
                    f"uncertain ({UNCERTAIN}): how {name} is divided, "
                    f"{seconds_text(division.plain_seconds)} and "
                    f"{seconds_text(division.divided_seconds)}"
                )

    def __repr__(self) -> str:
        kinds = ["scope", *(["kernel"] if self.kernels else []), "statement"]
        return "\n\n".join([self._head, *(text(self.by(kind), kind, FEW) for kind in kinds)])

    def _repr_html_(self) -> str:
        first, second = self.by("scope"), self.by("statement")
        return html(first, "scope", self._head) + html(second, "statement", "")


def profile(
    program: Program | Variant,
    backend: str | None = None,
    sizes: Mapping[str, int] | None = None,
    *,
    seed: int = 0,
    dtype: str = "float32",
    threads: int | None = 1,
    force: bool = False,
    progress: bool | RoundsListener = True,
    data: Data = None,
) -> Profile:
    """Run a variant, or a program under the automatic recipe, and tell what its time is spent on.

    `backend` is that of `wb.run`. The variant is run untimed and timed in turn, and of each the
    shortest counts; that takes some seconds. On native, kernels of any number of `threads` are
    timed as they are launched, by the clock; what is inside of them is divided as one thread takes
    it. A profile that would take more than a minute is refused without `force=True`. The other
    arguments are those of `wb.run` and `wb.measure`.
    """
    *_, finished = profiling(
        program,
        backend,
        sizes,
        seed=seed,
        dtype=dtype,
        threads=threads,
        force=force,
        progress=progress,
        data=data,
    )
    return finished.profile()


@dataclass(frozen=True)
class FinishedRounds:
    """The finished rounds of a profile, of so many that are planned."""

    done: int
    planned: int
    _profile: Callable[[Timing, int, int], Profile] = field(repr=False)
    _timing: Finished = field(repr=False)

    def profile(self) -> Profile:
        """Return the profile that they make."""
        return self._profile(self._timing(), self.done, self.planned)


def profiling(
    program: Program | Variant,
    backend: str | None = None,
    sizes: Mapping[str, int] | None = None,
    *,
    seed: int = 0,
    dtype: str = "float32",
    threads: int | None = 1,
    force: bool = False,
    progress: bool | RoundsListener = True,
    data: Data = None,
) -> Iterator[FinishedRounds]:
    """Profile as `profile` does, and yield the finished rounds after each."""
    checked_seed(seed)
    if dtype not in DTYPES:
        raise WorkbenchError(f'dtype {dtype!r}; expected "float32" or "float64"')
    name = or_default(backend)
    chosen = variant(program, data)
    sizes = chosen.rows.sizes(sizes)
    known = resolve(chosen.program.equations, sizes)
    runner = get(name)
    used = runner.threads(threads)
    runner.prepare_ahead()
    if not isinstance(program, Variant):
        chosen = optimize(
            chosen,
            sizes=sizes,
            backend=name,
            dtype=dtype,
            threads=used,
            progress=progress is True,
        )
    given = chosen.rows.tables(known, dtype)
    request = RunRequest(settable(chosen.program.equations, known), seed, dtype, used, given)
    expectation = Expectation(chosen.program, name, dtype, used)
    highest: Peaks | None = None
    expected: Mapping[str, float] = {}

    def made(timing: Timing, done: int, planned: int) -> Profile:
        return Profile(
            variant=chosen,
            backend=name,
            device=runner.device(),
            threads=used,
            sizes=known,
            seed=seed,
            dtype=dtype,
            parts=timing.parts,
            untimed_seconds=timing.untimed.seconds,
            kernels=timing.kernels,
            peaks=highest,
            log=timing.log,
            names=timing.names,
            places=timing.places,
            predicted=expected,
            date=now(),
            rounds=done,
            planned=planned,
        )

    with reporting(progress, title(chosen.program.name, backend, used)) as report:
        planned, timings = _timing(expectation, request, chosen.lengths, force, report)
        for done, timing in enumerate(timings, 1):
            if done == 1:  # before the others, so that nothing is left to do behind them
                found = lengths_in(chosen.program, timing().untimed.outputs, known)
                chosen.ran(found)
                expected = predicted_parts(expectation, request.sizes, found)
                report("measuring peaks", 0, 1)
                highest = _peaks(timing(), name, dtype, used)
            yield FinishedRounds(done, planned, made, timing)


def _peaks(timing: Timing, backend: str, dtype: str, threads: int) -> Peaks | None:
    """Measure what this machine does at most, with memory as near as what was launched touches."""
    if backend == "cuda":
        return None
    touched = touched_at_once(timing.parts, launches_of(timing.kernels)).values()
    return peaks(touched, dtype, threads)


def _timing(
    expectation: Expectation,
    request: RunRequest,
    lengths: Mapping[str, Any],
    force: bool,
    report: RoundsListener,
) -> tuple[int, Iterator[Finished]]:
    """Compile, refuse what would take too long, and return how many rounds of the rest are timed,
    and these.
    """
    report("compiling", 0, 1)
    program = expectation.program
    ready, _, _ = compiled(get(expectation.backend), program, request.dtype)
    if not force:
        expect_iterations(expectation, request.sizes, lengths)
    report("trying", 0, 1)
    planned = rounds(tried(ready, program, request, force))
    if isinstance(ready, CompiledProgram):
        return planned, native_timing(ready, request, planned, report)
    if isinstance(ready, CudaProgram):
        return planned, cuda_timing(ready, request, planned, report)
    assert isinstance(ready, CompiledArrays), ready
    return planned, array_timing(ready, request, planned, report)
