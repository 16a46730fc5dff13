"""Whole programs as compiled C: the same float32 bits from every build, and NumPy's float64 values.

Every algorithm on every environment that is written here, as written and in blocks. The sizes leave
a tail in the lanes and in the last block. NumPy runs what is compared with, in float64. No program
is excepted: powers in float32 are the run-time's own. Those in float64, and its other functions,
are the system's libm, so there values are compared within the tolerance and no bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.kernels.builds import Build
from tests.native_runs import THREADS, Way, differences
from workbench.algorithms import ALGORITHMS
from workbench.backends.numpy import NumPyBackend
from workbench.environments import ENVIRONMENTS, Gymnasium
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist, Vectorize
from workbench.transforms.step.refusal import Refused
from workbench.variants.variant import Variant, variant

SIZES = {"B": 20, "I": 2, "T": 24}
HIDDEN = (64, 64)
ESTIMATORS = {"reinforce": ("monte_carlo", "n_step", "td_lambda")}
SEED = 7
WAYS = ("as written", "in blocks")


@dataclass(frozen=True)
class Whole:
    """An algorithm on an environment, and the way in which it is ordered."""

    algorithm: str
    environment: str
    way: str
    estimator: str = ""

    def __str__(self) -> str:
        beside = f" ({self.estimator})" if self.estimator else ""
        return f"{self.algorithm}{beside} on {self.environment} {self.way}"

    def variant(self, hidden: tuple[int, ...] = HIDDEN) -> Variant:
        """The variant that runs."""
        more = {"estimator": self.estimator} if self.estimator else {}
        template = ALGORITHMS[self.algorithm]
        written: Program = template(environment=self.environment, hidden=hidden, **more)
        chosen = variant(written)
        return in_blocks(chosen) if self.way == "in blocks" else chosen


def in_blocks(chosen: Variant) -> Variant:
    """Environments in blocks of 16 and samples in blocks of 32, in as little memory as it takes.
    What cannot be in blocks is an axis.
    """
    dims = chosen.program.dim
    for dim, size in (("b", 16), ("k", 32)):
        if dim in dims:
            try:
                chosen = chosen.apply(Persist(dim, size))
            except Refused:
                chosen = chosen.apply(Vectorize(dim))
    return chosen.apply(Contract()).apply(Donate())


def everything() -> list[Whole]:
    """All of them; the estimators beyond the first on one environment."""
    environments = [name for name, cls in ENVIRONMENTS.items() if cls is not Gymnasium]
    chosen = [
        Whole(algorithm, environment, way)
        for algorithm in ALGORITHMS
        for environment in environments
        for way in WAYS
    ]
    more = [
        Whole(algorithm, "CartPole", way, estimator)
        for algorithm, estimators in ESTIMATORS.items()
        for estimator in estimators[1:]
        for way in WAYS
    ]
    return chosen + more


def ways_of(builds: Sequence[Build]) -> list[Way]:
    """In float32 as every build has it; in float64 as one does for each processor."""
    of_processors = {build.march: build for build in reversed(builds)}
    return [
        *(Way("float32", None, b, THREADS[k % len(THREADS)]) for k, b in enumerate(builds)),
        *(Way("float64", None, build, 1) for build in of_processors.values()),
    ]


def wrong_of(
    whole: Whole, builds: Sequence[Build], sizes: dict[str, int] = SIZES, **more: Any
) -> tuple[int, list[str]]:
    """How often a program ran, and what came out otherwise than it should."""
    program = whole.variant(**more).program
    outputs = NumPyBackend().compile(program).run(sizes, SEED, "float64").outputs
    ways = ways_of(builds)
    return len(ways), differences(program, outputs, sizes, SEED, ways)
