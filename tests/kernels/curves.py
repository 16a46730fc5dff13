"""PPO's curve as compiled C and as NumPy computes it.

Training is chaotic: two runs whose first sums were rounded otherwise have other losses after some
130 updates in float64, and then take other actions. NumPy in blocks parts from NumPy as early as
compiled C does. So in float64 a curve is compared piece by piece. At the begin of each piece
compiled C gets the values that NumPy has carried there, counts updates and draws on, and has to
agree in all updates of the piece. An action may be another one only where its draw lay within
tolerance of its threshold; what comes later in the piece is not compared then, but counted.

In float32 no piece is short enough: a pole that is balanced falls away from another ten times as
far every 30 steps, so that one bit of a sine is another action before an episode is over, though
nothing is wrong. There it is said until when the curves agree, and held that both have learned.
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
from workbench.program.carrying.carried import KEPT, keeping, resumed, starts
from workbench.program.values import Output, Program
from workbench.transforms import Contract, Donate, Persist, Vectorize
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant, variant

UPDATES = 976
PIECE = 16
"""Updates that are compared at a time. In 40, rounding has grown by seven digits now and then."""
SEEDS = range(5)
LEARNED = 450.0
"""The mean return over the last 50 updates that the median of seeds is above: 481 to 500 of 500."""
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
        program = holding(resumed(program, names, first, written), program)
    return get(backend).compile(holding(keeping(program, written), program))


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
    learned: float = LEARNED,
    **arguments: Any,
) -> dict[str, Any]:
    """Train as NumPy does, with compiled C beside it: in pieces where it is float64, and alone."""
    variants = training(arguments)
    line: dict[str, Any] = {"dtype": dtype, "updates": updates * len(seeds)}
    wrong: list[str] = []
    trained: dict[int, Outputs] = {}
    if dtype == "float64":
        pieces, trained = in_pieces(variants, updates, piece, seeds)
        wrong += pieces.pop("wrong")
        line |= {"pieces of": piece, **pieces}
    runs = [alone(variants, updates, seed, dtype, trained.get(seed)) for seed in seeds]
    medians = {name: float(np.median([run[name] for run in runs])) for name in STEPS}
    if medians["native"] < learned <= medians["numpy"]:
        wrong.append(f"compiled C learns {medians['native']}, NumPy {medians['numpy']}")
    return {**line, "alone": runs, "medians": medians, "wrong": wrong}


def in_pieces(
    variants: Mapping[str, Variant], updates: int, piece: int, seeds: Sequence[int]
) -> tuple[dict[str, Any], dict[int, Outputs]]:
    """Compare compiled C with NumPy from what NumPy has carried to the begin of each piece; return
    what came of it, and each seed's curves and actions as NumPy has computed them.
    """
    carried: dict[int, dict[str, Any]] = {seed: {} for seed in seeds}
    trained: dict[int, list[Outputs]] = {seed: [] for seed in seeds}
    agreeing, worst = 0, 0.0
    explained: list[str] = []
    wrong: list[str] = []
    for first in range(0, updates, piece):
        numpy, native = (goes_on(backend, variants[backend], first) for backend in STEPS)
        for seed in seeds:
            sizes = {"I": min(piece, updates - first)}
            wanted = numpy.run(sizes, seed, "float64", given=carried[seed]).outputs
            found = native.run(sizes, seed, "float64", given=carried[seed]).outputs
            carried[seed] = {
                name.removeprefix(KEPT): x for name, x in wanted.items() if name.startswith(KEPT)
            }
            trained[seed].append({name: wanted[name] for name in (*CURVES, ACTION)})
            one = compared(found, wanted, "float64")
            agreeing, worst = agreeing + one.agreeing, max(worst, one.worst)
            at = f"seed {seed}, from update {first} on: "
            explained += [at + one.explained] if one.explained else []
            wrong += [at + one.wrong] if one.wrong else []
    line = {"compared": agreeing, "worst": worst, "by a draw": explained, "wrong": wrong}
    return line, {seed: joined(parts) for seed, parts in trained.items()}


def joined(parts: Sequence[Outputs]) -> Outputs:
    """The curves and actions of pieces as those of one run."""
    axis = dict.fromkeys(CURVES, 0) | {ACTION: 1}  # an action is of (environment, update, step)
    return {name: np.concatenate([part[name] for part in parts], at) for name, at in axis.items()}


def alone(
    variants: Mapping[str, Variant],
    updates: int,
    seed: int,
    dtype: str,
    trained: Outputs | None = None,
) -> dict[str, Any]:
    """Train each by itself: the first update at which the curves part, the first with another
    action, and the mean return of the last 50 updates of both. `trained` is what NumPy computes, if
    it is known: it takes minutes.
    """

    def run(backend: str) -> Outputs:
        made = get(backend).compile(variants[backend].program)
        return made.run({"I": updates}, seed, dtype).outputs

    wanted, found = trained or run("numpy"), run("native")
    parted = np.flatnonzero(off_of(found, wanted) > TOLERANCE[dtype])
    acted = np.flatnonzero((found[ACTION] != wanted[ACTION]).any(axis=(0, 2)))
    return {
        "seed": seed,
        "part at": int(parted[0]) if len(parted) else None,
        "another action at": int(acted[0]) if len(acted) else None,
        "numpy": round(float(np.nanmean(wanted["episode_return"][-50:])), 1),
        "native": round(float(np.nanmean(found["episode_return"][-50:])), 1),
    }
