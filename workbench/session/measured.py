"""Measurements as records that views read: each beside the first of its comparison."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from itertools import groupby

from workbench.measure.compare import Row, comparison
from workbench.measure.curves import Curve
from workbench.measure.measurement import Measurement
from workbench.session.state import CurveView, MeasurementView


def measurement_views(measurements: Sequence[Measurement]) -> tuple[MeasurementView, ...]:
    """The measurements in order, those made in one comparison against the first of them.

    What was read from a file stands with what was measured here: `Measurement.comparison` tells
    what was run in turn, wherever it is kept.
    """
    views: list[MeasurementView] = []
    for _, together in groupby(enumerate(measurements), key=_group):
        own = {str(position): found for position, found in together}
        views += [_view(row) for row in comparison(own)]
    return tuple(views)


def _group(numbered: tuple[int, Measurement]) -> str:
    """What was measured in no comparison is alone."""
    position, found = numbered
    return found.comparison or str(position)


def _view(row: Row) -> MeasurementView:
    found = row.measurement
    low, high = found.interval
    predicted = found.predicted
    name = _id(found)
    return MeasurementView(
        id=name,
        group=found.comparison or name,
        variant=found.key,
        label=found.label,
        backend=found.backend,
        device=found.device,
        dtype=found.dtype,
        sizes=dict(found.sizes),
        seed=found.seed,
        date=found.date,
        recorded=found.recorded,
        outcome=found.check.verdict,
        check=str(found.check).splitlines()[0],
        check_report=str(found.check),
        samples=found.samples,
        median=_finite(found.median),
        low=_finite(low),
        high=_finite(high),
        ratio=_finite(row.ratio),
        ratio_low=_finite(row.ratio_interval[0]),
        ratio_high=_finite(row.ratio_interval[1]),
        difference=row.difference,
        compile_seconds=_finite(found.compile_seconds),
        peak_bytes=dict(found.peak_bytes),
        process_peak_bytes=found.process_peak_bytes,
        predicted_seconds=None if predicted is None else predicted.seconds,
        predicted_peak_bytes={} if predicted is None else dict(predicted.peak_bytes),
        prediction_note="" if predicted is None else predicted.note,
        too_slow=found.too_slow,
        curves=tuple(_curve(curve) for curve in found.curves),
    )


def _id(found: Measurement) -> str:
    """The same for a measurement made here and read again from the file it was appended to."""
    content = [
        found.key,
        found.backend,
        found.device,
        found.dtype,
        found.seed,
        found.date,
        found.comparison,
        dict(found.sizes),
        list(found.samples),
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _curve(curve: Curve) -> CurveView:
    return CurveView(curve.name, curve.dim, curve.every, tuple(map(_finite, curve.values)))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
