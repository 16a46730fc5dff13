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
class EndView:
    """A dim along which episodes end, with at most `size` steps."""

    dim: str
    size: str


@dataclass(frozen=True)
class VariantView:
    """A variant in the tree. `key` names it everywhere. `number` counts variants as they came, and
    stays when another is removed. `name` is the user's, else the last step's text. `why` is the
    automatic recipe's reason for the step. `recipe` is Python that rebuilds the variant.
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
    """An output over its first remaining dimension (`episode_return` over updates). Each value is
    the mean of `every` consecutive ones, null where none of them is a number.
    """

    name: str
    dim: str
    every: int
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class DifferenceView:
    """A median over that of another variant measured in turn with it, with interval where both were
    run more than once; `since` is the other variant. `text` says it in words: "no measurable
    difference" is an answer.
    """

    since: str
    ratio: float
    low: float | None
    high: float | None
    text: str


@dataclass(frozen=True)
class MeasurementView:
    """A measured variant: times in seconds, memory in bytes by space. It is a row of `wb.compare`,
    with the data of the charts. `variant` is its key, `label` its steps as text. `ratio` is to the
    first of its comparison. `recorded` is the file it was read from, "" where it was measured here.
    `group` is its comparison, so that only interleaved runs are compared.
    """

    id: str
    group: str
    variant: str
    label: str
    backend: str
    threads: int
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
    """The check in full, over several lines."""
    samples: tuple[float, ...]
    planned: int
    """The number of samples planned; fewer are there during the measurement, or where that ended
    early."""
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
    compiler_seconds: float | None
    """The part of a C compiler in these: 0 if it had compiled this before, null where there is
    none.
    """
    peak_bytes: Mapping[str, int]
    process_peak_bytes: int | None
    predicted_seconds: float | None
    predicted_peak_bytes: Mapping[str, int]
    prediction_note: str
    too_slow: str
    pace: float | None
    """Seconds of a trial run at small sizes over those predicted of it, where there was one."""
    stopped: str
    """The reason why a run stops, and there are no times: out of memory, an index outside its
    range."""
    curves: tuple[CurveView, ...]


@dataclass(frozen=True)
class PeaksView:
    """The most operations of a second of the machine, for this run, and the most bytes, where the
    nearest and the farthest of its memory is.
    """

    flops_per_second: float
    nearest_bytes_per_second: float
    farthest_bytes_per_second: float


@dataclass(frozen=True)
class ProfileRowView:
    """A row of a profile: a scope, a kernel or a statement. `scope` is the one in which it spent
    most, `statements` are those that it computes, none for Python between. Seconds that were shared
    out by counted work are `approximate`; those of a division that two builds do not agree on are
    `uncertain`. `predicted` is null where nothing is predicted of the row by itself, `bytes_peak`,
    the most bytes in a second of memory as near as the row's, where that is not known.
    """

    name: str
    scope: str
    statements: tuple[str, ...]
    seconds: float
    calls: int
    flops: float
    bytes: float
    bytes_peak: float | None
    predicted: float | None
    approximate: bool
    uncertain: bool


@dataclass(frozen=True)
class LaneView:
    """A lane of a course: a loop, by its variable, or what is launched, by its name. `share` is its
    part of the time shown. `spans` are five numbers each: from which tick to which, how many
    launches (of an iteration the loop's value), how much of the time these took, in thousandths,
    and how many ticks they were predicted to take, −1 where nothing was.
    """

    name: str
    is_loop: bool
    depth: int
    scope: str
    statements: tuple[str, ...]
    share: float
    spans: tuple[int, ...]


@dataclass(frozen=True)
class CourseView:
    """A run from its begin for so many `seconds`, of `tick` each, lanes in the order of the loop
    program. `held` are two numbers each: a tick, and the bytes held from there on. `whole`: nothing
    came behind.
    """

    seconds: float
    tick: float
    whole: bool
    lanes: tuple[LaneView, ...]
    held: tuple[int, ...]


@dataclass(frozen=True)
class ProfileView:
    """A profiled variant, its rows the longest first; `kernels` are empty where there are none.
    `variant` is its key, `label` its steps as text. `summary` says how its parts add up, a line
    each. `course` is null where nothing was launched. `rounds` are those that were finished: fewer
    than `planned` where it was stopped. `id` is the same for the same run of the same variant.
    """

    id: str
    variant: str
    label: str
    backend: str
    threads: int
    device: str
    dtype: str
    sizes: Mapping[str, int]
    seed: int
    date: str
    seconds: float
    untimed_seconds: float
    predicted_seconds: float | None
    summary: tuple[str, ...]
    rounds: int
    planned: int
    peaks: PeaksView | None
    course: CourseView | None
    scopes: tuple[ProfileRowView, ...]
    kernels: tuple[ProfileRowView, ...]
    statements: tuple[ProfileRowView, ...]


@dataclass(frozen=True)
class RunView:
    """A run of a variant, with its learning curves as far as it came. `variant` is its key, `label`
    its steps as text. `completed` of `total` iterations of the outermost loop are done, which
    `counted` names ("" without a loop); fewer while it is under way, and where it was stopped.
    `environment_steps` are those of a whole run, 0 without an environment. `threads`,
    `compile_seconds` and `peak_bytes` are known at the end, and so is the mean length of episodes
    by the dim along which they end. `failed` says why it ended where that was no order, ""
    elsewhere. `id` is the same for the same run of the same variant, which may be of the program
    before it was traced again.
    """

    id: str
    variant: str
    label: str
    backend: str
    threads: int | None
    dtype: str
    sizes: Mapping[str, int]
    seed: int
    date: str
    completed: int
    total: int
    counted: str
    seconds: float
    compile_seconds: float | None
    environment_steps: int
    peak_bytes: Mapping[str, int]
    lengths: Mapping[str, float]
    curves: tuple[CurveView, ...]
    failed: str


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
    """A cycle of instances, each of which needs the next, at the least sizes that have it."""

    instances: tuple[WaitingView, ...]
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class ErrorView:
    """An error: a sentence, and the user's line where one is known. `trace` is the rest of Python's
    report, for errors that are not the workbench's own. `cycle` is there where instances
    wait for each other; `arguments` has a sentence for each argument of a step that is a reason.
    """

    sentence: str
    line: LineView | None
    trace: str
    cycle: CycleView | None
    arguments: Mapping[str, str]


@dataclass(frozen=True)
class UntracedView:
    """A program that could not be traced. `place` is the file or cell that defines it; of a
    program that comes with the workbench, the cell that called it; "" where that is not known.
    """

    program: str
    place: str
    error: ErrorView


@dataclass(frozen=True)
class NotMadeView:
    """The run or the profile of a variant that did not begin last, and why. `too_long`: it can be
    forced; `not_sent`: the program cannot be given to another process, but the Jupyter kernel can
    run it.
    """

    variant: str
    backend: str
    dtype: str
    sizes: Mapping[str, int]
    seed: int
    error: ErrorView
    too_long: bool
    not_sent: bool


@dataclass(frozen=True)
class ProgressView:
    """A measurement, a run, a profile, a calibration or a search for steps under way. `group` is
    its comparison, "" before the first round is finished; of a run its `RunView.id`. `total` is 0
    where nobody knows how much there is; a search counts in `done` what it tried.
    """

    what: Literal["measurement", "run", "profile", "calibration", "search"]
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
    """The values that `Literal` in its annotation allows; none where any is allowed."""


@dataclass(frozen=True)
class State:
    """All that is known of a workbench besides its parts. `revision` grows; a view drops older
    ones.

    `backend` is the default one. `result` is the `id` of the run whose arrays Python has, "" where
    there is none. `error` is the reason why the shown program is not the one as
    written now, `recipe_error` why steps no longer fit. `taken_over` tells that steps are those of
    another program, which had the name before; "" where they are not.
    """

    workbench: str
    revision: int
    name: str
    root: str
    current: str
    variants: tuple[VariantView, ...]
    sizes: tuple[SizeView, ...]
    ends: tuple[EndView, ...]
    measurements: tuple[MeasurementView, ...]
    runs: tuple[RunView, ...]
    result: str
    profiles: tuple[ProfileView, ...]
    backends: tuple[BackendView, ...]
    backend: str
    arguments: tuple[ArgumentView, ...]
    measuring: ProgressView | None
    unrun: NotMadeView | None
    unprofiled: NotMadeView | None
    error: UntracedView | None
    recipe_error: ErrorView | None
    taken_over: str
