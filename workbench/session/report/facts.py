"""The facts of a report: two variants, what was measured or predicted of each, and the steps
between them, each with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from workbench.backends import or_default
from workbench.errors import TooComplexError, WorkbenchError
from workbench.measure.rounds.confidence import ConfidenceInterval, ratio_interval
from workbench.polyhedral.outline import outline
from workbench.session.parts.cost import fitting_lengths
from workbench.session.parts.moves import transform_view
from workbench.session.picture.snapshot import Snapshot, snapshot
from workbench.session.protocol.state import MeasurementView
from workbench.variants.variant import Variant

FEW = 2
"""The most steps of which a variant without a name is called."""


@dataclass(frozen=True)
class Setting:
    """The setting of a run: sizes, backend, dtype, and the lengths of episodes that end, by dim;
    None for those that a variant's last run found.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    backend: str | None = None
    dtype: str = "float32"
    lengths: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Forecast:
    """A prediction of a variant. `note` says why its seconds are of no measured machine, `assumed`
    what else is assumed.
    """

    seconds: float
    peak_bytes: Mapping[str, int]
    note: str
    assumed: str = ""


@dataclass(frozen=True)
class Side:
    """A variant of the report. `unpredicted` says why there is no forecast."""

    name: str
    variant: Variant
    picture: Snapshot
    order: str
    measured: MeasurementView | None
    forecast: Forecast | None
    unpredicted: str


@dataclass(frozen=True)
class Taken:
    """A step with what its kind does, the reason for taking it or why it is legal, and its
    notes.
    """

    text: str
    kind: str
    summary: str
    reason: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """All that a report tells. `left` are the steps of `before` that `after` does not have. `ratio`
    is the time after over that before, with interval, where both were measured in turn.
    """

    before: Side
    after: Side
    setting: Setting
    steps: tuple[Taken, ...]
    left: tuple[str, ...]
    ratio: float | None
    interval: ConfidenceInterval
    notes: str


def facts(
    before: Variant,
    after: Variant,
    measurements: Sequence[MeasurementView],
    names: Mapping[str, str],
    notes: str,
    asked: Setting,
) -> Facts:
    """Gather the facts. What was measured last of both in turn counts, else what was measured last
    of `after`; where nothing was, predictions are of the run that was `asked` for. `names` are the
    user's, by key. Raises WorkbenchError for two programs, and
    for a variant beside itself.
    """
    if before.key == after.key:
        raise WorkbenchError(
            f"a report tells how a variant differs from another, and both are {name_of(after)}; "
            "take a step, or name another one as `before`"
        )
    if before.root.key != after.root.key:
        raise WorkbenchError(
            f"a report is about two variants of one program; these start from "
            f"{before.root.program.name} and {after.root.program.name}, or from two traces of it"
        )
    first, second = _measured(before.key, after.key, measurements)
    setting = _setting(second or first, asked)
    sides = tuple(
        _side(variant, names.get(variant.key, ""), measured, setting)
        for variant, measured in ((before, first), (after, second))
    )
    ratio, interval = _ratio(first, second)
    shared = _shared(before, after)
    return Facts(
        sides[0],
        sides[1],
        setting,
        tuple(_taken(one) for one in after.lineage[shared:]),
        tuple(str(one.step) for one in before.lineage[shared:]),
        ratio,
        interval,
        notes.strip(),
    )


def name_of(variant: Variant) -> str:
    """Return a name for a variant to which the user gave none."""
    count = len(variant.steps)
    if count <= FEW:
        return ", ".join(map(str, variant.steps)) or "as written"
    chosen = all(one.because for one in variant.lineage[1:])
    return f"automatic, {count} steps" if chosen else f"{count} steps"


def _shared(before: Variant, after: Variant) -> int:
    """Count the variants on the way to both, from the root."""
    pairs = zip(before.lineage, after.lineage, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].key == pair[1].key, pairs))


def _taken(variant: Variant) -> Taken:
    step, parent = variant.step, variant.parent
    assert step is not None
    assert parent is not None
    reason = variant.because
    if not reason:
        try:
            reason = parent.why(step).sentence
        except TooComplexError as error:
            reason = error.message
    view = transform_view(type(step))
    return Taken(str(step), view.name, view.summary, reason, variant.notes)


def _side(variant: Variant, name: str, measured: MeasurementView | None, setting: Setting) -> Side:
    forecast, unpredicted = None, ""
    if measured is not None and measured.predicted_seconds is not None:
        peak = measured.predicted_peak_bytes
        forecast = Forecast(measured.predicted_seconds, peak, measured.prediction_note)
    else:
        try:
            lengths = setting.lengths
            if lengths is not None:
                lengths = fitting_lengths(lengths, variant, setting.sizes)
            found = variant.predict(setting.sizes, setting.backend, setting.dtype, lengths=lengths)
            forecast = Forecast(found.seconds, found.peak_bytes, found.note, found.assumed)
        except WorkbenchError as error:
            unpredicted = error.message
    return Side(
        name or name_of(variant),
        variant,
        snapshot(variant.program),
        outline(variant.program.schedule),
        measured,
        forecast,
        unpredicted,
    )


def _setting(measured: MeasurementView | None, asked: Setting) -> Setting:
    if measured is None:
        return replace(asked, backend=or_default(asked.backend))
    return Setting(measured.sizes, measured.backend, measured.dtype)


def _measured(
    before: str, after: str, measurements: Sequence[MeasurementView]
) -> tuple[MeasurementView | None, MeasurementView | None]:
    """Return what was measured of the two: in turn if there is such, last if not, and then of
    `before` only what was run alike.
    """
    newest = list(reversed(measurements))
    own = [one for one in newest if one.variant == after]
    others = [one for one in newest if one.variant == before]
    in_turn = [(a, b) for b in own for a in others if a.group == b.group]
    in_turn.sort(key=lambda pair: not (pair[0].samples and pair[1].samples))  # with times first
    if in_turn:
        return in_turn[0]
    second = next(iter(own), None)
    alike = (one for one in others if second is None or _alike(one, second))
    return next(alike, None), second


def _alike(one: MeasurementView, other: MeasurementView) -> bool:
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("backend", "threads", "device", "dtype", "sizes", "seed")
    )


def _ratio(
    first: MeasurementView | None, second: MeasurementView | None
) -> tuple[float | None, ConfidenceInterval]:
    if first is None or second is None or first.group != second.group:
        return None, (0.0, 0.0)
    if not second.samples or len(first.samples) != len(second.samples):
        return None, (0.0, 0.0)
    assert first.median is not None
    assert second.median is not None
    return second.median / first.median, ratio_interval(second.samples, first.samples)
