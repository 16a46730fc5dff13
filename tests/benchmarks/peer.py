"""One update of REINFORCE against the same in another library, process by process in turns.

    python -m tests.benchmarks.peer --peer PATH/reinforce.py --python ENVIRONMENT/bin/python

The peer is a script that takes --impl, --style, --num-envs, --T, --hidden, --iters and --threads,
and prints a JSON line with `iter_s` and `iter_s_best`.
"""

from __future__ import annotations

import argparse
from typing import Any

from tests.benchmarks.measuring import emit, lines_of, machine, median, module, ratio


def ours(given: argparse.Namespace, threads: int) -> dict[str, Any]:
    """The steady state's JSON line."""
    words = ["--B", given.B, "--T", given.T, "--hidden", given.hidden, "--I", given.iters]
    return module("steady", *map(str, words), threads=threads)[-1]


def theirs(given: argparse.Namespace, threads: int) -> dict[str, Any]:
    """The peer's JSON line."""
    words = [given.python, given.peer, "--impl", given.impl, "--style", given.style]
    words += ["--num-envs", given.B, "--T", given.T, "--hidden", given.hidden]
    words += ["--iters", given.iters, "--threads", threads]
    return lines_of([str(word) for word in words], threads)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True, help="the peer's script")
    parser.add_argument("--python", required=True, help="the Python that has the peer's library")
    parser.add_argument("--impl", default="torch")
    parser.add_argument("--style", default="batch")
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=200)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--iters", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    for threads in given.threads:
        pairs = [(ours(given, threads), theirs(given, threads)) for _ in range(given.rounds)]
        mine = [a["update_seconds"] for a, _ in pairs]
        peer = [b["iter_s"] for _, b in pairs]
        value, interval = ratio(peer, mine)
        emit(
            what=f"{given.impl} {given.style} / workbench",
            B=given.B,
            T=given.T,
            threads=threads,
            update_seconds=median(mine),
            peer_seconds=median(peer),
            ratio=value,
            interval=interval,
            of_least=min(b["iter_s_best"] for _, b in pairs) / min(a["least"] for a, _ in pairs),
            target=0.8,
            samples=mine,
            peer_samples=peer,
            floor_seconds=median([a["floor_seconds"] for a, _ in pairs]),
            other_load=[b.get("other") for _, b in pairs],
        )
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
