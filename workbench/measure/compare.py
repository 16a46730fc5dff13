"""`wb.compare`: variants of one program, run in turn, each checked, each against the first."""

from __future__ import annotations

import math
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, overload

from workbench.backends import get, or_default
from workbench.errors import RunError, WorkbenchError
from workbench.measure.calibration.first_measurement import learn_scale
from workbench.measure.checking.agreement import Deviation, deviations
from workbench.measure.checking.check import ran
from workbench.measure.rounds.affordable import smallest
from workbench.measure.rounds.confidence import ConfidenceInterval, ratio_interval
from workbench.measure.rounds.measurement import Measurement, in_python
from workbench.measure.rounds.rounds import (
    Candidate,
    MeasureRequest,
    RoundsListener,
    alternate,
    failed,
    prepare,
    reporting,
)
from workbench.measure.rounds.tables import html, table
from workbench.measure.runs.progress import title
from workbench.program.text.units import ratio_text
from workbench.program.values import Program
from workbench.variants.variant import Data, Variant, optimize, variant

NO_DIFFERENCE = "no measurable difference"

Variants = Sequence[Program | Variant] | Mapping[str, Program | Variant]


@dataclass(frozen=True)
class Row:
    """A variant in a comparison. `ratio` is its median over the first variant's, with interval; NaN
    where one of the two has no times.
    """

    name: str
    measurement: Measurement
    ratio: float
    ratio_interval: ConfidenceInterval
    is_first: bool = False

    @property
    def difference(self) -> str:
        """The change of its time: `× 1.8`, or that none can be seen; "" for the first."""
        if self.is_first or math.isnan(self.ratio):
            return ""
        low, high = self.ratio_interval
        if low <= 1.0 <= high:
            return NO_DIFFERENCE
        return ratio_text(self.ratio)


@dataclass(frozen=True, repr=False)
class Comparison(Sequence[Row]):
    """Variants beside each other, in the order given; the others are compared with the first.
    `named` are those that the caller gave a name.
    """

    rows: tuple[Row, ...]
    named: Mapping[str, Variant] = field(default_factory=dict, compare=False)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """The measurements, in order."""
        return tuple(row.measurement for row in self.rows)

    @property
    def affordable(self) -> Mapping[str, int] | None:
        """Sizes at which all of it would be measured; None where nothing is too slow, or something
        is at any size.
        """
        slow = [m.affordable for m in self.measurements if m.too_slow]
        return smallest(slow)

    def records(self) -> list[dict[str, Any]]:
        """Return a row each, of plain values: times in milliseconds, memory in bytes."""
        return [_record(row) for row in self.rows]

    @property
    def frame(self) -> Any:
        """Return the rows as a pandas table, indexed by the variants' names."""
        import pandas as pd

        return pd.DataFrame(self.records()).set_index("variant")

    def __repr__(self) -> str:
        return table(self.records(), self.measurements, self._advice)

    def _repr_html_(self) -> str:
        return html(self.records(), self.measurements, self._advice)

    @property
    def _advice(self) -> str:
        slow = any(m.too_slow for m in self.measurements)
        return in_python(self.affordable) if slow else ""


@dataclass(frozen=True)
class SoFar:
    """Variants after so many finished rounds, by name."""

    candidates: Mapping[str, Candidate]
    rounds: int

    def comparison(self) -> Comparison:
        """Return them beside each other. Callable from any thread: later measurements are left
        out.
        """
        measurements = {name: c.measurement(self.rounds) for name, c in self.candidates.items()}
        return comparison(measurements)


def compare(
    variants: Variants,
    backend: str | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    dtype: str = "float32",
    repeats: int | None = None,
    warmup: int = 1,
    force: bool = False,
    progress: bool | RoundsListener = True,
    threads: int | None = None,
    data: Data = None,
    lengths: Mapping[str, Any] | None = None,
) -> Comparison:
    """Measure variants of one program in turn, A B A B …, in this process.

    `variants` may be a mapping from names to variants, which the workbench shows too; else they are
    named by their steps. A
    program stands for itself under the automatic recipe, as in `wb.run`. Each is checked as
    `wb.measure` does, and at the measured sizes against the first that passed. A variant that is
    wrong has no times, nor has one that runs out of memory. One that would take too long says how
    long, unless `force=True`. Those that read other rows than the first have no
    ratio. The other arguments are those of `wb.measure`.
    """
    used, name = or_default(backend), uuid.uuid4().hex[:12]
    request = MeasureRequest(
        used, sizes, seed, dtype, repeats, warmup, force, name, threads=threads, lengths=lengths
    )
    (last,) = deque(comparing(variants, request, progress, backend, data), maxlen=1)
    given = variants if isinstance(variants, Mapping) else {}
    named = {name: one.variant for name, one in last.candidates.items() if name in given}
    return replace(last.comparison(), named=named)


def comparing(
    variants: Variants,
    request: MeasureRequest,
    progress: bool | RoundsListener,
    asked: str | None,
    data: Data = None,
) -> Iterator[SoFar]:
    """Measure as `compare` does; yield the variants when they are checked, and after every round.
    `asked` is the backend that the caller named.
    """
    used = get(request.backend).threads(request.threads)
    best = partial(
        optimize,
        sizes=request.sizes,
        backend=request.backend,
        dtype=request.dtype,
        threads=request.threads,
        lengths=request.lengths,
    )
    named = {key: variant(one, data) for key, one in _named(variants, best, data).items()}
    name = next(iter(named.values())).program.name
    line = title(name, asked, used)
    with reporting(progress, line) as report:
        candidates: dict[str, Candidate] = {}
        for name, one in named.items():
            report("compiling and checking", len(candidates), len(named))
            candidates[name] = prepare(one, request)
        report("comparing outputs", 0, 1)
        in_order = list(candidates.values())
        _agree(in_order)
        yield SoFar(candidates, 0)
        warmed = replace(request, warmup=max(0, request.warmup - 1))
        for rounds in alternate(in_order, warmed, report):
            yield SoFar(candidates, rounds)
    learn_scale(in_order)


def comparison(measurements: Mapping[str, Measurement]) -> Comparison:
    """Return measurements of one comparison beside each other, by name."""
    base, *_ = measurements.values()
    return Comparison(tuple(_row(name, m, base) for name, m in measurements.items()))


def _row(name: str, own: Measurement, base: Measurement) -> Row:
    alike = own.data == base.data and len(own.samples) == len(base.samples)
    if not own.samples or not alike:
        return Row(name, own, math.nan, (math.nan, math.nan), own is base)
    return Row(
        name,
        own,
        own.median / base.median,
        ratio_interval(own.samples, base.samples),
        own is base,
    )


def _named(
    variants: Variants, best: Callable[[Variant], Variant], data: Data
) -> dict[str, Variant]:
    """Return the variants by name, of a program its best; refuse variants of different programs."""
    if isinstance(variants, Program | Variant) or not isinstance(variants, Sequence | Mapping):
        raise WorkbenchError(f"expected a list of variants, found {type(variants).__name__}")
    given = variants if isinstance(variants, Mapping) else dict(enumerate(variants))
    if not given:
        raise WorkbenchError("there is nothing to compare: the list of variants is empty")
    named: dict[str, Variant] = {}
    for key, each in given.items():
        chosen = each if isinstance(each, Variant) else best(variant(each, data))
        label = key if isinstance(key, str) else _label(chosen)
        copies = sum(name == label or name.startswith(f"{label} (") for name in named)
        named[f"{label} ({copies + 1})" if copies else label] = chosen
    first, *others = named.values()
    for other in others:
        if other.root.key != first.root.key:
            raise WorkbenchError(_different(first.root.program, other.root.program))
    return named


def _label(chosen: Variant) -> str:
    return ", ".join(str(step) for step in chosen.steps) or "as written"


def _different(first: Program, other: Program) -> str:
    if first.name != other.name:
        what = f"the first is of {first.name}, another of {other.name}"
    else:
        what = f"these are of {first.name} with other arguments"
    return f"only variants of one program can be compared, but {what}; use wb.measure for each"


# -- at the measured sizes -------------------------------------------------------------------------


def _agree(candidates: Sequence[Candidate]) -> None:
    """Run each once, and compare its outputs with those of the first that passed its check.

    Where none passed, and none could since an external object answers as it likes, nothing is
    compared. A variant that stops leaves its place to the next.
    """
    running = sorted((c for c in candidates if c.timed), key=lambda c: not c.check.passed)
    expected: Mapping[str, Any] | None = None
    for other in running:
        done = other.run()
        if done is None:
            continue
        if expected is None:
            base, expected = other, done.outputs
            continue
        if base.variant.program.externals and not base.check.passed:
            continue
        wrong = _wrong(deviations(done.outputs, expected, base.request.dtype))
        if wrong is None:
            _note(other, f"agrees with {_label(base.variant)} at the measured sizes")
        elif base.request.dtype == "float32":
            _agree_in_float64(other, base, wrong)
        else:
            failed(other, f"at the measured sizes {wrong} by {_label(base.variant)}")


def _agree_in_float64(other: Candidate, base: Candidate, wrong: Deviation) -> None:
    """Compare in float64, with the same source, where float32 outputs differ: rounding may have
    decided a choice, and all after it.
    """
    label = _label(base.variant)
    try:
        outputs, expected = (_outputs_in_float64(candidate) for candidate in (other, base))
    except RunError as error:
        unknown = (
            f"at the measured sizes {wrong} by {label}; whether that is rounding a run in float64 "
            f"would tell, which stops: {error.message}"
        )
        other.check = replace(other.check, verdict="impossible", reason=unknown)
        return
    still = _wrong(deviations(outputs, expected, "float64"))
    if still is None:
        _note(
            other,
            f"agrees with {label} at the measured sizes in float64; in float32 rounding sets them "
            f"apart: {wrong}",
        )
    else:
        failed(other, f"at the measured sizes, in float64 too, {still} by {label}")


def _outputs_in_float64(candidate: Candidate) -> Mapping[str, Any]:
    variant, seed, threads = candidate.variant, candidate.request.seed, candidate.threads
    sizes, rows = candidate.sizes, variant.rows
    return ran(candidate.compiled, variant.program, sizes, seed, "float64", rows, threads).outputs


def _wrong(compared: Sequence[Deviation]) -> Deviation | None:
    return next((d for d in compared if not d.agrees), None)


def _note(candidate: Candidate, text: str) -> None:
    candidate.check = replace(candidate.check, measured=text)


# -- a row -----------------------------------------------------------------------------------------


def _record(row: Row) -> dict[str, Any]:
    median, (low, high), (least, most) = (
        row.measurement,
        row.measurement.interval,
        row.ratio_interval,
    )
    spaces = {"device", "host", *median.peak_bytes}
    predicted = median.predicted
    return {
        "variant": row.name,
        "median_ms": median.median * 1e3,
        "low_ms": low * 1e3,
        "high_ms": high * 1e3,
        "ratio": row.ratio,
        "ratio_low": least,
        "ratio_high": most,
        "difference": row.difference,
        **{f"peak_{space}_bytes": median.peak_bytes.get(space) for space in sorted(spaces)},
        "process_peak_bytes": median.process_peak_bytes,
        "predicted_ms": math.nan if predicted is None else predicted.seconds * 1e3,
        "predicted_peak_device_bytes": None
        if predicted is None
        else predicted.peak_bytes.get("device"),
        "compile_s": median.compile_seconds,
        "compiler_s": math.nan if median.compiler is None else median.compiler.seconds,
        "runs": len(median.samples),
        "planned_runs": median.planned,
        "checked": median.status,
        "not_measured": median.not_measured,
        "recorded": median.recorded,
    }
