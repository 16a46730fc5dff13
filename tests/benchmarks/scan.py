"""Return-to-go: the quadratic forms, the lifted recurrence and its blocked scan under the recipe,
interleaved, beside the same scan written by hand.

python -m tests.benchmarks.scan --B 64 --T 4096 --rounds 15
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import workbench as wb
from tests.benchmarks.measuring import emit, interleaved, machine, median, ratio
from workbench.backends import get
from workbench.transforms import Incrementalize, Vectorize
from workbench.variants.variant import Variant, optimize, variant

GAMMA, BLOCK, REPEATS = 0.99, 64, 5
ALONE = "rewards alone"
Floats = npt.NDArray[np.float32]


@wb.program
def return_to_go(B: int = 64, T: int = 4096, summed: bool = True) -> dict[str, Any]:
    """Few draws make all rewards: drawing them one by one would take longer than the sums."""
    b, t = wb.dims(b=B, t=T)
    reward = wb.uniform(over=b) + wb.uniform(over=t)
    return {"worth": wb.discounted_sum(reward[b, t:T], GAMMA)} if summed else {"reward": reward}


def runs(chosen: Variant, sizes: dict[str, int], repeats: int) -> Callable[[], float]:
    """The seconds of one run, compilation not among them."""
    compiled = get("numpy").compile(chosen.program)
    return least_of(lambda: compiled.run(sizes).seconds, repeats)


def timed(way: Callable[[Floats], Floats], reward: Floats, repeats: int) -> Callable[[], float]:
    """The seconds of a hand-written way; `reward` has the steps first in memory."""

    def once() -> float:
        start = time.perf_counter()
        way(reward)
        return time.perf_counter() - start

    return least_of(once, repeats)


def least_of(once: Callable[[], float], repeats: int) -> Callable[[], float]:
    """The least of a few: what a busy machine takes away at a time is longer than a scan."""
    return lambda: min(once() for _ in range(repeats))


def quadratic(reward: Floats) -> Floats:
    """Weights times rewards, summed, for every step."""
    steps = len(reward)
    weights = (GAMMA ** np.arange(steps)).astype(np.float32)[:, None]
    worth = np.empty_like(reward)
    for t in range(steps):
        worth[t] = (weights[: steps - t] * reward[t:]).sum(axis=0)
    return worth


def product_a_step(reward: Floats) -> Floats:
    """One vector-matrix product for every step."""
    steps = len(reward)
    weights = (GAMMA ** np.arange(steps)).astype(np.float32)
    worth = np.empty_like(reward)
    for t in range(steps):
        np.dot(weights[: steps - t], reward[t:], out=worth[t])
    return worth


def blocked_by_hand(reward: Floats) -> Floats:
    """The same blocked scan as a person would write it, where blocks divide the steps."""
    blocks = reward.reshape(-1, BLOCK, reward.shape[1])
    worth = np.empty_like(blocks)
    weights = (GAMMA ** np.arange(BLOCK)).astype(np.float32)
    total = np.matmul(weights, blocks)
    far = np.float32(GAMMA**BLOCK)
    gamma = np.float32(GAMMA)
    for c in range(len(blocks) - 2, -1, -1):
        total[c] += far * total[c + 1]
    worth[:, 0] = total
    np.copyto(worth[:, -1], blocks[:, -1])
    worth[:-1, -1] += gamma * total[1:]
    scaled = np.empty_like(total)
    for j in range(BLOCK - 2, 0, -1):
        np.multiply(gamma, worth[:, j + 1], out=scaled)
        np.add(blocks[:, j], scaled, out=worth[:, j])
    return worth.reshape(reward.shape)


def variants() -> dict[str, Variant]:
    """The program lifted, plainly and in blocks, each under the recipe."""
    root = variant(return_to_go())
    return {
        ALONE: optimize(variant(return_to_go(summed=False)), backend="numpy"),
        "as written, b an axis": root.apply(Vectorize("b")),
        "lifted": optimize(root.apply(Incrementalize("worth", "t")), backend="numpy"),
        "blocked": optimize(root.apply(Incrementalize("worth", "t", BLOCK)), backend="numpy"),
    }


def ways(B: int, T: int) -> dict[str, Callable[[], float]]:
    """Every way at the sizes, variants checked against the first."""
    sizes = {"B": B, "T": T}
    chosen = variants()
    made = get("numpy").compile(chosen[ALONE].program).run(sizes)
    reward = np.ascontiguousarray(made.outputs["reward"].T)
    wanted = quadratic(reward)
    for name, one in chosen.items():
        if name != ALONE:
            found = get("numpy").compile(one.program).run(sizes).outputs["worth"].T
            assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max(), name
    slow = ("as written, b an axis",)
    return {
        name: runs(one, sizes, 1 if name in slow else REPEATS) for name, one in chosen.items()
    } | {
        "quadratic, by hand": timed(quadratic, reward, 1),
        "a product a step, by hand": timed(product_a_step, reward, 1),
        "blocked, by hand": timed(blocked_by_hand, reward, REPEATS),
    }


def measured(B: int, T: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of every way, a sample a round, and of the blocked scan at twice the steps.

    Of variants what making the rewards takes is not counted: hand-written ways are given them.
    """
    twice = ways(B, 2 * T)
    timed_ways = ways(B, T) | {f"{name}, {2 * T} steps": twice[name] for name in (ALONE, "blocked")}
    found = interleaved(timed_ways, rounds)
    for alone in (ALONE, f"{ALONE}, {2 * T} steps"):
        for name in list(found):
            own = name.endswith("steps") == alone.endswith("steps")
            if own and name != alone and "by hand" not in name:
                found[name] = [seconds - min(found[alone]) for seconds in found[name]]
    return found


def keep_freed_memory() -> None:
    """Let the process keep what runs free, where its C library can be told (glibc): getting pages
    from the kernel again can take longer than the scan, above all in a sandbox.
    """
    tell = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if tell is not None:
        tell(-3, 32 << 20)  # M_MMAP_THRESHOLD: arrays of less come from the heap
        tell(-1, 1 << 30)  # M_TRIM_THRESHOLD: which is not given back


def main() -> None:
    keep_freed_memory()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    found = measured(given.B, given.T, given.rounds)
    for name, samples in found.items():
        emit(what=name, B=given.B, T=given.T, seconds=median(samples), least=min(samples))
    for slow, fast, target in (
        ("quadratic, by hand", "blocked", 100),
        ("a product a step, by hand", "blocked", 30),
        (f"blocked, {2 * given.T} steps", "blocked", 2.2),
        ("blocked", "blocked, by hand", None),
    ):
        value, interval = ratio(found[slow], found[fast])
        of_least = min(found[slow]) / min(found[fast])
        emit(
            what=f"{slow} / {fast}",
            ratio=value,
            interval=interval,
            of_least=of_least,
            target=target,
        )
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
