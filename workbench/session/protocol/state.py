"""The state of a workbench: small, sent whole with every revision. No Jupyter and no isl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.session.parts.step import StepView
from workbench.session.picture.snapshot import LineView

Outcome = Literal["passed", "failed", "impossible", "not run"]


@dataclass(frozen=True)
class SizeView:
    """A size that can be set: `default` is the program's."""

    name: str
    default: int
    derived: str | None
    """The expression that defines it where it is derived; such a size cannot be set."""


@dataclass(frozen=True)
class VariantView:
    """A variant in the tree. `key` names it everywhere; `number` tells when it came, and stays when
    another is removed; `name` is the user's, else the last step's text; `why` is why the automatic
    recipe took the step. `recipe` is Python that rebuilds it.
    """

    key: str
    number: int
    parent: str | None
    name: str
    named: bool
    step: StepView | None
    notes: tuple[str, ...]
    why: str
    recipe: str


@dataclass(frozen=True)
class CurveView:
    """An output over its first remaining dimension (`episode_return` over updates); each value is
    the mean of `every` consecutive ones, null where none of them is a number.
    """

    name: str
    dim: str
    every: int
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class DifferenceView:
    """A median over another's that was measured in turn with it, with interval; `since` is the
    other's variant. `text` says it in words: "no measurable difference" is an answer.
    """

    since: str
    ratio: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class MeasurementView:
    """A measured variant: times in seconds, memory in bytes by space. A row of `wb.compare` beside
    what the charts need. `variant` is its key, `label` its steps as text. `ratio` is to the first
    of its comparison. `recorded` is the file it was read from, "" where it was measured here.
    `group` tells the comparison it was part of, so that only what was interleaved is compared.
    """

    id: str
    group: str
    variant: str
    label: str
    backend: str
    device: str
    dtype: str
    sizes: Mapping[str, int]
    seed: int
    date: str
    recorded: str
    outcome: Outcome
    checked: str
    """The check as in the rows of `wb.compare`."""
    check: str
    """The check in a sentence."""
    check_report: str
    """All that is known of the check, over several lines."""
    samples: tuple[float, ...]
    planned: int
    """Samples that were to be taken: there are fewer while it is measured, or where that ended."""
    median: float | None
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    difference: str
    last_steps: DifferenceView | None
    """Against the nearest variant on the way to this one that its comparison holds."""
    compile_seconds: float | None
    peak_bytes: Mapping[str, int]
    process_peak_bytes: int | None
    predicted_seconds: float | None
    predicted_peak_bytes: Mapping[str, int]
    prediction_note: str
    too_slow: str
    pace: float | None
    """Seconds of a trial run at small sizes over those predicted of it, where there was one."""
    stopped: str
    """Why there are no times, where a run stops: out of memory, an index outside its range."""
    curves: tuple[CurveView, ...]


@dataclass(frozen=True)
class BackendView:
    """A backend; `reason` says why it is not available, "" where it is."""

    name: str
    reason: str


@dataclass(frozen=True)
class WaitingView:
    """An instance that waits for another one: `x[t=0]`, with the line of its equation."""

    text: str
    line: LineView | None


@dataclass(frozen=True)
class CycleView:
    """Instances of which each needs the next, and the last the first, at the least sizes that have
    them.
    """

    instances: tuple[WaitingView, ...]
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class ErrorView:
    """What went wrong: a sentence, and the user's line where one is known. `trace` is the rest of
    what Python said, for errors that are not the workbench's own. `cycle` is there where instances
    wait for each other; `argument` where an argument of a step is the reason.
    """

    sentence: str
    line: LineView | None
    trace: str
    cycle: CycleView | None
    argument: str | None


@dataclass(frozen=True)
class UntracedView:
    """A program that could not be traced. `place` is the file or the cell that it is written in, of
    one that the workbench brings the cell that called it; "" where that is not known.
    """

    program: str
    place: str
    error: ErrorView


@dataclass(frozen=True)
class ProgressView:
    """A measurement under way; `group` is the comparison that it will be, "" before a round of it
    is finished.
    """

    stage: str
    done: int
    total: int
    variants: tuple[str, ...]
    group: str


@dataclass(frozen=True)
class ArgumentView:
    """An argument of the watched template; `kind` says which control suits it."""

    name: str
    kind: Literal["size", "integer", "number", "boolean", "text", "other"]
    value: Any
    default: Any
    choices: tuple[Any, ...]
    """What it may be where it is annotated as `Literal`; none where it may be anything."""


@dataclass(frozen=True)
class State:
    """All that is known of a workbench beside its parts. `revision` grows; a view drops older ones.

    `error` is why the program as it is written now is not the one that is shown, `recipe_error` why
    steps no longer fit.
    """

    workbench: str
    revision: int
    name: str
    root: str
    current: str
    variants: tuple[VariantView, ...]
    sizes: tuple[SizeView, ...]
    measurements: tuple[MeasurementView, ...]
    backends: tuple[BackendView, ...]
    arguments: tuple[ArgumentView, ...]
    measuring: ProgressView | None
    error: UntracedView | None
    recipe_error: ErrorView | None
