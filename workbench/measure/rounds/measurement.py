"""A measurement: a variant's times and memory, with all that is needed to judge and to repeat
it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from workbench.backends.protocol import CompilerWork
from workbench.datasets.rows import DataIdentity
from workbench.errors import WorkbenchError
from workbench.lowering.loops.bytes import Point
from workbench.measure.checking.report import Check
from workbench.measure.checking.report import from_json as check_from_json
from workbench.measure.rounds import confidence as bootstrap
from workbench.measure.rounds.confidence import ConfidenceInterval
from workbench.measure.runs.compiling import compile_text
from workbench.measure.runs.curves import Curve
from workbench.program.sizes import numbers
from workbench.program.text.units import bytes_text, on_threads, seconds_text
from workbench.transforms.step.step_json import from_json as step_from_json

Json = dict[str, Any]


@dataclass(frozen=True)
class Predicted:
    """A prediction before the run: its seconds and its peak in bytes by memory space."""

    seconds: float
    peak_bytes: Mapping[str, int]
    note: str = ""
    """The reason why the seconds do not rest on constants measured on this machine."""


@dataclass(frozen=True)
class Measurement:
    """Times and memory of a variant on a device.

    `samples` are seconds of whole runs without compilation, in the order they were taken. There are
    none where the check failed, or where a run would take too long or stops, and fewer than
    `planned` where the measurement was ended early. `peak_bytes` is by memory space the backend's
    peak, `process_peak_bytes` that of the whole process. `timeline` is one iteration of every loop.
    `curves` are the outputs of the last run. `comparison` is shared by variants measured in turn,
    so that ratios can be told. `recorded` is the name of the file that it was read from, without
    its folder.
    """

    program: str
    key: str
    steps: tuple[Json, ...]
    backend: str
    device: str
    dtype: str
    sizes: Mapping[str, int]
    seed: int
    check: Check
    samples: tuple[float, ...] = ()
    threads: int = 1
    """The threads of a run; 1 where it was not recorded."""
    planned: int = 0
    """The number of samples planned; 0 where none was, or where it was not recorded."""
    compile_seconds: float = math.nan
    """Seconds from the variant to code that is ready to run, a compiler's included."""
    compiler: CompilerWork | None = None
    """The work of a compiler; None on backends that need none, and where it was not recorded."""
    peak_bytes: Mapping[str, int] = field(default_factory=dict)
    process_peak_bytes: int | None = None
    timeline: tuple[Point, ...] = field(default=(), repr=False)
    predicted: Predicted | None = None
    too_slow: str = ""
    """The reason why it was not measured, where a run would take too long."""
    pace: float | None = None
    """Seconds of a trial run at small sizes over those predicted of it, where there was one."""
    affordable: Mapping[str, int] | None = None
    """Sizes at which it would be measured, where it is too slow and there are any."""
    stopped: str = ""
    """The reason why there are no times, where a run stops: out of memory, an index outside its
    range."""
    curves: tuple[Curve, ...] = field(default=(), repr=False)
    comparison: str = ""
    data: tuple[DataIdentity, ...] = ()
    """The rows of data sets that its runs read: how many, and SHA-256 of them."""
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str = ""
    recorded: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """The steps as short text."""
        return ", ".join(step_text(step) for step in self.steps) or "as written"

    @property
    def measured(self) -> bool:
        """Tell whether there are times."""
        return bool(self.samples)

    @property
    def unfinished(self) -> str:
        """`3 of 5 rounds` where it was ended early, else ""."""
        taken = len(self.samples)
        return f"{taken} of {self.planned} rounds" if 0 < taken < self.planned else ""

    @property
    def not_measured(self) -> str:
        """The reason why there are no times although it is not known to be wrong; "" where there
        are.
        """
        return self.too_slow or self.stopped

    @cached_property
    def median(self) -> float:
        """The median seconds; NaN where there are no times."""
        return bootstrap.median(self.samples) if self.samples else math.nan

    @cached_property
    def interval(self) -> ConfidenceInterval:
        """The interval of the median, with 95 % confidence; NaN for a single run."""
        return bootstrap.interval(self.samples)

    @property
    def checked(self) -> bool | str:
        """True: agrees with the reference. False: does not. Else a sentence: why it could not be
        checked.
        """
        return self.check.reason if self.check.verdict == "impossible" else self.check.passed

    @property
    def status(self) -> str:
        """The check in a few words."""
        return {
            "passed": "yes",
            "failed": f"FAILED: {self.check.reason}",
            "impossible": f"no: {self.check.reason}",
        }[self.check.verdict]

    def to_json(self) -> Json:
        """Return everything but the file it was read from, as JSON."""
        return {
            "program": self.program,
            "key": self.key,
            "steps": list(self.steps),
            "backend": self.backend,
            "threads": self.threads,
            "device": self.device,
            "dtype": self.dtype,
            "sizes": dict(self.sizes),
            "seed": self.seed,
            "check": self.check.to_json(),
            "samples": list(self.samples),
            "planned": self.planned,
            "compile_seconds": None if math.isnan(self.compile_seconds) else self.compile_seconds,
            "compiler": None if self.compiler is None else asdict(self.compiler),
            "peak_bytes": dict(self.peak_bytes),
            "process_peak_bytes": self.process_peak_bytes,
            "timeline": _changes(self.timeline),
            "predicted": _plain(self.predicted),
            "too_slow": self.too_slow,
            "pace": self.pace,
            "affordable": None if self.affordable is None else dict(self.affordable),
            "stopped": self.stopped,
            "curves": [_curve(curve) for curve in self.curves],
            "comparison": self.comparison,
            "data": [asdict(one) for one in self.data],
            "versions": dict(self.versions),
            "date": self.date,
        }

    def __str__(self) -> str:
        where = on_threads(self.backend, self.threads)
        head = f"{self.program} on {where}: {numbers(self.sizes)}, seed {self.seed}"
        lines = [f"{head}, {self.dtype}; {self.label}", f"  {self.device}, {self.date}"]
        lines += [f"  data {one}" for one in self.data]
        if self.recorded:
            lines.append(f"  recorded: read from {self.recorded}")
        if self.measured:
            low, high = self.interval
            runs = self.unfinished or runs_text(len(self.samples))
            between = "" if math.isnan(low) else f"{seconds_text(low)} to {seconds_text(high)}, "
            lines.append(
                f"  {seconds_text(self.median)} ({between}{runs}), "
                f"{compile_text(self.compile_seconds, self.compiler)}"
            )
            peaks = ", ".join(f"{bytes_text(n)} on {k}" for k, n in self.peak_bytes.items() if n)
            lines.append(f"  peak {peaks}; process {bytes_text(self.process_peak_bytes)}")
        if self.predicted is not None:
            peaks = ", ".join(
                f"{bytes_text(n)} on {k}" for k, n in self.predicted.peak_bytes.items() if n
            )
            note = f" ({self.predicted.note})" if self.predicted.note else ""
            lines.append(f"  predicted: {seconds_text(self.predicted.seconds)}, {peaks}{note}")
        if self.not_measured:
            lines.append(f"  {self.not_measured}")
        if self.too_slow:
            lines.append(f"  {in_python(self.affordable)}")
        return "\n".join([*lines, *(f"  {line}" for line in str(self.check).splitlines())])

    __repr__ = __str__


def from_json(record: Mapping[str, Any], recorded: str = "") -> Measurement:
    """Read the measurement that `to_json` wrote. Raises WorkbenchError where the record is none."""
    try:
        predicted = record["predicted"]
        compiled = record["compile_seconds"]
        work = record.get("compiler")
        return Measurement(
            **{
                **record,
                "steps": tuple(record["steps"]),
                "check": check_from_json(record["check"]),
                "samples": tuple(float(s) for s in record["samples"]),
                "compile_seconds": math.nan if compiled is None else float(compiled),
                "compiler": None if work is None else CompilerWork(**work),
                "timeline": _points(record["timeline"]),
                "curves": tuple(_drawn(curve) for curve in record.get("curves", ())),
                "predicted": None if predicted is None else Predicted(**predicted),
                "data": tuple(DataIdentity(**one) for one in record.get("data", ())),
                "recorded": recorded,
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WorkbenchError(f"no measurement: {type(error).__name__} {error}") from None


def in_python(affordable: Mapping[str, int] | None) -> str:
    """Return the advice on what to write to measure a variant that is too slow."""
    sizes = "" if affordable is None else f"sizes={dict(affordable)} is soon measured; "
    return f"{sizes}force=True measures it all the same"


def step_text(step: Mapping[str, Any]) -> str:
    """Describe a step; one whose transform this version lacks stands as it was written down."""
    try:
        return str(step_from_json(step))
    except WorkbenchError:
        arguments = ", ".join(f"{k}={v!r}" for k, v in dict(step.get("arguments", {})).items())
        return f"{step.get('transform')}({arguments})"


def _plain(predicted: Predicted | None) -> Json | None:
    if predicted is None:
        return None
    return {
        "seconds": predicted.seconds,
        "peak_bytes": dict(predicted.peak_bytes),
        "note": predicted.note,
    }


def _curve(curve: Curve) -> Json:
    values = [value if math.isfinite(value) else None for value in curve.values]
    return {"name": curve.name, "dim": curve.dim, "every": curve.every, "values": values}


def _drawn(record: Json) -> Curve:
    values = tuple(math.nan if value is None else float(value) for value in record["values"])
    return Curve(**{**record, "values": values})


def _changes(timeline: tuple[Point, ...]) -> list[list[Any]]:
    """Return the points, each with the changes in the arrays that live, since all arrays at each
    point would be long.
    """
    rows: list[list[Any]] = []
    before: dict[str, int] = {}
    for point in timeline:
        live = dict(point.live)
        born = {name: n for name, n in live.items() if before.get(name) != n}
        gone = [name for name in before if name not in live]
        rows.append([point.position, list(point.loops), point.bytes, born, gone])
        before = live
    return rows


def _points(rows: list[list[Any]]) -> tuple[Point, ...]:
    points = []
    live: dict[str, int] = {}
    for position, loops, held, born, gone in rows:
        live = {name: n for name, n in live.items() if name not in gone} | born
        points.append(Point(position, tuple(loops), held, tuple(live.items())))
    return tuple(points)


def runs_text(count: int) -> str:
    """Write a number of runs: `1 run`, `5 runs`."""
    return f"{count} run" if count == 1 else f"{count} runs"
