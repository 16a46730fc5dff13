"""Environment steps per second of DQN on CartPole, one environment and 10,000 steps of replay, in
turns with Stable-Baselines3 where a Python that has it is named.

    python -m tests.benchmarks.dqn --peer ENVIRONMENT/bin/python

A run acts, stores and learns: what compiling and importing take is left out on both sides. One
thread. `dqn.jsonl` has a run.
"""

from __future__ import annotations

import argparse

import workbench as wb
from tests.benchmarks.measuring import (
    REPOSITORY,
    emit,
    lines_of,
    machine,
    median,
    ratio_of_rounds,
)
from workbench.algorithms import dqn

UPDATE = 10
"""Environment steps from one update to the next."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="the Python that has Stable-Baselines3")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--starts", type=int, default=1000, help="steps before the first update")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    chosen = wb.optimize(dqn(T=UPDATE, learning_starts=given.starts), backend="native", threads=1)
    script = REPOSITORY / "tests" / "benchmarks" / "rivals" / "sb3_dqn.py"
    sizes = {"I": given.steps // UPDATE}
    wb.run(chosen, "native", sizes={"I": 1}, threads=1, progress=False)  # compiled now
    own: list[float] = []
    peer: list[float] = []
    versions = None
    for seed in range(given.rounds):
        done = wb.run(chosen, "native", sizes=sizes, seed=seed, threads=1, progress=False)
        own.append(sizes["I"] * UPDATE / done.seconds)
        if given.peer:
            words = (given.peer, script, "--steps", given.steps, "--starts", given.starts)
            (line,) = lines_of([*map(str, words), "--seed", str(seed)], threads=1)
            peer.append(line["steps_per_second"])
            versions = line["versions"]
    emit(what="dqn, native, 1 thread", steps_per_second=median(own), samples=own)
    if peer:
        faster, interval = ratio_of_rounds(own, peer)
        emit(
            what="native / stable-baselines3, dqn",
            ratio=faster,
            interval=interval,
            required=10.0,
            steps_per_second=median(peer),
            samples=peer,
            versions=versions,
        )
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
