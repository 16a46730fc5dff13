"""Predicted seconds against measured ones, over many variants of many programs.

    python -m tests.benchmarks.prediction --rounds 7
    python -m tests.benchmarks.prediction --backend native

Calibrates first, in the same process. The variants are those that take each step of `Vectorize`, on
native of `Persist`, alone, those of the automatic recipe, and some that random steps lead to.

A sample is the processor time of one run (a run has one thread), so that what others do on a shared
machine counts only where it takes the caches away; of the interleaved samples of a variant the
least is held against the prediction, and the median is printed beside. Targets: within a factor of
two for 80 % of the variants, and the order of two right for 90 % of the pairs whose times differ by
more than 1.3.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import combinations

from tests.benchmarks.measuring import emit, interleaved, machine, median
from tests.programs import PROGRAMS
from workbench.algorithms import a2c, ppo, reinforce
from workbench.backends import get
from workbench.measure.calibration.calibrate import calibrate
from workbench.program.values import Program
from workbench.transforms import Persist, Vectorize
from workbench.transforms.step.refusal import Refused
from workbench.variants.proposals import every_step
from workbench.variants.variant import Variant, optimize, variant

Sizes = dict[str, int]
SEED, DRAWN, LENGTH = 20261124, 30, 4
"""Of the random variants: what draws them, how many there are, and the most steps of one."""
LONGEST = 0.5
"""Seconds of a run beyond which a variant is left out: it would take all of the time."""


def programs() -> Iterator[tuple[Program, Sizes]]:
    """The programs, at sizes at which a run takes milliseconds."""
    large: dict[str, Sizes] = {
        "leaky_sum": {"B": 64, "T": 200},
        "returns": {"B": 32, "T": 200},
        "ranges": {"T": 200},
        "n_step": {"B": 64, "T": 200},
        "alignment": {"P": 64, "Q": 64},
        "statistics": {"B": 64, "T": 100},
        "shuffled": {"I": 20, "N": 500},
        "repeated": {"N": 200, "K": 100},
        "drawn": {"B": 64, "T": 64},
        "carried": {"B": 64, "I": 10, "T": 20},
        "delayed": {"T": 500},
        "table": {"I": 100},
        "recurrent_network": {"B": 64, "I": 10, "T": 20},
        "small_reinforce": {"B": 64, "I": 4, "T": 50},
        "small_ppo": {"B": 16, "I": 4, "T": 32},
    }
    for name, sizes in large.items():
        yield PROGRAMS[name][0](), sizes
    yield reinforce(), {"B": 64, "I": 2, "T": 100}
    yield a2c(), {"B": 16, "I": 20}
    yield ppo(), {"B": 16, "I": 1, "T": 64}


def variants(program: Program, sizes: Sizes, backend: str) -> Iterator[tuple[str, Variant]]:
    """As written, after each step of a kind alone, and the automatic recipe step by step."""
    root = variant(program)
    found = {"as written": root}
    alone = [*Vectorize.candidates(program)]
    if backend == "native":
        alone += Persist.candidates(program)
    for step in alone:
        try:
            found[repr(step)] = root.apply(step)
        except Refused:
            continue
    last = optimize(root, sizes=sizes, backend=backend)
    while last.parent is not None:
        found[", ".join(str(step) for step in last.steps)] = last
        last = last.parent
    yield from found.items()


def drawn() -> Iterator[tuple[str, Variant, Sizes]]:
    """Variants after a few random legal steps each."""
    dice, known = random.Random(SEED), list(programs())
    for number in range(DRAWN):
        program, sizes = dice.choice(known)
        chosen = variant(program)
        for _ in range(dice.randint(1, LENGTH)):
            steps = list(every_step(chosen.program))
            dice.shuffle(steps)
            for step in steps:
                try:
                    chosen = chosen.apply(step)
                except Refused:
                    continue
                break
        taken = ", ".join(map(str, chosen.steps))
        yield f"{program.name}: drawn {number}, {taken}", chosen, sizes


def sample(chosen: Variant, sizes: Sizes, backend: str) -> Callable[[], float]:
    """The processor seconds of one run, compilation not among them."""
    compiled = get(backend).compile(chosen.program)
    compiled.prepare()

    def run() -> float:
        start = time.process_time()
        compiled.run(sizes)
        return time.process_time() - start

    return run


def every_variant(backend: str) -> Iterator[tuple[str, Variant, Sizes]]:
    """All that are predicted and measured, by name."""
    for program, sizes in programs():
        for name, chosen in variants(program, sizes, backend):
            yield f"{program.name}: {name}", chosen, sizes
    yield from drawn()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--backend", choices=("numpy", "native"), default="numpy")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["WORKBENCH_CACHE"] = cache
        start = time.perf_counter()
        calibrate(given.backend)
        emit(what="calibration", seconds=time.perf_counter() - start)
        predicted: dict[str, float] = {}
        ways: dict[str, Callable[[], float]] = {}
        for key, chosen, sizes in every_variant(given.backend):
            found = chosen.predict(sizes, given.backend, threads=1)
            if found.seconds < LONGEST:
                predicted[key], ways[key] = found.seconds, sample(chosen, sizes, given.backend)
    report(predicted, interleaved(ways, given.rounds))


def report(predicted: dict[str, float], samples: dict[str, list[float]]) -> None:
    """A line for each variant, and how many predictions hold."""
    least = {name: min(taken) for name, taken in samples.items()}
    for name, taken in samples.items():
        emit(
            what=name,
            predicted=predicted[name],
            least=least[name],
            median=median(taken),
            ratio=predicted[name] / least[name],
        )
    close = [0.5 <= predicted[name] / least[name] <= 2.0 for name in least]
    pairs = [(a, b) if least[a] < least[b] else (b, a) for a, b in combinations(least, 2)]
    apart = [(a, b) for a, b in pairs if least[b] > 1.3 * least[a]]
    right = [predicted[a] < predicted[b] for a, b in apart]
    emit(what="within a factor of two", share=sum(close) / len(close), of=len(close), target=0.8)
    emit(what="order of pairs right", share=sum(right) / len(right), of=len(right), target=0.9)
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
