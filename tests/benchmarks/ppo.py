"""PPO's updates against the same in another library, process by process in turns.

    python -m tests.benchmarks.ppo --peer PATH/ppo_torch.py --python ENVIRONMENT/bin/python

The peer is a script that takes --num-envs, --num-steps, --epochs, --minibatches, --hidden, --total
and --threads, and prints a JSON line with `sps_median`, its environment steps per second. Without a
peer only ours is measured. `--layered` compares eight hidden layers as a dimension with unrolled
ones.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.benchmarks.measuring import emit, lines_of, machine, median, module, ratio
from workbench.algorithms import ppo
from workbench.backends import get
from workbench.variants.variant import optimize, variant

T, E, M = 128, 4, 4


def update_seconds(B: int, I: int, hidden: tuple[int, ...], layers: str) -> list[float]:
    """Each update's seconds but the first's, which pays for parameters and new memory."""
    root = variant(ppo(hidden=hidden, layers=layers))
    compiled = get("numpy").compile(optimize(root, backend="numpy").program)
    ends: list[float] = []

    def note(done: int, total: int, outputs: Mapping[str, Any]) -> None:
        ends.append(time.perf_counter())

    compiled.run({"B": B, "I": I, "T": T, "E": E, "M": M}, on_progress=note)
    return np.diff(ends).tolist()


def ours(given: argparse.Namespace, B: int, depth: int = 2, layers: str = "unrolled") -> Any:
    """The line of one process of ours."""
    words = ["--one", "--B", B, "--I", given.I, "--hidden", given.hidden]
    words += ["--depth", depth, "--layers", layers]
    return module("ppo", *map(str, words), threads=given.threads)[-1]


def theirs(given: argparse.Namespace, B: int) -> Any:
    """The peer's line."""
    words = [given.python, given.peer, "--num-envs", B, "--num-steps", T, "--epochs", E]
    words += ["--minibatches", M, "--hidden", given.hidden, "--total", B * T * given.I]
    words += ["--threads", given.threads]
    return lines_of([str(word) for word in words], given.threads)[-1]


def against_peer(given: argparse.Namespace, B: int) -> None:
    """Environment steps per second of both, round by round."""
    pairs = [(ours(given, B), theirs(given, B)) for _ in range(given.rounds)]
    mine, peer = [a["steps_per_second"] for a, _ in pairs], [b["sps_median"] for _, b in pairs]
    value, interval = ratio(mine, peer)
    emit(
        what="workbench / peer, ppo",
        B=B,
        threads=given.threads,
        steps_per_second=median(mine),
        peer_steps_per_second=median(peer),
        ratio=value,
        interval=interval,
        target=0.8,
        samples=mine,
        peer_samples=peer,
    )


def layered(given: argparse.Namespace, B: int) -> None:
    """Eight hidden layers: seconds of an update as a dimension over those unrolled."""
    ways = ("dim", "unrolled")
    pairs = [tuple(ours(given, B, 8, way) for way in ways) for _ in range(given.rounds)]
    dim, unrolled = ([pair[k]["update_seconds"] for pair in pairs] for k in range(2))
    value, interval = ratio(dim, unrolled)
    emit(
        what="8 layers as a dim / unrolled",
        B=B,
        update_seconds=median(dim),
        unrolled_seconds=median(unrolled),
        ratio=value,
        interval=interval,
        target=1.3,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="the peer's script")
    parser.add_argument("--python", help="the Python that has the peer's library")
    parser.add_argument("--B", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--I", type=int, default=10)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--layers", default="unrolled")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", action="store_true", help="only measure ours, in this process")
    parser.add_argument("--layered", action="store_true")
    given = parser.parse_args()
    for B in given.B:
        if given.layered:
            layered(given, B)
        elif given.peer and not given.one:
            against_peer(given, B)
        else:
            found = update_seconds(B, given.I, (given.hidden,) * given.depth, given.layers)
            seconds = median(found)
            emit(
                what="ppo",
                B=B,
                depth=given.depth,
                layers=given.layers,
                update_seconds=seconds,
                least=min(found),
                steps_per_second=B * T / seconds,
            )
    if not given.one:
        emit(what="machine", **machine())


if __name__ == "__main__":
    main()
