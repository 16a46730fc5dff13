"""PPO as compiled C and the hand-written one by turns in short slices, which make up the rounds:
where the speed of a shared machine changes within seconds, it changes for both. Ours is as the
recipe for so many threads makes it.

python -m tests.benchmarks.native.turns --floor ppo_floor --B 64 --threads 1 2
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
from collections.abc import Callable
from functools import partial
from itertools import count
from multiprocessing.connection import Connection

from tests.benchmarks.measuring import emit
from tests.benchmarks.native.floors import counted, hand_written
from tests.benchmarks.native.programs import program_of
from tests.benchmarks.native.runs import Rounds
from workbench.backends.native.backend import NativeBackend
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.variants.variant import optimize

Slice = Callable[[float], tuple[int, float]]
"""Runs for about so many seconds; returns the environment steps, and the seconds that they took."""
SLICE = 0.5
"""The seconds of a slice. At the begin of one a run's threads are woken, and moved to processors of
their own: where slices are shorter, that is what is measured.
"""


class HandWritten:
    """The hand-written PPO at some sizes: it leaves the first fifth of its updates out."""

    LEAST_UPDATES = 5

    def __init__(self, program: str, B: int, T: int, threads: int) -> None:
        self.program, self.B, self.T, self.threads = program, B, T, threads
        self.each = self._seconds(self.LEAST_UPDATES)

    def run(self, seconds: float) -> tuple[int, float]:
        """Run for about that long beside what is left out; return steps, and their seconds."""
        updates = max(self.LEAST_UPDATES, round(1.25 * seconds / self.each))
        kept = updates - updates // 5
        return kept * self.B * self.T, kept * self._seconds(updates)

    def _seconds(self, updates: int) -> float:
        line = hand_written(self.program, self.B, self.T, 4, 4, updates, self.threads)
        speed: float = line["sps_cpu" if self.threads == 1 else "sps_median"]
        return self.B * self.T / speed


class Beside:
    """The same program on one thread in two processes at once, of which one is ours: what two
    threads could reach at most on this machine, whose processors may share a core.
    """

    def __init__(self, B: int, T: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.asked, theirs = context.Pipe()
        context.Process(target=_answer, args=(theirs, B, T), daemon=True).start()
        _, self.mine = _made(B, T, 1, by_the_clock=True)
        self.asked.recv()  # it is ready

    def run(self, seconds: float) -> tuple[int, float]:
        """Run both for about that long; return the steps of both, and the seconds."""
        self.asked.send(seconds)
        steps, taken = self.mine.steps_and_seconds(seconds)
        other_steps, other_taken = self.asked.recv()
        return steps + round(other_steps / other_taken * taken), taken


def _made(B: int, T: int, threads: int, by_the_clock: bool) -> tuple[CompiledProgram, Rounds]:
    """PPO as the recipe for so many threads makes it, and its rounds."""
    sizes = {"B": B, "T": T}
    chosen = optimize(program_of("ppo", "CartPole"), backend="native", sizes=sizes, threads=threads)
    compiled = NativeBackend().compile(chosen.program)
    return compiled, Rounds(compiled, sizes, threads if by_the_clock else None)


def _answer(asked: Connection, B: int, T: int) -> None:
    _, rounds = _made(B, T, 1, by_the_clock=True)
    asked.send(None)
    with contextlib.suppress(EOFError):  # nobody asks any more
        while True:
            asked.send(rounds.steps_and_seconds(asked.recv()))


def rounds_of(ways: dict[str, Slice], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Return the environment steps per second of each way in each round, which has slices by turns
    until every way has run for so many seconds.
    """
    found: dict[str, list[float]] = {name: [] for name in ways}
    turn = count()
    for _ in range(rounds):
        steps, taken = dict.fromkeys(ways, 0), dict.fromkeys(ways, 0.0)
        while min(taken.values()) < seconds:
            names = list(ways) if next(turn) % 2 == 0 else list(ways)[::-1]
            for name in names:
                some, spent = ways[name](min(SLICE, seconds))
                steps[name] += some
                taken[name] += spent
        for name in ways:
            found[name].append(steps[name] / taken[name])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floor", required=True, help="the hand-written PPO")
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=128)
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="of ours; its the last")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    by_the_clock = given.threads != [1]
    made = {n: _made(given.B, given.T, n, by_the_clock) for n in given.threads}
    peer = HandWritten(given.floor, given.B, given.T, given.threads[-1])
    ways: dict[str, Slice] = {
        str(n): partial(Rounds.steps_and_seconds, rounds) for n, (_, rounds) in made.items()
    }
    ways["peer"] = peer.run
    if given.threads == [1, 2]:
        ways["1 beside 1"] = Beside(given.B, given.T).run
    found = rounds_of(ways, given.rounds, given.seconds)
    compiled, rounds = made[given.threads[0]]
    emit(
        what=f"ppo, B={given.B}",
        compiler=str(compiled.compiler),
        samples=found,
        **counted(compiled, rounds.sizes, rounds.last, rounds.threads),
    )


if __name__ == "__main__":
    main()
