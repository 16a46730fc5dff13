"""The numbers of a report in words: the headline, and rows of what was measured and predicted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.lowering.loops.records import DEVICE, HOST
from workbench.measure.compare import NO_DIFFERENCE
from workbench.measure.rounds.measurement import runs_text
from workbench.program.sizes import at_sizes, resolve
from workbench.program.text.units import (
    bytes_text,
    on_threads,
    ratio_text,
    ratios_text,
    seconds_text,
)
from workbench.session.protocol.state import MeasurementView
from workbench.session.report.facts import Facts, Side

FAR = 2.0
"""The factor up to which one side may miss its prediction for the other to be believed."""


@dataclass(frozen=True)
class Headline:
    """The result in a line, and what it rests on. `kind` is "failed" where the outputs are
    wrong.
    """

    text: str
    basis: str
    kind: str


@dataclass(frozen=True)
class Row:
    """A quantity of both: as text, what it was obtained by, as numbers for the bars (None where
    there is none), and the difference in words.
    """

    quantity: str
    by: str
    before: str
    after: str
    amounts: tuple[float | None, float | None]
    difference: str


def headline(facts: Facts) -> Headline:
    """Say what the steps brought: as measured in turn if it was, else as measured, else as
    predicted.
    """
    first, second = facts.before.measured, facts.after.measured
    if second is not None and second.outcome == "failed":
        return Headline("the result is not the same", second.check, "failed")
    if facts.ratio is not None and first is not None and second is not None:
        low, high = facts.interval
        seen = not low <= 1.0 <= high
        time = f"time {ratio_text(facts.ratio)}" if seen else f"{NO_DIFFERENCE} in time"
        memory = memory_text(first.peak_bytes, second.peak_bytes)
        basis = f"Measured in turn: {_between(low, high)}, with 95 % confidence."
        if math.isnan(low):
            basis = "Measured in turn, once: how else it might have come out is not known."
        return Headline(_joined(time, memory), basis if seen else "Measured in turn.", "measured")
    if first is not None and second is not None and first.median and second.median:
        time = f"time {ratio_text(second.median / first.median)}"
        memory = memory_text(first.peak_bytes, second.peak_bytes)
        basis = "Measured, but not in turn: what else the machine did meanwhile is in it."
        return Headline(_joined(time, memory), basis, "measured")
    return _predicted(facts)


def _predicted(facts: Facts) -> Headline:
    old, new = facts.before.forecast, facts.after.forecast
    if old is None or new is None:
        why = facts.after.unpredicted or facts.before.unpredicted
        return Headline("neither measured nor predicted", why, "predicted")
    time = f"time {ratio_text(new.seconds / old.seconds)}" if old.seconds else ""
    memory = memory_text(old.peak_bytes, new.peak_bytes)
    note = f" The seconds are rough: {new.note}." if new.note else ""
    basis = f"Predicted; not measured.{note}"
    for side in (facts.before, facts.after):
        taken = _median(side.measured)
        if taken is None or side.forecast is None or not side.forecast.seconds:
            continue
        basis = f"Predicted: the other one of both is not measured. {_told(side, taken)}{note}"
        if not 1 / FAR <= taken / side.forecast.seconds <= FAR:
            time = "time not known"
    return Headline(f"predicted: {_joined(time, memory)}", basis, "predicted")


def _told(side: Side, taken: float) -> str:
    """Say what a run took, and what it was predicted to take."""
    predicted = 0.0 if side.forecast is None else side.forecast.seconds
    return (
        f"{side.name} took {seconds_text(taken)} a run, "
        f"where {seconds_text(predicted)} were predicted."
    )


def memory_text(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Write the peaks against others: `memory ÷ 59`, and the host's where they differ: `host memory
    × 3`, `+1.2 MB on the host`; "" where there are none.
    """
    old, new = before.get(DEVICE, 0), after.get(DEVICE, 0)
    device = f"memory {ratio_text(new / old)}" if old and new else ""
    old, new = before.get(HOST, 0), after.get(HOST, 0)
    if bytes_text(old) == bytes_text(new):
        return device
    if not old or not new:
        return _joined(device, f"{'+' if new else '−'}{bytes_text(old or new)} on the host")
    return _joined(device, f"host memory {ratio_text(new / old)}")


def rows(facts: Facts) -> Iterator[Row]:
    """Yield the rows of the table, what was measured first."""
    first, second = facts.before.measured, facts.after.measured
    if first is not None or second is not None:
        amounts = _median(first), _median(second)
        yield Row("Time of a run", "measured", _time(first), _time(second), amounts, _ratio(facts))
    old, new = facts.before.forecast, facts.after.forecast
    if old is not None or new is not None:
        times = (None if old is None else old.seconds, None if new is None else new.seconds)
        both = None not in times and times[0]
        yield Row(
            "Time of a run",
            "predicted",
            _seconds(facts.before),
            _seconds(facts.after),
            times,
            ratio_text((times[1] or 0.0) / (times[0] or 1.0)) if both else "",
        )
    for by in ("measured", "predicted"):
        yield from _memory(facts, by)


def _memory(facts: Facts, by: str) -> Iterator[Row]:
    """Yield a row for each memory that either uses."""
    peaks = [
        side.measured.peak_bytes
        if by == "measured" and side.measured is not None
        else side.forecast.peak_bytes
        if by == "predicted" and side.forecast is not None
        else {}
        for side in (facts.before, facts.after)
    ]
    for space in dict.fromkeys(space for peak in peaks for space, count in peak.items() if count):
        old, new = (peak.get(space) for peak in peaks)
        yield Row(
            f"Peak memory, {space}",
            by,
            bytes_text(old),
            bytes_text(new),
            (old, new),
            ratio_text(new / old) if old and new else "",
        )


def where_text(facts: Facts) -> str:
    """Say on which machine and at which sizes all of it was, or would be, run."""
    found = facts.after.measured or facts.before.measured
    setting = facts.setting
    sizes = resolve(facts.after.variant.root.program.equations, _free(facts))
    at = f",{at_sizes(sizes)}" * bool(sizes)
    if found is None:
        told = (side.forecast.assumed for side in (facts.before, facts.after) if side.forecast)
        assumed = "".join(f"; {one}" for one in dict.fromkeys(told) if one)
        return f"Predicted for {setting.backend}, {setting.dtype}{at}{assumed}."
    counts = [len(m.samples) for m in (facts.before.measured, facts.after.measured) if m]
    recorded = f"; recorded, read from {found.recorded}" if found.recorded else ""
    return (
        f"Measured on {found.device}: {on_threads(found.backend, found.threads)}, "
        f"{found.dtype}{at}, seed {found.seed}, {runs_text(max(counts))} each, "
        f"{_day(found.date)}{recorded}."
    )


def _day(date: str) -> str:
    """Write the day and the minute of a date in ISO's form."""
    return date[:16].replace("T", " ") + (" UTC" if date.endswith("+00:00") else "")


def _free(facts: Facts) -> dict[str, int]:
    parameters = facts.after.variant.root.program.parameters
    free = {p.name for p in parameters if p.definition is None}
    return {name: size for name, size in facts.setting.sizes.items() if name in free}


def _between(low: float, high: float) -> str:
    """Write an interval of ratios that does not hold 1: `÷ 3.1–3.3`."""
    return f"{'÷' if high < 1 else '×'} {ratios_text(low, high)}"


def _joined(*texts: str) -> str:
    return ", ".join(text for text in texts if text)


def _median(measured: MeasurementView | None) -> float | None:
    return None if measured is None else measured.median


def _time(measured: MeasurementView | None) -> str:
    """Write the median and its interval, or the reason why there is none."""
    if measured is None:
        return "not measured"
    if measured.median is None:
        return measured.too_slow or measured.stopped or measured.checked
    low, high = measured.low, measured.high
    if low is None or high is None:
        return f"{seconds_text(measured.median)} (1 run)"
    return f"{seconds_text(measured.median)} ({seconds_text(low)} to {seconds_text(high)})"


def _seconds(side: Side) -> str:
    return side.unpredicted if side.forecast is None else f"≈ {seconds_text(side.forecast.seconds)}"


def _ratio(facts: Facts) -> str:
    if facts.ratio is None:
        first, second = _median(facts.before.measured), _median(facts.after.measured)
        return f"{ratio_text(second / first)}, not in turn" if first and second else ""
    low, high = facts.interval
    return NO_DIFFERENCE if low <= 1.0 <= high else ratio_text(facts.ratio)
