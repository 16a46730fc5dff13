"""Learn from logs with SwiftRL's variants, and evaluate the policies: `make learn` holds them to
the least that is expected, and

    python -m tests.learning.swiftrl --record tests/learning/swiftrl.jsonl

writes down what they reach, with the time that they take beside the machine's load. Interrupted,
it goes on from there.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import workbench as wb
from tests.benchmarks.measuring import machine
from tests.learning.test_tabular import evaluated
from workbench import environments
from workbench.algorithms import swiftrl

LEAST = {"FrozenLake-v1": 0.70, "Taxi-v4": 7.8}
"""The least mean return of a policy; the best ones have 0.74 and 7.93."""

NEAR = {"FrozenLake-v1": 0.01, "Taxi-v4": 0.1}
"""The most that returns with whole numbers and with floats may differ."""

ROWS = {"FrozenLake-v1": 1_000_000, "Taxi-v4": 2_000_000}
AVERAGES, PASSES = 20, 2
"""Few passes between averages: values spread from the goal by what other workers have seen."""


class Run(NamedTuple):
    """A variant, its environment and the number of workers."""

    environment: str
    workers: int
    average: str
    rule: str
    order: str
    numbers: str

    def __str__(self) -> str:
        return "-".join(map(str, self))


VARIANTS = list(product(("Q", "SARSA"), ("SEQ", "RAN", "STR"), ("FP32", "INT32")))
RUNS = [
    *(Run("FrozenLake-v1", n, "plain", *v) for n in (125, 2000) for v in VARIANTS),
    *(Run("Taxi-v4", 125, "plain", *v) for v in VARIANTS),
    *(Run("Taxi-v4", 2000, "visits", *v) for v in VARIANTS),
]


@cache
def log(environment: str) -> dict[str, Any]:
    """The log of an environment."""
    return environments.Tabular(environment).log(ROWS[environment])


@cache
def score(run: Run) -> dict[str, float]:
    """The mean return of what a variant learns, and the seconds of learning."""
    program = swiftrl(**{k: v for k, v in run._asdict().items() if k != "workers"})
    sizes = {"W": run.workers, "I": AVERAGES, "P": PASSES}
    rows = {"log": log(run.environment)}
    result = wb.run(program, "native", data=rows, sizes=sizes, progress=False)
    steps = environments.Tabular(run.environment).time_limit
    assert steps is not None
    found = evaluated(run.environment, np.asarray(result["table"]), steps)
    return {"score": round(found, 4), "seconds": round(float(result.seconds), 3)}


def recorded(path: Path) -> set[Run]:
    """The runs that a file has."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {Run(*(line[name] for name in Run._fields)) for line in found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, required=True)
    path = parser.parse_args().record
    done = recorded(path)
    with path.open("a", encoding="utf-8") as file:
        for run in RUNS:
            if run not in done:
                line = {**run._asdict(), **score(run), **machine()}
                print(json.dumps(line), file=file, flush=True)


if __name__ == "__main__":
    main()
