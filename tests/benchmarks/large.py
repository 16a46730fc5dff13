"""Large observations: what is left on the device when they live on the host, or are drawn again.

python -m tests.benchmarks.large --B 32 --T 250 --side 64
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from tests.benchmarks.measuring import emit
from workbench import environments
from workbench.algorithms import ppo, reinforce
from workbench.errors import RunError
from workbench.measure.run import Result, run
from workbench.transforms import (
    Accumulate,
    Contract,
    Donate,
    Incrementalize,
    Recompute,
    Swap,
    Tile,
    Vectorize,
)
from workbench.variants.variant import Variant, variant


def learning_in_blocks(size: int, **settings: Any) -> Variant:
    """PPO of one epoch and one batch: what reads the observations runs in blocks over t."""
    found = variant(ppo(E=1, M=1, shuffle=False, **settings)).apply(Vectorize("b"))
    acting = {"environment.draw", "environment.observation"}
    learning = tuple(
        s.name
        for s in found.program.statements
        if "t" in s.dims and s.name not in acting and found.check(Vectorize("t", (s.name,))) is None
    )
    found = found.apply(Vectorize("t", learning))
    for weight in ("gradient.actor.weight_1", "gradient.critic.weight_1"):
        found = found.apply(Incrementalize(weight, "t", size))
    for layer in ("critic.hidden_1", "loss.actor.hidden_1", "loss.critic.hidden_1"):
        found = found.apply(Tile("t", size, (layer,)))
    return found.apply(Contract()).apply(Donate())


def step_by_step(**settings: Any) -> tuple[Variant, Variant]:
    """REINFORCE whose first layer's gradient is carried over t: observations kept, and drawn again
    for it.
    """
    kept = variant(reinforce(**settings)).apply(Vectorize("b"))
    kept = kept.apply(Accumulate("t", ("gradient.policy.weight_1",)))
    again = kept.apply(Recompute("environment.observe")).apply(Recompute("environment.draw"))
    return kept.apply(Contract()).apply(Donate()), again.apply(Contract()).apply(Donate())


def compared(what: str, kept: Result, small: Result, exact: bool) -> None:
    """Print both peaks and how far the results are apart."""
    apart = max(float(np.max(np.abs(kept[k] - small[k]), initial=0.0)) for k in kept if k == "loss")
    same = all(np.array_equal(kept[k], small[k], equal_nan=True) for k in kept)
    assert same or not exact, f"{what}: results differ by {apart}"
    emit(
        what=what,
        kept=dict(kept.peak),
        small=dict(small.peak),
        ratio=small.peak_bytes / kept.peak_bytes,
        equal=same,
        loss_apart=apart,
        kept_seconds=kept.seconds,
        small_seconds=small.seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=32)
    parser.add_argument("--T", type=int, default=250)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--block", type=int, default=16)
    given = parser.parse_args()
    noisy = environments.Noisy((3, given.side, given.side))
    sizes = {"B": given.B, "T": given.T, "I": 1, "environment": noisy}

    plain = learning_in_blocks(given.block, **sizes)
    swapped = plain.apply(Swap("environment.observation"))
    small, kept = run(swapped, progress=False), run(plain, progress=False)
    compared("Swap", kept, small, exact=True)
    limit = {"device": max(kept.peak_bytes // 4, small.peak_bytes)}
    refused = ""
    try:
        run(plain, capacity=limit, progress=False)
    except RunError as error:
        refused = error.message
    fits = run(swapped, capacity=limit, progress=False).peak_bytes <= limit["device"]
    emit(what="Swap under a capacity", capacity=limit, fits=fits, unswapped=refused)

    kept_all, again = step_by_step(**sizes)
    small, kept = run(again, progress=False), run(kept_all, progress=False)
    compared("Recompute", kept, small, exact=False)


if __name__ == "__main__":
    main()
