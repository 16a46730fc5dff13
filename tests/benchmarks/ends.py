"""REINFORCE on CartPole with episodes that end, beside the same with a mask up to the horizon.

Counted: the steps that blocks executed, which are to be the sum over updates of the longest episode
of each block. Timed: the first updates, against what that count promises; and the way to a return.

    python -m tests.benchmarks.ends --updates 10 --rounds 5 --seeds 5
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.measuring import emit, interleaved, machine, median, ratio
from workbench.algorithms import reinforce
from workbench.backends import get
from workbench.transforms import Contract, Donate, Incrementalize, Persist, Recompute
from workbench.variants.variant import Variant, variant

TILE, ENOUGH = 16, 450.0
STEPS = (
    Incrementalize("worth", "t"),
    Persist("b", TILE, chunks=2),
    Recompute("policy.hidden_1"),
    Contract(),
    Donate(),
)


def in_blocks(ends: bool) -> Variant:
    """The program with the same steps taken, whether its episodes end or not."""
    chosen = variant(reinforce(T=500, ends=ends))
    for step in STEPS:
        chosen = chosen.apply(step)
    return chosen


def promised(lengths: Any) -> int:
    """The steps that blocks execute: for each update the longest episode of each block."""
    blocks = np.split(lengths, range(TILE, len(lengths), TILE))
    return int(sum(block.max(axis=0).sum() for block in blocks))


def executed(chosen: Variant, sizes: Mapping[str, int]) -> dict[str, int]:
    """The steps that blocks executed, of acting and of learning."""
    rows = {row.name: row for row in wb.profile(chosen, "native", sizes=sizes).by("statement")}
    names = {"acting": "state[t+1]", "learning": "gradient.output"}
    return {phase: int(rows[name].calls) for phase, name in names.items()}


def runs(chosen: Variant, sizes: Mapping[str, int]) -> Callable[[], float]:
    """The seconds of one run, compilation not among them."""
    compiled = get("native").compile(chosen.program)
    return lambda: compiled.run(sizes).seconds


def to_return(chosen: Variant, seed: int, updates: int) -> tuple[float, int]:
    """Seconds and updates to the first update with enough return."""
    begun, found = 0.0, [float("nan"), 0.0]

    def report(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        nonlocal begun
        if not done:
            begun = time.perf_counter()
        elif outputs["episode_return"][done - 1] >= ENOUGH:
            found[:] = time.perf_counter() - begun, done
            raise KeyboardInterrupt

    wb.run(chosen, "native", sizes={"I": updates}, seed=seed, progress=report, threads=1)
    return found[0], int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--most", type=int, default=400, help="the updates to try on the way")
    given = parser.parse_args()
    ways, sizes = {"mask": in_blocks(False), "ends": in_blocks(True)}, {"I": given.updates}
    lengths = wb.run(ways["ends"], "native", sizes=sizes, progress=False).lengths["t"]
    steps, most = promised(lengths), -(-64 // TILE) * given.updates * 500
    emit(machine=machine(), tile=TILE, updates=given.updates)
    emit(promised_steps=steps, executed_steps=executed(ways["ends"], sizes), bound_steps=most)

    taken = interleaved({name: runs(way, sizes) for name, way in ways.items()}, given.rounds)
    times, interval = ratio(taken["mask"], taken["ends"])
    emit(
        seconds={name: median(samples) for name, samples in taken.items()},
        faster=times,
        interval=interval,
        of_promised=times / (most / steps),
    )
    if given.seeds:
        found = [
            {name: to_return(way, seed, given.most) for name, way in ways.items()}
            for seed in range(given.seeds)
        ]
        faster = [one["mask"][0] / one["ends"][0] for one in found]
        emit(
            to_return=ENOUGH,
            updates=[one["ends"][1] for one in found],
            seconds={name: [one[name][0] for one in found] for name in ways},
            faster=faster,
            median=median(faster),
        )


if __name__ == "__main__":
    main()
