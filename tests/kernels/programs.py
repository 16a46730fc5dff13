"""Whole programs as compiled C: the same float32 bits from every build, and NumPy's float64 values.

Every algorithm, as written and in blocks: those that learn of what they just did on every
environment that is written here, the others on one. The sizes leave a tail in the lanes and in the
last block. NumPy runs what is compared with, in float64. No program
is excepted: powers in float32 are the run-time's own. Those in float64, and its other functions,
are the system's libm, so there values are compared within the tolerance and no bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.kernels.builds import Build
from tests.native_runs import THREADS, Way, differences
from workbench.algorithms import ALGORITHMS, DISTRIBUTED, FROM_LOGS, OFF_POLICY, TABULAR
from workbench.backends.numpy import NumPyBackend
from workbench.datasets.rows import rows_of
from workbench.environments import ENVIRONMENTS, Gymnasium
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms import Contract, Donate, Persist, Vectorize
from workbench.transforms.step.refusal import Refused
from workbench.variants.variant import Variant, variant

SIZES = {"B": 20, "I": 2, "T": 24}
HIDDEN = (64, 64)
TEMPLATES = {**ALGORITHMS, **OFF_POLICY, **DISTRIBUTED, **TABULAR, **FROM_LOGS}
MORE: dict[str, Sequence[Mapping[str, Any]]] = {
    "reinforce": ({"estimator": "n_step"}, {"estimator": "td_lambda"}, {"ends": True}),
    "dqn": ({"double": True, "duelling": True, "n": 3}, {"priorities": (0.6, 0.4)}),
}
"""Arguments of more programs of an algorithm, each on one environment."""
ON = dict.fromkeys(ALGORITHMS, "CartPole")
ON |= {"dqn": "CartPole", "ddpg": "Pendulum", "td3": "Pendulum", "sac": "Pendulum"}
ON |= dict.fromkeys(DISTRIBUTED, "CartPole")
ON |= dict.fromkeys((*TABULAR, *FROM_LOGS), "FrozenLake-v1")
"""The environment of an algorithm that runs on one."""
EARLY: dict[str, dict[str, Any]] = {name: {"learning_starts": 100} for name in OFF_POLICY}
EARLY["dqn"]["every"] = 2
"""Arguments by which an algorithm does in a few updates all that it does."""
OWN_SIZES = {
    **{name: {"I": 5, "T": 3, "N": 240, "K": 40} for name in OFF_POLICY},
    **{name: {"T": 8} for name in TABULAR},
    **{name: {"W": 20, "P": 2, "K": 24} for name in FROM_LOGS},
}
"""Sizes that algorithms have instead of those of all: replay that overwrites its first steps, and
tables of few steps, since equal actions soon differ by roundings that each dtype has its own.
"""
SEED = 7
WAYS = ("as written", "in blocks")


@dataclass(frozen=True)
class Whole:
    """An algorithm on an environment, and the way in which it is ordered."""

    algorithm: str
    environment: str
    way: str
    more: tuple[tuple[str, Any], ...] = ()
    """Arguments that are not the algorithm's own."""

    def __str__(self) -> str:
        said = [value if isinstance(value, str) else name for name, value in self.more]
        beside = f" ({', '.join(said)})" if said else ""
        return f"{self.algorithm}{beside} on {self.environment} {self.way}"

    def variant(self, hidden: tuple[int, ...] = HIDDEN) -> Variant:
        """The variant that runs."""
        template = TEMPLATES[self.algorithm]
        more = {**EARLY.get(self.algorithm, {}), **dict(self.more)}
        if "hidden" in template.signature.parameters:
            more["hidden"] = hidden
        chosen = variant(template(environment=self.environment, **more))
        return in_blocks(chosen) if self.way == "in blocks" else chosen

    def sizes(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Its own sizes, and of the others those that it has."""
        known = TEMPLATES[self.algorithm].signature.parameters
        shared = {name: n for name, n in sizes.items() if name in known}
        return shared | OWN_SIZES.get(self.algorithm, {})


def in_blocks(chosen: Variant) -> Variant:
    """Environments in blocks of 16 and samples in blocks of 32, in as little memory as it takes.
    What cannot be in blocks is an axis. Of members that have a network each, a block of a GPU has
    room for 8.
    """
    dims = chosen.program.dim
    for dim, size in (("b", 8 if chosen.program.name == "openai_es" else 16), ("k", 32)):
        if dim in dims:
            try:
                chosen = chosen.apply(Persist(dim, size))
            except Refused:
                chosen = chosen.apply(Vectorize(dim))
    return chosen.apply(Contract()).apply(Donate())


def everything() -> list[Whole]:
    """All of them; with more arguments on one environment."""
    environments = [name for name, cls in ENVIRONMENTS.items() if cls is not Gymnasium]
    chosen = [
        Whole(algorithm, environment, way)
        for algorithm in TEMPLATES
        for environment in (environments if algorithm in ALGORITHMS else (ON[algorithm],))
        for way in WAYS
    ]
    more = [
        Whole(algorithm, ON[algorithm], way, tuple(arguments.items()))
        for algorithm, several in MORE.items()
        for arguments in several
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


def rows(program: Program, sizes: Mapping[str, int], dtype: str) -> dict[str, Any]:
    """The rows of the data sets that a program reads, drawn."""
    known = resolve(program.equations, sizes)
    return rows_of(program.equations, None).tables(known, dtype)


def wrong_of(
    whole: Whole, builds: Sequence[Build], sizes: dict[str, int] = SIZES, **more: Any
) -> tuple[int, list[str]]:
    """How often a program ran, and what came out otherwise than it should."""
    program, at = whole.variant(**more).program, whole.sizes(sizes)
    given = rows(program, at, "float64")
    outputs = NumPyBackend().compile(program).run(at, SEED, "float64", given=given).outputs
    ways = ways_of(builds)
    return len(ways), differences(program, outputs, at, SEED, ways)
