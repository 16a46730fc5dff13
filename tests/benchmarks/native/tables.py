"""The tables of compiled C: each a function that measures and prints, with what is required."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from tests.benchmarks.measuring import emit, median, module, ratio_of_rounds
from tests.benchmarks.native.floors import built, floor_seconds, peaks
from tests.benchmarks.native.programs import ALGORITHMS
from workbench.environments import ENVIRONMENTS, Gymnasium
from workbench.folders import CACHE_VARIABLE

T = 128
FASTER = {
    "gcc": {4: 1.0, 64: 0.97, 512: 0.97, 2048: 0.97},
    "zig": {4: 1.0, 64: 1.05, 512: 1.05, 2048: 1.0},
}
"""The least share of the hand-written PPO's speed, by number of environments."""
OVER_NUMPY = {4: 4.0, 512: 2.0}
SCALING = {4: 1.25, 64: 1.70, 512: 1.85, 2048: 1.85}
"""The least speed of two threads over that of one."""
ACTING = {4: 2e6, 16: 3e6}
"""The least environment steps per second of acting alone, from so many environments on."""


@dataclass(frozen=True)
class Settings:
    """The sizes of what is measured, and the compiler."""

    rounds: int
    seconds: float
    B: Sequence[int]
    floor: str
    purejaxrl: str
    rltools: str
    rltools_sac: str
    compiler: str
    variables: Mapping[str, str]
    quick: bool

    def single(self, *words: Any, cache: str = "") -> dict[str, Any]:
        """Return the line of one program in a process of its own."""
        given = ["--seconds", self.seconds, *words]
        more = {CACHE_VARIABLE: cache} if cache else {}
        return module(
            "native.one", *map(str, given), threads=1, variables={**self.variables, **more}
        )[-1]

    def floor_program(self, what: str) -> str | None:
        """Return the hand-written PPO; None, with a line that says why, where nothing builds it."""
        try:
            return self.floor or built("ppo_floor.cpp")
        except FileNotFoundError as error:
            emit(what=what, left_out=str(error))
            return None

    def rounds_of(self, name: str, *words: Any) -> list[dict[str, Any]]:
        """Return the lines of a benchmark that makes its rounds itself."""
        given = ["--rounds", self.rounds, "--seconds", self.seconds, *words]
        return module(f"native.{name}", *map(str, given), threads=1, variables=self.variables)


def ppo(settings: Settings) -> None:
    """PPO round by round against the hand-written one."""
    program = settings.floor_program("native / hand-written, ppo")
    if program is None:
        return
    for B in settings.B:
        [line] = settings.rounds_of("turns", "--floor", program, "--B", B, "--T", T)
        mine, peer = line["samples"]["1"], line["samples"]["peer"]
        value, interval = ratio_of_rounds(mine, peer)
        emit(
            what=f"native / hand-written, ppo, B={B}, {settings.compiler}",
            compiler=line["compiler"],
            ratio=value,
            interval=interval,
            required=FASTER[settings.compiler].get(B),
            steps_per_second=median(mine),
            floor_steps_per_second=median(peer),
            update_cpu_seconds=B * T / median(mine),
            **floor_seconds(line),
            samples=mine,
            floor_samples=peer,
        )


def threads(settings: Settings) -> None:
    """PPO on two processors, round by round against one, against one in each of two processes, and
    against the hand-written one on two; by the clock.
    """
    program = settings.floor_program("native / hand-written, ppo, 2 threads")
    if program is None:
        return
    for B in settings.B:
        words = ("--floor", program, "--B", B, "--T", T, "--threads", 1, 2)
        found = settings.rounds_of("turns", *words)[-1]["samples"]
        value, interval = ratio_of_rounds(found["2"], found["peer"])
        scaling, scaling_interval = ratio_of_rounds(found["2"], found["1"])
        most, most_interval = ratio_of_rounds(found["1 beside 1"], found["1"])
        emit(
            what=f"native / hand-written, ppo, 2 threads, B={B}, {settings.compiler}",
            ratio=value,
            interval=interval,
            required=1.0,
            two_over_one=scaling,
            two_over_one_interval=scaling_interval,
            required_two_over_one=SCALING.get(B),
            two_processes_over_one=most,
            two_processes_over_one_interval=most_interval,
            steps_per_second=median(found["2"]),
            floor_steps_per_second=median(found["peer"]),
            samples=found,
        )


def rollout(settings: Settings) -> None:
    """Acting alone."""
    sizes = settings.B if settings.quick else sorted({*ACTING, *settings.B})
    for line in settings.rounds_of("rollout", "--B", *sizes, "--T", T):
        low, high = _interval(line["samples"])
        emit(
            what=f"rollout without critic, B={line['B']}, {settings.compiler}",
            steps_per_second=median(line["samples"]),
            interval=[low, high],
            required=max((steps for B, steps in ACTING.items() if line["B"] >= B), default=None),
            floor_steps_per_second=peaks()["flops_per_second"] / line["flops_per_step"],
            samples=line["samples"],
        )


def compilation(settings: Settings) -> None:
    """CPU seconds of the compiler for PPO, the run-time unit being there already."""
    for way, required in (("blocks", 3.5), ("as written", 8.0))[: 1 if settings.quick else 2]:
        lines = []
        for _ in range(1 if settings.quick else 3):
            with tempfile.TemporaryDirectory() as cache:
                first = settings.single("--compile-only", "--program", "rollout", cache=cache)
                lines.append(settings.single("--compile-only", "--way", way, cache=cache))
        taken = [line["compiler_cpu_seconds"] for line in lines]
        emit(
            what=f"compilation, ppo, {way}, {settings.compiler}",
            compiler_cpu_seconds=median(taken),
            required=required,
            samples=taken,
            units=lines[-1]["units"],
            compiler_seconds=median([line["compiler_seconds"] for line in lines]),
            generation_cpu_seconds=median([line["generation_cpu_seconds"] for line in lines]),
            rollout_with_runtime_cpu_seconds=first["compiler_cpu_seconds"],
        )


def memory(settings: Settings) -> None:
    """The process that runs PPO, and what its arrays were predicted to take."""
    B = max(settings.B)
    line = settings.single("--program", "ppo", "--B", B, "--T", T)
    emit(
        what=f"memory, ppo, B={B}, {settings.compiler}",
        rss_mb=line["rss_mb"],
        required_rss_mb=120,
        allocated_mb=line["allocated_mb"],
        required_mb=14,
        predicted_mb=line["predicted_mb"],
        arrays_mb=line["arrays_mb"],
        scratch_mb=line["scratch_mb"],
        largest_mb=line["largest_mb"],
    )


def algorithms(settings: Settings) -> None:
    """Every algorithm on every environment written here, against NumPy."""
    environments = [name for name in ENVIRONMENTS if name != Gymnasium.__name__]
    if settings.quick:
        environments = ["CartPole"]
    _against_numpy(
        settings, ALGORITHMS[-1:] if settings.quick else ALGORITHMS, environments, OVER_NUMPY
    )


def external(settings: Settings) -> None:
    """An environment that is called from outside."""
    if find_spec("gymnasium") is None:
        emit(what="external", left_out="the package gymnasium is not installed")
        return
    names = ["a2c"] if settings.quick else ["reinforce", "a2c", "ppo"]
    _against_numpy(settings, names, ["Gymnasium:CartPole-v1"], dict.fromkeys(OVER_NUMPY, 1.0))


def _against_numpy(
    settings: Settings,
    programs: Sequence[str],
    environments: Sequence[str],
    required: Mapping[int, float],
) -> None:
    sizes = [4] if settings.quick else list(required)
    for environment in environments:
        for program in programs:
            words = ["--program", program, "--environment", environment, "--B", *sizes]
            try:
                lines = settings.rounds_of("pair", *words)
            except RuntimeError as error:
                emit(what=f"native / numpy, {program}, {environment}", failed=str(error)[-2000:])
                continue
            for line in lines:
                emit(**line, required=required[line["B"]], **floor_seconds(line))


def _interval(samples: Sequence[float]) -> list[float]:
    """Return the 95 % bootstrap interval of the median."""
    drawn = np.random.default_rng(0).choice(np.asarray(samples), (2000, len(samples)))
    return [float(end) for end in np.percentile(np.median(drawn, axis=1), [2.5, 97.5])]


TABLES: dict[str, Callable[[Settings], None]] = {
    table.__name__: table
    for table in (ppo, threads, rollout, compilation, memory, algorithms, external)
}
