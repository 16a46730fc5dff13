"""Returns of DQN, SAC and TD3 beside those of CleanRL's scripts with the same settings and steps:

    python -m tests.learning.cleanrl ours --record tests/learning/cleanrl.jsonl
    python -m tests.learning.cleanrl theirs --checkout DIR --python ENVIRONMENT/bin/python \\
        --record tests/learning/cleanrl.jsonl
    python -m tests.learning.cleanrl compare

A run's score is the mean return of the episodes that end within the last tenth of its steps.
Interrupted, a record goes on from there.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench import algorithms

RECORD = Path(__file__).with_name("cleanrl.jsonl")
STEPS = {"dqn": 100_000, "sac": 15_000, "td3": 25_000}
TRAIN_EVERY = {"dqn": 10, "sac": 1, "td3": 1}
STARTS = 1_000
"""Steps before SAC and TD3 learn; the scripts' own 5,000 and 25,000 are meant for a million."""
SEEDS = {"workbench": 10, "CleanRL": 5}
SCRIPTS = {
    "dqn": ("dqn.py", ["--env-id", "CartPole-v1"]),
    "sac": ("sac_continuous_action.py", ["--env-id", "Pendulum-v1", "--learning-starts", STARTS]),
    "td3": ("td3_continuous_action.py", ["--env-id", "Pendulum-v1", "--learning-starts", STARTS]),
}
EPISODE = re.compile(r"global_step=(\d+), episodic_return=\[?([-\d.]+)")
RESAMPLES = 100_000


def ours(algorithm: str, seed: int) -> list[tuple[int, float]]:
    """The step and the return of each episode that ends in a run of ours."""
    updates = STEPS[algorithm] // TRAIN_EVERY[algorithm]
    starts = {} if algorithm == "dqn" else {"learning_starts": STARTS}
    program = getattr(algorithms, algorithm)(I=updates, **starts)
    result = wb.run(program, "native", seed=seed, progress=False)
    ends = zip(result["episode_return"], result["episodes"], strict=True)
    return [
        ((i + 1) * TRAIN_EVERY[algorithm], float(mean))
        for i, (mean, count) in enumerate(ends)
        for _ in range(int(count))
    ]


def theirs(algorithm: str, seed: int, python: str, checkout: Path) -> list[tuple[int, float]]:
    """The same of a run of CleanRL's script, on one thread."""
    script, words = SCRIPTS[algorithm]
    steps = ["--total-timesteps", STEPS[algorithm], "--seed", seed, "--no-cuda"]
    command = [python, checkout.resolve() / "cleanrl" / script, *words, *steps]
    one = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(checkout.resolve())}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            list(map(str, command)), cwd=folder, env=one, text=True, capture_output=True, check=True
        )
    return [(int(step), float(value)) for step, value in EPISODE.findall(done.stdout)]


def score(algorithm: str, episodes: list[tuple[int, float]]) -> float:
    """The mean return within the last tenth of the steps."""
    late = [value for step, value in episodes if step > 0.9 * STEPS[algorithm]]
    return float(np.mean(late))


def recorded(path: Path = RECORD) -> dict[tuple[str, str, int], float]:
    """The scores that a file has, by algorithm, whose, and seed."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {(one["algorithm"], one["by"], one["seed"]): one["score"] for one in found}


def difference(algorithm: str, path: Path = RECORD) -> tuple[float, tuple[float, float]]:
    """Our mean score less theirs, and its 99 % bootstrap interval over seeds."""
    scores = recorded(path)
    draw = np.random.default_rng(0)
    means, resampled = [], []
    for by, seeds in SEEDS.items():
        found = np.array([scores[algorithm, by, seed] for seed in range(1, seeds + 1)])
        means.append(found.mean())
        resampled.append(found[draw.integers(0, seeds, (RESAMPLES, seeds))].mean(axis=1))
    low, high = np.percentile(resampled[0] - resampled[1], [0.5, 99.5])
    return float(means[0] - means[1]), (float(low), float(high))


def versions(python: str) -> dict[str, str]:
    """The versions of the packages that a run of CleanRL's took."""
    code = "import torch, gymnasium, numpy, json; print(json.dumps({m.__name__: m.__version__"
    code += " for m in (torch, gymnasium, numpy)}))"
    said = subprocess.run([python, "-c", code], text=True, capture_output=True, check=True)
    found: dict[str, str] = json.loads(said.stdout)
    return found


def record(
    path: Path,
    by: str,
    algorithms: list[str],
    run: Callable[[str, int], list[tuple[int, float]]],
    also: dict[str, Any],
) -> None:
    """Write down what is not in the file yet."""
    done = recorded(path)
    with path.open("a", encoding="utf-8") as file:
        for algorithm, seed in product(algorithms, range(1, SEEDS[by] + 1)):
            if (algorithm, by, seed) in done:
                continue
            episodes = run(algorithm, seed)
            line = {"algorithm": algorithm, "by": by, "seed": seed}
            line |= {"score": round(score(algorithm, episodes), 2), "episodes": len(episodes)}
            print(json.dumps(line | also), file=file, flush=True)


def complete(path: Path = RECORD) -> list[str]:
    """The algorithms of which a file has all runs."""
    found = recorded(path)
    wanted = {(by, seed) for by, seeds in SEEDS.items() for seed in range(1, seeds + 1)}
    return [
        one for one in STEPS if wanted <= {(by, seed) for name, by, seed in found if name == one}
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ours", "theirs", "compare"])
    parser.add_argument("--algorithms", nargs="+", choices=list(STEPS), default=list(STEPS))
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--checkout", type=Path, help="the folder of CleanRL's repository")
    parser.add_argument("--python", help="the Python that has what CleanRL needs")
    given = parser.parse_args()
    if given.what == "ours":
        record(given.record, "workbench", given.algorithms, ours, {})
    elif given.what == "theirs":
        revision = subprocess.run(
            ["git", "-C", given.checkout, "rev-parse", "HEAD"],
            text=True,
            capture_output=True,
            check=True,
        ).stdout.strip()
        record(
            given.record,
            "CleanRL",
            given.algorithms,
            lambda algorithm, seed: theirs(algorithm, seed, given.python, given.checkout),
            {"revision": revision, **versions(given.python)},
        )
    else:
        for algorithm in complete(given.record):
            found, interval = difference(algorithm, given.record)
            print(json.dumps({"algorithm": algorithm, "difference": found, "interval": interval}))


if __name__ == "__main__":
    main()
