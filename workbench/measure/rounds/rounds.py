"""Variants compiled, checked, and run round by round: A B A B …"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.backends import get
from workbench.backends.philox import checked_seed
from workbench.backends.protocol import Compiled, CompilerWork, Execution
from workbench.errors import RunError, WorkbenchError
from workbench.lowering.loops.bytes import Point
from workbench.measure.checking.check import check, ran
from workbench.measure.checking.report import Check
from workbench.measure.rounds import process
from workbench.measure.rounds.affordable import affordable
from workbench.measure.rounds.expected import Expectation, Trial, too_slow, trial
from workbench.measure.rounds.measurement import Measurement, Predicted
from workbench.measure.runs.compiling import compiled
from workbench.measure.runs.curves import Curve, kept
from workbench.measure.runs.lengths import lengths_in
from workbench.planning.cost.lengths import expect_lengths
from workbench.polyhedral.expression import whole
from workbench.program.sizes import resolve
from workbench.variants.progress_line import stream
from workbench.variants.variant import Variant, on_first_rows

DTYPES = ("float32", "float64")
FEWEST, MOST = 5, 30
"""The least and the most rounds where their number is not given."""
ENOUGH = 2.0
"""The seconds of a variant's runs after which no more rounds are needed."""

RoundsListener = Callable[[str, int, int], None]
"""A function called with the stage, how much of it is done, and how much there is."""


def now() -> str:
    """Return the date and time, ISO 8601 in UTC."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0).isoformat()


@dataclass(frozen=True)
class MeasureRequest:
    """A request to measure, from the arguments of `wb.measure` and `wb.compare`."""

    backend: str
    sizes: Mapping[str, int] | None = None
    seed: int = 0
    dtype: str = "float32"
    repeats: int | None = None
    warmup: int = 1
    force: bool = False
    comparison: str = ""
    """A name for the variants measured in turn."""
    date: str = field(default_factory=now)
    """The time of the request, in UTC."""
    threads: int | None = None
    """None for the backend's usual number."""
    lengths: Mapping[str, Any] | None = None
    """Those of episodes that end, for predictions; None for those that a variant's last run
    found.
    """

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise WorkbenchError(f'dtype {self.dtype!r}; expected "float32" or "float64"')
        checked_seed(self.seed)
        for name, least in (("repeats", 1), ("warmup", 0)):
            value = getattr(self, name)
            if name == "repeats" and value is None:
                continue
            number = whole(value)
            if number is None or number < least:
                raise WorkbenchError(f"{name} {value!r}; expected an integer from {least} on")

    @property
    def least_runs(self) -> int:
        """The least number of runs of each variant."""
        return self.warmup + (FEWEST if self.repeats is None else self.repeats)

    def rounds(self, seconds: float) -> int:
        """Return the number of rounds, where one takes so many seconds."""
        if self.repeats is not None:
            return self.repeats
        return min(MOST, max(FEWEST, math.ceil(ENOUGH / max(seconds, 1e-9))))


@dataclass(eq=False)
class Candidate:
    """A variant ready to run, and the samples of its runs so far."""

    variant: Variant
    request: MeasureRequest
    compiled: Compiled
    threads: int
    compile_seconds: float
    compiler: CompilerWork | None
    check: Check
    expectation: Expectation
    predicted: Predicted | None = None
    tried: Trial | None = None
    too_slow: str = ""
    affordable: Mapping[str, int] | None = None
    stopped: str = ""
    """The reason why a run at the requested sizes could not be finished."""
    planned: int = 0
    """The number of samples to take."""
    samples: list[float] = field(default_factory=list)
    peak: dict[str, int] = field(default_factory=dict)
    process_peak: int | None = None
    last: Execution | None = None
    _learned: bool = False

    @property
    def timed(self) -> bool:
        """Tell whether it is to be run: neither wrong nor too slow, and no run stopped."""
        return self.check.verdict != "failed" and not self.too_slow and not self.stopped

    @property
    def sizes(self) -> dict[str, int]:
        """All sizes of its runs."""
        return resolve(self.variant.program.equations, self._given_sizes)

    @property
    def _given_sizes(self) -> Mapping[str, int] | None:
        return self.variant.rows.sizes(self.request.sizes)

    @cached_property
    def timeline(self) -> tuple[Point, ...]:
        """The memory of a run over the schedule, the same for every run: computed when one is
        done.
        """
        return () if self.last is None else tuple(self.last.timeline)

    def run(self) -> Execution | None:
        """Run once at the requested sizes, outside the samples. None where the run stops, as where
        the memory is not enough: the other variants go on.
        """
        known = self.sizes
        process.forget_peak()
        try:
            program, seed, dtype = self.variant.program, self.request.seed, self.request.dtype
            rows, threads = self.variant.rows, self.threads
            self.last = ran(self.compiled, program, known, seed, dtype, rows, threads)
        except RunError as error:
            self.stopped = f"it stops: {error.message}"
            return None
        self._learn_lengths(self.last, known)
        used = process.peak_bytes()
        if used is not None:
            self.process_peak = max(used, self.process_peak or 0)
        for space, n in self.last.peak.items():
            self.peak[space] = max(n, self.peak.get(space, 0))
        return self.last

    def _learn_lengths(self, done: Execution, sizes: Mapping[str, int]) -> None:
        """Predict the runs with the lengths of the episodes that one had: all are alike."""
        lengths = lengths_in(self.variant.program, done.outputs, sizes)
        if lengths and not self._learned:
            self._learned = True
            self.variant.ran(lengths)
            self.predicted = self.expectation.at(self._given_sizes, lengths)

    def sample(self) -> None:
        """Run once, and keep the time."""
        done = self.run()
        if done is not None:
            self.samples.append(done.seconds)

    def curves(self) -> tuple[Curve, ...]:
        """Return the outputs of the last run as curves."""
        if self.last is None:
            return ()
        program = self.variant.program
        dims = {o.name: program.array[o.array].dims for o in program.outputs}
        return kept({name: np.asarray(output) for name, output in self.last.outputs.items()}, dims)

    def measurement(self, rounds: int | None = None) -> Measurement:
        """Return the measurement of the first `rounds` rounds, or of all."""
        request, timed = self.request, self.timed
        return Measurement(
            program=self.variant.program.name,
            key=self.variant.key,
            steps=tuple(self.variant.to_json()),
            backend=request.backend,
            device=get(request.backend).device(),
            threads=self.threads,
            dtype=request.dtype,
            sizes=self.sizes,
            data=self.variant.rows.identity(self.sizes),
            seed=request.seed,
            check=self.check,
            samples=tuple(self.samples[:rounds]) if timed else (),
            planned=self.planned if timed else 0,
            compile_seconds=self.compile_seconds,
            compiler=self.compiler,
            peak_bytes=self.peak if timed else {},
            process_peak_bytes=self.process_peak if timed else None,
            timeline=self.timeline if timed else (),
            predicted=self.predicted,
            too_slow=self.too_slow,
            pace=None if self.tried is None else self.tried.pace,
            affordable=self.affordable,
            stopped=self.stopped,
            curves=self.curves() if timed else (),
            comparison=request.comparison,
            versions=process.versions(),
            date=request.date,
        )


def prepare(variant: Variant, request: MeasureRequest) -> Candidate:
    """Compile and check a variant."""
    sizes = variant.rows.sizes(request.sizes)
    known = resolve(variant.program.equations, sizes)
    variant.rows.tables(known, request.dtype)
    runner, dtype = get(request.backend), request.dtype
    threads = runner.threads(request.threads)
    ready, seconds, work = compiled(runner, variant.program, dtype)
    checked = check(variant, request.backend, dtype, ready, threads)
    expectation = Expectation(variant.program, request.backend, dtype, threads)
    lengths = variant.lengths if request.lengths is None else request.lengths
    expect_lengths(lengths, variant.program.equations, known)
    said = expectation.at(sizes, lengths)
    candidate = Candidate(
        variant, request, ready, threads, seconds, work, checked, expectation, said
    )
    if checked.verdict != "failed" and not request.force:
        candidate.tried = tried = trial(expectation, ready, checked, on_first_rows(variant).rows)
        candidate.too_slow = too_slow(said, tried, request.least_runs)
        if candidate.too_slow and tried is not None:
            candidate.affordable = affordable(
                expectation, variant.root.program, sizes, request.least_runs, tried.pace, lengths
            )
    return candidate


def alternate(
    candidates: Sequence[Candidate], request: MeasureRequest, report: RoundsListener
) -> Iterator[int]:
    """Warm up, then sample each candidate once a round; yield the number of rounds after each."""
    for turn in range(request.warmup):
        report("warming up", turn, request.warmup)
        for candidate in _timed(candidates):
            candidate.run()
    taken = [c.last.seconds for c in _timed(candidates) if c.last is not None]
    rounds = request.rounds(sum(taken) / max(1, len(taken))) if _timed(candidates) else 0
    for candidate in candidates:
        candidate.planned = rounds
    for turn in range(rounds):
        report("measuring", turn, rounds)
        for candidate in _timed(candidates):
            candidate.sample()
        yield turn + 1
    report("measured", rounds, rounds)


def _timed(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [candidate for candidate in candidates if candidate.timed]


def failed(candidate: Candidate, reason: str) -> None:
    """Mark a candidate as wrong at the measured sizes."""
    candidate.check = replace(candidate.check, verdict="failed", reason=reason)


@contextmanager
def reporting(progress: bool | RoundsListener, title: str) -> Iterator[RoundsListener]:
    """Give the receiver of progress: a line that is rewritten, a function of the caller's, or
    nothing.
    """
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield lambda stage, done, total: None
        return
    from tqdm import tqdm

    drawn = tqdm(desc=title, file=stream(), leave=False)

    def report(stage: str, done: int, total: int) -> None:
        drawn.total = total
        drawn.n = done
        drawn.set_description(f"{title}: {stage}")

    try:
        yield report
    finally:
        drawn.close()
