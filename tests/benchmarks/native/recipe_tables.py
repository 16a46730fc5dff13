"""The tables of what a recipe makes, beside peers: each a function that measures and prints, with
what is required. A peer is left out where the command did not name it.
"""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

from tests.benchmarks.measuring import (
    THREAD_VARIABLES,
    emit,
    lines_of,
    median,
    ratio_of_rounds,
)
from tests.benchmarks.native.floors import floor_seconds
from tests.benchmarks.native.recipes import LAYERS
from tests.benchmarks.native.tables import Settings, T

OVER_PUREJAXRL = {4: 1.8, 64: 2.5, 512: 2.5, 2048: 2.5}
EPISODES = {"episodes, 64 wide": (0.10, 16), "episodes, 256 wide": (1.2, 20)}
"""The most seconds of an update on two processors, and megabytes."""
NOISY_SECONDS, DEEPER = 0.15, 4.6
"""The most seconds of an update; of one with eight layers over one with two."""
OVER_RLTOOLS, OVER_REPLAYED = 4.0, 0.8
UPDATES, REPLAYED_UPDATES = 74, 10_000
"""Of RLtools on the pendulum: 300,000 steps of four environments, 1,024 at a time; of its SAC."""
PEER_SECONDS, PEER_RUNS = 3.0, 3
"""How long a run of a peer lasts, about, and how many there are in a process."""
FIRST_STEPS = 100_000
"""Of the first run of a peer, about, from which the length of the others follows."""


def made(settings: Settings, program: str, *words: Any) -> dict[str, Any]:
    """Return the line of a program under its recipe."""
    return settings.rounds_of("recipes", "--program", program, *words)[-1]


def said(line: dict[str, Any]) -> dict[str, Any]:
    """Return what every line says, with its floors."""
    names = ("samples", "allocated_mb", "predicted_mb", "compiler_cpu_seconds")
    return {name: line[name] for name in names} | floor_seconds(line)


def episodes(settings: Settings) -> None:
    """REINFORCE over long episodes, by the clock on two processors."""
    for program, (seconds, megabytes) in list(EPISODES.items())[: 1 if settings.quick else None]:
        line = made(settings, program, "--threads", 2)
        emit(
            what=f"reinforce, {program}, 2 threads, {settings.compiler}",
            update_seconds=line["update_seconds"],
            required=seconds,
            required_mb=megabytes,
            **said(line),
        )


def noisy(settings: Settings) -> None:
    """TimeRL's PPO, by the clock on two processors."""
    line = made(settings, "noisy, 2 layers", "--threads", 2)
    emit(
        what=f"ppo, noisy, 2 threads, {settings.compiler}",
        update_seconds=line["update_seconds"],
        required=NOISY_SECONDS,
        **said(line),
    )
    if not settings.quick:
        deeper = made(settings, "noisy, 8 layers", "--threads", 2)
        emit(
            what=f"ppo, noisy, 8 layers over 2, 2 threads, {settings.compiler}",
            ratio=deeper["update_seconds"] / line["update_seconds"],
            required=DEEPER,
            **said(deeper),
        )


def pendulum(settings: Settings) -> None:
    """PPO in RLtools' setting."""
    _beside_rltools(settings, "pendulum", "ppo", settings.rltools, UPDATES, OVER_RLTOOLS)


def replayed(settings: Settings) -> None:
    """SAC in RLtools' setting."""
    peer = settings.rltools_sac
    _beside_rltools(settings, "pendulum, replayed", "sac", peer, REPLAYED_UPDATES, OVER_REPLAYED)


def _beside_rltools(
    settings: Settings, program: str, called: str, peer: str, updates: int, required: float
) -> None:
    """A program on one processor, in rounds with RLtools where it was built."""
    ours, theirs = [], []
    for _ in range(settings.rounds):
        line = made(settings, program, "--rounds", 1)
        ours.append(line["update_seconds"])
        if peer:
            theirs.append(child_seconds(peer) / updates)
    value, interval = ratio_of_rounds(theirs, ours) if theirs else (None, None)
    emit(
        what=f"rltools / native, {called}, pendulum, {settings.compiler}",
        update_cpu_seconds=median(ours),
        peer_update_cpu_seconds=median(theirs) if theirs else None,
        ratio=value,
        interval=interval,
        required=required,
        **said(line | {"samples": ours}),
        peer_samples=theirs,
    )


def purejaxrl(settings: Settings) -> None:
    """PPO on two processors, process by process in turns with PureJaxRL."""
    if not settings.purejaxrl:
        emit(what="native / purejaxrl, ppo", left_out="the command names no --purejaxrl")
        return
    for B in settings.B:
        ours, theirs, total = [], [], max(FIRST_STEPS // (B * T), 2) * B * T
        for _ in range(settings.rounds):
            words = ("--B", B, "--threads", 2, "--rounds", 1)
            ours.append(made(settings, "cartpole, 2 layers", *words)["steps_per_second"])
            asked = ("--num-envs", B, "--num-steps", T, "--total", total, "--reps", PEER_RUNS)
            line = lines_of([*shlex.split(settings.purejaxrl), *map(str, asked)], threads=2)[-1]
            theirs.append(line["sps_best"])
            total = round(line["sps_best"] * PEER_SECONDS) // (B * T) * B * T
        value, interval = ratio_of_rounds(ours, theirs)
        emit(
            what=f"native / purejaxrl, ppo, 2 threads, B={B}, {settings.compiler}",
            ratio=value,
            interval=interval,
            required=OVER_PUREJAXRL.get(B),
            steps_per_second=median(ours),
            peer_steps_per_second=median(theirs),
            samples=ours,
            peer_samples=theirs,
        )


def layers(settings: Settings) -> None:
    """CPU seconds from a program as written to its C, by the number of layers: linear within a
    fifth, whatever is not for layers taking more of the time where there are few.
    """
    taken = {}
    for n in LAYERS[: 1 if settings.quick else None]:
        lines = [made(settings, f"cartpole, {n} layers", "--generate-only") for _ in range(3)]
        taken[n] = median([line["generation_cpu_seconds"] for line in lines])
    each = taken[LAYERS[0]] / LAYERS[0]
    emit(
        what="trace, recipe, lowering and C of ppo, by layers",
        generation_cpu_seconds=taken,
        over_linear={n: seconds / each / n for n, seconds in taken.items()},
        required=1.2,
    )


def child_seconds(command: str) -> float:
    """Return the processor seconds of a command, with one thread for linear algebra."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    alone = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
    subprocess.run(shlex.split(command), env=alone, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


TABLES: dict[str, Callable[[Settings], None]] = {
    table.__name__: table for table in (episodes, noisy, pendulum, replayed, purejaxrl, layers)
}
