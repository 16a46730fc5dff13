"""Profiles held against untimed runs: what kernels and Python between add up to, and what
stamps inside of kernels change.

python -m tests.benchmarks.profile --B 64 --T 128 --I 20 --turns 3
"""

from __future__ import annotations

import argparse
import time

from tests.benchmarks.measuring import emit, machine
from workbench.algorithms import ppo, reinforce
from workbench.measure.profile import Profile, profile
from workbench.transforms import Contract, Donate, Persist
from workbench.variants.variant import Variant, optimize, variant

TARGET = 0.05
"""The share by which parts may add up to more or less than an untimed run."""


def in_blocks(root: Variant) -> Variant:
    """A variant whose rollouts and minibatches are kernels of many statements."""
    for dim in ("b", "k"):
        if dim in root.program.dim:
            root = root.apply(Persist(dim, 16))
    return root.apply(Contract()).apply(Donate())


def told(found: Profile) -> dict[str, object]:
    """What a profile says of itself."""
    divisions = [k.division for k in found.kernels if k.division is not None]
    return {
        "seconds": found.seconds,
        "untimed": found.untimed_seconds,
        "off": found.seconds / found.untimed_seconds - 1,
        "target": TARGET,
        "python": found.python_seconds,
        "launches": sum(kernel.launches for kernel in found.kernels),
        "divided_plain": sum(d.plain_seconds for d in divisions),
        "divided": sum(d.divided_seconds for d in divisions),
        "uncertain": len(found.uncertain),
        "scopes": {row.name: round(row.share, 4) for row in found.by("scope")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=128)
    parser.add_argument("--I", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    sizes = {"B": given.B, "T": given.T, "I": given.I}
    of_ppo, of_reinforce = variant(ppo(M=8)), variant(reinforce())
    cases = {
        "ppo in blocks, native": (in_blocks(of_ppo), "native", sizes),
        "ppo, native": (optimize(of_ppo, sizes=sizes, backend="native"), "native", sizes),
        "ppo as written, native": (of_ppo, "native", {"B": 4, "T": 32, "I": 4}),
        "reinforce in blocks, native": (in_blocks(of_reinforce), "native", sizes),
        "ppo, numpy": (optimize(of_ppo, sizes=sizes, backend="numpy"), "numpy", {**sizes, "I": 4}),
    }
    for turn in range(given.turns):
        for what, (chosen, backend, at) in cases.items():
            begun = time.perf_counter()
            found = profile(chosen, backend, at, progress=False)
            taken = time.perf_counter() - begun
            emit(what=what, turn=turn, **at, **told(found), profiled_in=taken)
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
