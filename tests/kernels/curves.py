"""PPO's curve as compiled C and as NumPy computes it.

Training is chaotic: two runs whose first sums were rounded otherwise have other losses after some
130 updates, in float64 too, and then take other actions. NumPy in blocks parts from NumPy as early
as compiled C does. So a curve is compared piece by piece. At the begin of each piece compiled C
gets the values that NumPy has carried there, counts updates and draws on, and has to agree in all
updates of the piece. An action may be another one only where its draw lay within tolerance of its
threshold; what comes later in the piece is not compared then, but counted. Beside that, both train
on their own: when they part, and the returns they reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.algorithms import ppo
from workbench.backends import get
from workbench.backends.protocol import Compiled
from workbench.lowering.memory.takeover import holding
from workbench.measure.checking.agreement import TOLERANCE
from workbench.program.carried import KEPT, keeping, resumed, starts
from workbench.program.values import Output, Program
from workbench.transforms import Contract, Donate, Persist, Vectorize
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant, variant

UPDATES = 976
PIECE = 16
"""Updates that are compared at a time. In 40, rounding has grown by seven digits now and then."""
SEEDS = range(5)
CURVES = ("loss", "episode_return", "episodes")
ACTION, DRAW, THRESHOLDS = "policy.action", "policy.uniform", "policy.cumulative"
STEPS: dict[str, tuple[Transform, ...]] = {
    "numpy": (Vectorize("b"), Vectorize("k"), Contract(), Donate()),
    "native": (Persist("b", 16), Persist("k", 32), Contract(), Donate()),
}

Outputs = Mapping[str, Any]


@dataclass(frozen=True)
class Compared:
    """A piece of a curve: updates that agree, what explains that the others do not, what is wrong.

    `worst` is the largest deviation among those that agree, relative to a value and the largest of
    its piece.
    """

    agreeing: int
    worst: float
    explained: str = ""
    wrong: str = ""


def training(arguments: Mapping[str, Any]) -> dict[str, Variant]:
    """PPO with what decides its actions among the outputs, as each backend runs it."""
    written: Program = ppo(**arguments)
    shown = tuple(Output(name, name) for name in (ACTION, DRAW, THRESHOLDS))
    equations = replace(written.equations, outputs=(*written.outputs, *shown))
    variants = {}
    for backend, steps in STEPS.items():
        chosen = variant(replace(written, equations=equations))
        for step in steps:
            chosen = chosen.apply(step)
        variants[backend] = chosen
    return variants


def goes_on(backend: str, chosen: Variant, first: int) -> Compiled:
    """A variant that goes on from given values after so many updates, and returns its last."""
    written = chosen.root.program.equations
    program = chosen.program
    if first:
        names = [start.name for start in starts(written)]
        program = holding(resumed(program, names, first, written))
    return get(backend).compile(holding(keeping(program, written)))


def deviation(found: Any, wanted: Any) -> Any:
    """The largest deviation of each update, relative to a value and the largest of all."""
    found, wanted = found.astype(float), wanted.astype(float)
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        off = np.where(same, 0.0, np.abs(found - wanted) / (np.abs(wanted) + largest))
    off = np.where(np.isnan(off), np.inf, off)
    return off.reshape(len(off), -1).max(axis=1)


def off_of(found: Outputs, wanted: Outputs) -> Any:
    """The largest deviation of each update in any curve."""
    return np.max([deviation(found[name], wanted[name]) for name in CURVES], axis=0)


def compared(found: Outputs, wanted: Outputs, dtype: str) -> Compared:
    """Compare a piece of updates that began with the same values."""
    off = off_of(found, wanted)
    others = np.argwhere(found[ACTION] != wanted[ACTION])  # (environment, update, step)
    first = min((int(at[1]) for at in others), default=len(off))
    worst = float(off[:first].max(initial=0.0))
    if worst > TOLERANCE[dtype]:
        update = int(np.argmax(off > TOLERANCE[dtype]))
        said = f"update {update} is off by {off[update]:.2g} though all actions are the same"
        return Compared(update, float(off[:update].max(initial=0.0)), wrong=said)
    if first == len(off):
        return Compared(first, worst)
    step = min(int(at[2]) for at in others if at[1] == first)
    said = []
    for b in (int(at[0]) for at in others if tuple(at[1:]) == (first, step)):
        draw, thresholds = wanted[DRAW][b, first, step], wanted[THRESHOLDS][b, first, step]
        distance = float(np.abs(thresholds - draw).min())
        here = f"b={b}, i={first}, t={step}: {distance:.2g} from its threshold"
        if distance > TOLERANCE[dtype] * 2.0:  # thresholds are at most 1, and so is the largest
            return Compared(first, worst, wrong=f"another action at {here}")
        said.append(here)
    return Compared(first, worst, explained="; ".join(said))


def line_of(
    dtype: str,
    updates: int = UPDATES,
    piece: int = PIECE,
    seeds: Sequence[int] = SEEDS,
    **arguments: Any,
) -> dict[str, Any]:
    """Train as NumPy does, with compiled C beside it in pieces and on its own."""
    variants = training(arguments)
    carried: dict[int, dict[str, Any]] = {seed: {} for seed in seeds}
    curves: dict[int, list[Outputs]] = {seed: [] for seed in seeds}
    agreeing, worst, explained, wrong = 0, 0.0, [], []
    for first in range(0, updates, piece):
        numpy, native = (goes_on(backend, variants[backend], first) for backend in STEPS)
        for seed in seeds:
            sizes = {"I": min(piece, updates - first)}
            wanted = numpy.run(sizes, seed, dtype, given=carried[seed]).outputs
            found = native.run(sizes, seed, dtype, given=carried[seed]).outputs
            carried[seed] = {
                name.removeprefix(KEPT): x for name, x in wanted.items() if name.startswith(KEPT)
            }
            curves[seed].append({name: wanted[name] for name in CURVES})
            one = compared(found, wanted, dtype)
            agreeing, worst = agreeing + one.agreeing, max(worst, one.worst)
            at = f"seed {seed}, from update {first} on: "
            explained += [at + one.explained] if one.explained else []
            wrong += [at + one.wrong] if one.wrong else []
    return {
        "dtype": dtype,
        "updates": updates * len(seeds),
        "compared": agreeing,
        "pieces of": piece,
        "worst": worst,
        "by a draw": explained,
        "wrong": wrong,
        "alone": alone(variants["native"], curves, updates, dtype),
    }


def alone(
    chosen: Variant, curves: Mapping[int, Sequence[Outputs]], updates: int, dtype: str
) -> list[dict[str, Any]]:
    """What compiled C learns by itself, beside NumPy: the first update at which the curves part,
    and the mean return of the last 50 updates of both.
    """
    native, lines = get("native").compile(chosen.program), []
    for seed, pieces in curves.items():
        found = native.run({"I": updates}, seed, dtype).outputs
        wanted = {name: np.concatenate([piece[name] for piece in pieces]) for name in CURVES}
        parted = np.flatnonzero(off_of(found, wanted) > TOLERANCE[dtype])
        returns = [float(np.nanmean(run["episode_return"][-50:])) for run in (wanted, found)]
        line = {"seed": seed, "part at": int(parted[0]) if len(parted) else None}
        lines.append(
            line | dict(zip(("numpy", "native"), np.round(returns, 1).tolist(), strict=True))
        )
    return lines
