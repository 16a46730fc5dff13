"""The messages between a workbench in Python and its views, both ways.

A view says `Hello` and gets `Welcome`, `State`s and answers. `Want` asks for a part, once: parts
do not change, as a variant's key is a hash of its content; those with predicted times change with a
calibration, which `PredictedAnew` tells. Everything else is a request to change
something, whose effect is a new `State`, or a `Failed`.

States go to every view. An answer goes to the connection that asked. Views that share a connection
know their answers by the request's `id`, which no two requests have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.session.protocol.state import ErrorView, State, UntracedView

PROTOCOL = 22
"""Raised with every change of a message, a state or a part; the other side says so and stops."""

Part = Literal[
    "snapshot",
    "moves",
    "price",
    "why",
    "reason",
    "preview",
    "cost",
    "sweep",
    "runs",
    "memory",
    "code",
    "kernels",
    "kernel",
    "domain",
    "value",
    "play",
]
"""`snapshot` → Snapshot, `moves` → MovesView (streamed), `price` → PriceView, … (`parts/`)."""

Json = Mapping[str, Any]
Sizes = Mapping[str, int]
Lengths = Json
"""By a dim along which episodes end the expected number of steps, or the id of the run that found
them; all steps of a dim that is left out.
"""


# -- from the views --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hello:
    """The first message of a view."""

    type: Literal["hello"]
    protocol: int


@dataclass(frozen=True)
class Want:
    """Asks for a part of a variant. `id` comes back with the answer. `arguments` by part:

    snapshot {}, moves {} (with {statements} those that name them), why {step, sizes | null},
    reason {step, sizes | null}, price {step, sizes, backend, dtype}, preview {step, backend},
    cost {sizes, backend, dtype}, memory {sizes, backend, dtype},
    sweep {size, sizes, backend, dtype}, runs {sizes, backend, dtype, repeats, pace},
    code {backend}, kernels {backend, dtype}, kernel {backend, dtype, name},
    domain {statements, sizes}, value {array, coordinates, sizes, seed},
    play {statement | null, sizes}. Sizes that are left out have their defaults; those of `domain`,
    `why`, `reason`, `value` and `play` are small of themselves. `price`, `cost`, `sweep` and
    `runs` of a program whose episodes end may have {lengths} too.
    """

    type: Literal["want"]
    id: int
    workbench: str
    part: Part
    variant: str
    arguments: Json


@dataclass(frozen=True)
class Forget:
    """Withdraws a `Want`."""

    type: Literal["forget"]
    id: int


@dataclass(frozen=True)
class Apply:
    """Takes a step on a variant; the new one becomes current."""

    type: Literal["apply"]
    id: int
    workbench: str
    variant: str
    step: Json


@dataclass(frozen=True)
class Show:
    """Makes a variant current (`wb.Workbench.variant` in Python)."""

    type: Literal["show"]
    id: int
    workbench: str
    variant: str


@dataclass(frozen=True)
class Rename:
    """Names a variant; an empty name gives it back its step's."""

    type: Literal["rename"]
    id: int
    workbench: str
    variant: str
    name: str


@dataclass(frozen=True)
class Remove:
    """Takes a variant and all its descendants out of the tree."""

    type: Literal["remove"]
    id: int
    workbench: str
    variant: str


@dataclass(frozen=True)
class Replay:
    """Takes the steps by which `variant` differs from `onto` on `onto`, every one checked anew;
    with `only_last`, its last step alone.
    """

    type: Literal["replay"]
    id: int
    workbench: str
    variant: str
    onto: str
    only_last: bool


@dataclass(frozen=True)
class Optimize:
    """Looks for the automatic recipe from a variant on, in a process of its own, and takes its
    steps: all of them, under the recipe's name, or none.
    """

    type: Literal["optimize"]
    id: int
    workbench: str
    variant: str
    objective: Literal["time", "memory"]
    capacity: int | None
    backend: str
    sizes: Sizes
    lengths: Lengths
    dtype: Literal["float32", "float64"]


@dataclass(frozen=True)
class Measure:
    """Runs variants in turn, each checked. `repeats`: null for as many as are enough. `lengths`
    decide what takes too long.
    """

    type: Literal["measure"]
    id: int
    workbench: str
    variants: tuple[str, ...]
    backend: str
    sizes: Sizes
    lengths: Lengths
    seed: int
    dtype: Literal["float32", "float64"]
    repeats: int | None
    force: bool


@dataclass(frozen=True)
class Run:
    """Runs a variant, once: the state has its curves while it runs, and Python the result at the
    end. `here`: in the Jupyter kernel itself, which is slower meanwhile.
    """

    type: Literal["run"]
    id: int
    workbench: str
    variant: str
    backend: str
    sizes: Sizes
    seed: int
    dtype: Literal["float32", "float64"]
    here: bool


@dataclass(frozen=True)
class Profile:
    """Runs a variant, and tells what its time is spent on: the state has the profile at the end, or
    the reason why there is none. `here` as in `Run`.
    """

    type: Literal["profile"]
    id: int
    workbench: str
    variant: str
    backend: str
    sizes: Sizes
    seed: int
    dtype: Literal["float32", "float64"]
    force: bool
    here: bool


@dataclass(frozen=True)
class Calibrate:
    """Measures what predicted times of a backend are made of, and keeps it for this machine."""

    type: Literal["calibrate"]
    id: int
    workbench: str
    backend: str


@dataclass(frozen=True)
class Cancel:
    """Stops the current measurement, of which finished rounds stay, the current run, of which
    finished iterations stay, the current profile, of which finished rounds stay, or the current
    calibration or search for steps.
    """

    type: Literal["cancel"]
    id: int
    workbench: str


@dataclass(frozen=True)
class Change:
    """Sets arguments of the watched template, and traces it anew."""

    type: Literal["change"]
    id: int
    workbench: str
    arguments: Json


@dataclass(frozen=True)
class Save:
    """Asks for everything as text: `html` a page that needs nothing else, `state` a file that
    `Load` reads.
    """

    type: Literal["save"]
    id: int
    workbench: str
    format: Literal["html", "state"]


@dataclass(frozen=True)
class Load:
    """Takes the variants, names and measurements of a saved file, every step checked anew. `show`:
    its current variant becomes current here, unless another one did meanwhile.
    """

    type: Literal["load"]
    id: int
    workbench: str
    text: str
    show: bool


@dataclass(frozen=True)
class Report:
    """Asks for a page about a variant beside `before`, as text, with the author's notes. Where
    nothing was measured of them, it predicts a run at these sizes.
    """

    type: Literal["report"]
    id: int
    workbench: str
    variant: str
    before: str
    notes: str
    backend: str
    sizes: Sizes
    lengths: Lengths
    dtype: Literal["float32", "float64"]


@dataclass(frozen=True)
class Follow:
    """Takes the steps of a link on the program as written, every one checked anew, all or none; the
    last variant becomes current.
    """

    type: Literal["follow"]
    id: int
    workbench: str
    steps: tuple[Json, ...]


Request = (
    Hello
    | Want
    | Forget
    | Apply
    | Show
    | Rename
    | Remove
    | Replay
    | Optimize
    | Measure
    | Run
    | Profile
    | Calibrate
    | Cancel
    | Change
    | Save
    | Load
    | Report
    | Follow
)


# -- from Python -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Welcome:
    """The answer to `Hello`: every workbench there is, the last shown first."""

    type: Literal["welcome"]
    protocol: int
    release: str
    workbenches: tuple[str, ...]


@dataclass(frozen=True)
class StateMessage:
    """A workbench's newest state. `open`: it was just shown from a cell, so its panel opens."""

    type: Literal["state"]
    state: State
    open: bool


@dataclass(frozen=True)
class Untraced:
    """The programs without a workbench that could not be traced: all of them, after every change,
    and after `Welcome` where there are any. States tell of the others.
    """

    type: Literal["untraced"]
    programs: tuple[UntracedView, ...]


@dataclass(frozen=True)
class PredictedAnew:
    """Tells that parts with predicted times are no longer as they were: who shows them asks
    again.
    """

    type: Literal["predicted-anew"]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Answer:
    """A part, or a batch of one that is streamed: `done` with the last."""

    type: Literal["part"]
    id: int
    value: Any
    done: bool


@dataclass(frozen=True)
class Saved:
    """The text that `Save` or `Report` asked for, with a name for its file."""

    type: Literal["saved"]
    id: int
    name: str
    text: str


@dataclass(frozen=True)
class Done:
    """Tells that a request's work is done; `variant` is the one that it made, if any."""

    type: Literal["done"]
    id: int
    variant: str | None


@dataclass(frozen=True)
class Failed:
    """Refuses a request. `id` is null where the message had none that could be read."""

    type: Literal["failed"]
    id: int | None
    error: ErrorView


@dataclass(frozen=True)
class Running:
    """The position of a running program: statements with the share of samples taken in each, loop
    variables with their values and numbers of iterations, seconds so far. `variant` is "" of one
    that is not in the tree. `over`: it has ended.
    """

    type: Literal["running"]
    workbench: str
    variant: str
    shares: Mapping[str, float]
    now: tuple[str, ...]
    loops: tuple[tuple[str, int, int], ...]
    seconds: float
    over: bool


Message = (
    Welcome | StateMessage | Untraced | PredictedAnew | Answer | Saved | Done | Failed | Running
)
