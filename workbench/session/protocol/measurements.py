"""Measurements as records that views read: each beside the first of its comparison."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from workbench.measure.compare import Row, comparison
from workbench.measure.rounds.measurement import Measurement
from workbench.measure.runs.curves import Curve
from workbench.session.protocol.state import CurveView, DifferenceView, MeasurementView
from workbench.variants.variant import Variant, key_of


def measurement_views(measurements: Sequence[Measurement]) -> tuple[MeasurementView, ...]:
    """Return the measurements in order, those of one comparison against the first of them.

    Recorded measurements stand with new ones: `Measurement.comparison` tells which were run in
    turn, wherever they are kept.
    """
    views: list[MeasurementView] = []
    for _, together in groupby(enumerate(measurements), key=_group):
        own = {str(position): base_row for position, base_row in together}
        rows = comparison(own)
        views += [
            _view(row, _last_steps(row.measurement, rows.measurements), name)
            for row, name in zip(rows, _names(rows.measurements), strict=True)
        ]
    return tuple(views)


def _last_steps(found: Measurement, measured: Sequence[Measurement]) -> DifferenceView | None:
    """Compare a measurement with that of the longest measured recipe that its own continues."""
    before = [
        other
        for other in measured
        if len(other.steps) < len(found.steps) and found.steps[: len(other.steps)] == other.steps
    ]
    if not before:
        return None
    base = max(before, key=lambda other: len(other.steps))
    _, row = comparison({"before": base, "after": found})
    if math.isnan(row.ratio):
        return None
    low, high = map(_finite, row.ratio_interval)
    return DifferenceView(base.key, row.ratio, low, high, row.difference)


def together(
    first: tuple[MeasurementView, ...], second: tuple[MeasurementView, ...]
) -> tuple[MeasurementView, ...]:
    """Merge the measurements of two sources, each once: as measured rather than as recorded."""
    known = {one.id: one for one in first}
    for one in second:
        if one.id not in known or not one.recorded:
            known[one.id] = one
    return tuple(known.values())


def belonging(root: Variant, recorded: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """Return the measurements of any variant of this program, in the tree or not."""
    program = root.program
    named_so = (m for m in recorded if m.program == program.name)
    return tuple(m for m in named_so if key_of(program.canonical, m.steps) == m.key)


def _group(numbered: tuple[int, Measurement]) -> str:
    """Return the comparison of a measurement; one made alone is a group of its own."""
    position, row = numbered
    return row.comparison or str(position)


def _view(row: Row, last_steps: DifferenceView | None, name: str) -> MeasurementView:
    measurement = row.measurement
    low, high = measurement.interval
    predicted, work = measurement.predicted, measurement.compiler
    return MeasurementView(
        id=name,
        group=measurement.comparison or name,
        variant=measurement.key,
        label=measurement.label,
        backend=measurement.backend,
        threads=measurement.threads,
        device=measurement.device,
        dtype=measurement.dtype,
        sizes=dict(measurement.sizes),
        seed=measurement.seed,
        date=measurement.date,
        recorded=measurement.recorded,
        outcome=measurement.check.verdict,
        checked=measurement.status,
        check=str(measurement.check).splitlines()[0],
        check_report=str(measurement.check),
        samples=measurement.samples,
        planned=measurement.planned,
        median=_finite(measurement.median),
        low=_finite(low),
        high=_finite(high),
        ratio=_finite(row.ratio),
        ratio_low=_finite(row.ratio_interval[0]),
        ratio_high=_finite(row.ratio_interval[1]),
        difference=row.difference,
        last_steps=last_steps,
        compile_seconds=_finite(measurement.compile_seconds),
        compiler_seconds=None if work is None else work.seconds,
        peak_bytes=dict(measurement.peak_bytes),
        process_peak_bytes=measurement.process_peak_bytes,
        predicted_seconds=None if predicted is None else predicted.seconds,
        predicted_peak_bytes={} if predicted is None else dict(predicted.peak_bytes),
        prediction_note="" if predicted is None else predicted.note,
        too_slow=measurement.too_slow,
        pace=measurement.pace,
        stopped=measurement.stopped,
        curves=curve_views(measurement.curves),
    )


def _names(measured: Sequence[Measurement]) -> Iterator[str]:
    """Yield the names of measurements of one comparison. Each keeps its own while its rounds are
    run, and when it is read again from the file that it was appended to.
    """
    seen: Counter[str] = Counter()
    for measurement in measured:
        content = [measurement.comparison, measurement.key, seen[measurement.key]]
        seen[measurement.key] += 1
        if not measurement.comparison:
            content += [
                measurement.backend,
                measurement.device,
                measurement.dtype,
                measurement.seed,
                measurement.date,
            ]
            content += [dict(measurement.sizes), list(measurement.samples)]
        yield hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def curve_views(curves: Iterable[Curve]) -> tuple[CurveView, ...]:
    """Describe learning curves."""
    return tuple(CurveView(c.name, c.dim, c.every, tuple(map(_finite, c.values))) for c in curves)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
