"""What the benchmarks share: interleaved runs, medians with intervals, JSON lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).parents[2]
RESAMPLES = 2000
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def emit(**values: Any) -> None:
    """Print one result as a JSON line; floats with four significant digits."""
    print(json.dumps({name: _short(value) for name, value in values.items()}), flush=True)


def _short(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_short(entry) for entry in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def interleaved(
    ways: Mapping[str, Callable[[], float]], rounds: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """A B C A B C …: what each way returned in each round, the first `warm_up` rounds left out."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(warm_up + rounds):
        for name, way in ways.items():
            value = way()
            if turn >= warm_up:
                taken[name].append(value)
    return taken


def median(samples: Sequence[float]) -> float:
    """The middle sample."""
    return float(np.median(samples))


def ratio(slow: Sequence[float], fast: Sequence[float]) -> tuple[float, list[float]]:
    """Ratio of medians and its 95 % bootstrap interval; samples of a round are drawn together."""
    pairs = np.stack([np.asarray(slow), np.asarray(fast)])
    drawn = np.random.default_rng(0).integers(0, pairs.shape[1], (RESAMPLES, pairs.shape[1]))
    medians = np.median(pairs[:, drawn], axis=-1)
    low, high = np.percentile(medians[0] / medians[1], [2.5, 97.5])
    return median(slow) / median(fast), [float(low), float(high)]


def ratio_of_rounds(slow: Sequence[float], fast: Sequence[float]) -> tuple[float, list[float]]:
    """Median of the rounds' ratios and its 95 % bootstrap interval: for rounds within which both
    ran by turns, so that what disturbs one disturbs the other.
    """
    ratios = np.asarray(slow) / np.asarray(fast)
    drawn = np.random.default_rng(0).choice(ratios, (RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(drawn, axis=-1), [2.5, 97.5])
    return median(ratios), [float(low), float(high)]


def module(
    name: str, *words: str, threads: int, variables: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The JSON lines that one of these benchmarks prints, in a process of its own."""
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", *words]
    return lines_of(command, threads, variables)


def lines_of(
    command: Sequence[str], threads: int, variables: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The JSON lines that a command prints, with that many threads for linear algebra, and with
    these environment variables besides.
    """
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)) | dict(variables or {})
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def machine() -> dict[str, Any]:
    """What a figure depends on."""
    return {"cores": os.cpu_count(), "load": os.getloadavg()[0] if os.name == "posix" else None}
