"""Large observations: what is left on the device when they live on the host, or are computed again.

python -m tests.benchmarks.large --B 32 --T 250 --side 64
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
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
    Fuse,
    Incrementalize,
    Recompute,
    Swap,
    Tile,
    Vectorize,
)
from workbench.variants.variant import Variant, variant

WEIGHTS = ("gradient.actor.weight_1", "gradient.critic.weight_1")


def learning_in_blocks(size: int, **settings: Any) -> Variant:
    """PPO of one epoch and one batch, in order: what reads the observations runs in blocks."""
    return folded(_in_blocks(size, shuffle=False, **settings))


def observations_again(size: int, **settings: Any) -> tuple[Variant, Variant]:
    """The same, or shuffled, with gradients that add up block by block: observations kept, and
    computed again in each block that reads them.
    """
    kept = _in_blocks(size, **settings)
    block = f"{_samples(settings)}_block{size}"
    for weight in WEIGHTS:
        kept = kept.apply(Accumulate(block, (weight,)))
        kept = kept.apply(Fuse((f"{weight}.partial", f"{weight}.points")))
    return folded(kept), folded(kept.apply(Recompute("environment.observation")))


def folded(found: Variant) -> Variant:
    """Windows instead of whole arrays, and memory handed on."""
    return found.apply(Contract()).apply(Donate())


def _in_blocks(size: int, **settings: Any) -> Variant:
    found = variant(ppo(E=1, M=1, **settings)).apply(Vectorize("b"))
    acting = {"environment.draw", "environment.observation"}
    samples = _samples(settings)
    for dim in dict.fromkeys(("t", samples)):
        learning = tuple(
            s.name
            for s in found.program.statements
            if dim in s.dims
            and s.name not in acting
            and found.check(Vectorize(dim, (s.name,))) is None
        )
        found = found.apply(Vectorize(dim, learning))
    for weight in WEIGHTS:
        found = found.apply(Incrementalize(weight, samples, size))
    for dim, layer in (
        ("t", "critic.hidden_1"),
        (samples, "loss.actor.hidden_1"),
        (samples, "loss.critic.hidden_1"),
    ):
        found = found.apply(Tile(dim, size, (layer,)))
    return found


def _samples(settings: Mapping[str, Any]) -> str:
    """The dimension of the samples of a batch: of time, where they come in order."""
    return "k" if settings.get("shuffle", True) else "t"


def step_by_step(**settings: Any) -> tuple[Variant, Variant]:
    """REINFORCE whose first layer's gradient is added up over t: observations kept, and drawn again
    for it.
    """
    kept = variant(reinforce(**settings)).apply(Vectorize("b"))
    kept = kept.apply(Accumulate("t", ("gradient.policy.weight_1",)))
    again = kept.apply(Recompute("environment.observe")).apply(Recompute("environment.draw"))
    return folded(kept), folded(again)


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
    parser.add_argument("--hidden", type=int, default=32)
    given = parser.parse_args()
    noisy = environments.Noisy((3, given.side, given.side))
    sizes = {"B": given.B, "T": given.T, "I": 1, "environment": noisy}

    plain = learning_in_blocks(given.block, **sizes)
    swapped = plain.apply(Swap("environment.observation"))
    small, kept = (
        run(swapped, progress=False, backend="numpy"),
        run(plain, progress=False, backend="numpy"),
    )
    compared("Swap", kept, small, exact=True)
    limit = {"device": max(kept.peak_bytes // 4, small.peak_bytes)}
    refused = ""
    try:
        run(plain, capacity=limit, progress=False, backend="numpy")
    except RunError as error:
        refused = error.message
    fits = (
        run(swapped, capacity=limit, progress=False, backend="numpy").peak_bytes <= limit["device"]
    )
    emit(what="Swap under a capacity", capacity=limit, fits=fits, unswapped=refused)

    kept_all, again = step_by_step(**sizes)
    small, kept = (
        run(again, progress=False, backend="numpy"),
        run(kept_all, progress=False, backend="numpy"),
    )
    compared("Recompute of what is drawn", kept, small, exact=False)

    # two layers of 64, their moments and their gradients would take a sixteenth alone
    sizes["environment"] = environments.Trivial(noisy.observation_shape)
    sizes["hidden"] = (given.hidden, given.hidden)
    for shuffle in (False, True):
        kept_all, again = observations_again(2, shuffle=shuffle, **sizes)
        small, kept = (
            run(again, progress=False, backend="numpy"),
            run(kept_all, progress=False, backend="numpy"),
        )
        compared(f"Recompute, {'shuffled' if shuffle else 'in order'}", kept, small, exact=True)


if __name__ == "__main__":
    main()
