"""Seconds and memory on a GPU: PPO at three sizes, its steps one by one, large observations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from tests.gpu.devices import Asked, compiled
from workbench.algorithms import ppo, reinforce
from workbench.environments import Noisy
from workbench.errors import OutOfMemoryError
from workbench.measure.profile import profile
from workbench.program.values import Program
from workbench.transforms import (
    Accumulate,
    Contract,
    Donate,
    Persist,
    Recompute,
    Swap,
    Vectorize,
)
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant, optimize, variant

ROUNDS = 3
UPDATES = {2048: 20, 16384: 10, 131072: 4}
"""Those of a run, by the number of environments."""
CLOSE = 1e-4
"""The relative difference of losses in float32: 3e-7 on a processor."""
PROFILED = 4
"""The updates of a run that is timed kernel by kernel."""
LONG, LONGEST = 10.0, 150.0
"""The seconds of a run that is timed once, and of one that is none."""
EVERY = ("stored", "computed again", "swapped")
LARGE = ((8, 1000, EVERY), (32, 1000, EVERY), (128, 1000, EVERY), (256, 500, EVERY[1:]))
LARGE += ((256, 1000, EVERY[1:2]),)
"""Sides of observations with steps, and where they are: as TimeRL has them."""
IN_BLOCKS = (Persist("b", 16, 16), Contract())
OF_LARGE: Mapping[str, tuple[Transform, ...]] = {
    "stored": IN_BLOCKS,
    "computed again": (
        Accumulate("t", ("gradient.policy.weight_1",)),
        Recompute("environment.observe"),
        Recompute("environment.draw"),
        *IN_BLOCKS,
    ),
    "swapped": (Vectorize("b"), Contract(), Swap("environment.observe")),
}
STEPS: tuple[tuple[str, tuple[Transform, ...]], ...] = (
    ("as written", ()),
    ("vectorized", (Vectorize("b"), Vectorize("k"))),
    ("folded", (Vectorize("b"), Vectorize("k"), Contract(), Donate())),
    ("in blocks", (Persist("b", 16, 128), Persist("k", 32, 128))),
    ("in blocks, folded", (Persist("b", 16, 128), Persist("k", 32, 128), Contract(), Donate())),
)


def measured(program: Program, sizes: Mapping[str, int], where: str, rounds: int) -> dict[str, Any]:
    """The least seconds of a run of some rounds, behind one that does not count, if there are any;
    and its memory.
    """
    made = compiled(program, where)
    work = made.prepare()
    runs = [made.run(sizes, seed) for seed in range(rounds + 1)]
    return {
        "seconds": min(run.seconds for run in runs[1:] or runs),
        "compiling": round(work.seconds, 2),
        "peak": dict(runs[0].peak),
    }


def same_losses(asked: Asked) -> Iterator[dict[str, Any]]:
    """Tell how far the losses of the rival in JAX are from ours, where it is installed."""
    if not asked.few and find_spec("jax") is not None:
        from tests.benchmarks.rivals.losses import compared

        found = compared()
        yield {**found, "wrong": [] if max(found["off"]) < CLOSE else ["other losses than JAX"]}


def of_ppo(asked: Asked) -> Iterator[dict[str, Any]]:
    """PPO on CartPole at three sizes, beside JAX where it is installed."""
    few = asked.few
    for count, updates in ((64, 2),) if few else UPDATES.items():
        if not asked.wants(f"ppo {count}"):
            continue
        sizes = {"B": count, "I": updates} | ({"T": 4} if few else {})
        chosen = optimize(ppo(), sizes=sizes, backend="cuda")
        found = measured(chosen.program, sizes, asked.where, 1 if few else ROUNDS)
        steps = count * sizes.get("T", 128) * sizes["I"]
        predicted = chosen.predict(sizes, backend="cuda").seconds
        yield {
            "benchmark": "ppo",
            "B": count,
            **found,
            "steps_per_second": round(steps / found["seconds"]),
            "predicted_seconds": predicted,
        }
    for count in () if few or find_spec("jax") is None else UPDATES:
        for precision in ("highest", "default"):
            if asked.wants(f"jax {count} {precision}"):
                yield _rival(count, precision)


def _rival(count: int, precision: str) -> dict[str, Any]:
    module = "tests.benchmarks.rivals.jax_ppo"
    words = ["--B", str(count), "--updates", str(UPDATES[count]), "--precision", precision]
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        env={**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"benchmark": "jax ppo", "B": count, "failed": done.stderr[-500:]}
    line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"benchmark": "jax ppo", **line}


def by_kernel(asked: Asked) -> Iterator[dict[str, Any]]:
    """The seconds of each of PPO's kernels, and those of a run that nothing times."""
    for count in () if asked.few else UPDATES:
        if asked.wants(f"ppo {count}"):
            sizes = {"B": count, "I": PROFILED}
            chosen = optimize(ppo(), sizes=sizes, backend="cuda")
            found = profile(chosen, "cuda", sizes, progress=False)
            about = {"B": count, "updates": PROFILED}
            yield about | {
                "seconds": found.seconds,
                "untimed_seconds": found.untimed_seconds,
            }
            for row in found.by("kernel").rows:
                yield about | {"kernel": row.name, "calls": row.calls, "seconds": row.seconds}


def of_steps(asked: Asked) -> Iterator[dict[str, Any]]:
    """PPO after each of the steps: time and peak."""
    few = asked.few
    sizes = {"B": 32, "I": 1, "T": 4} if few else {"B": 2048, "I": 2, "T": 128}
    for name, steps in STEPS[-1:] if few else STEPS:
        if asked.wants(name):
            found = _timed(ppo(), steps, sizes, asked.where)
            yield {"benchmark": "steps", "variant": name, **found}


def of_large(asked: Asked) -> Iterator[dict[str, Any]]:
    """Large observations, as TimeRL measures them: stored on the device, computed again where they
    are read, and on the host.
    """
    for side, T, names in ((4, 4, ("stored", "swapped")),) if asked.few else LARGE:
        sizes = {"B": 4 if asked.few else 256, "I": 1, "T": T}
        program = reinforce(environment=Noisy((3, side, side)), hidden=(64,))
        for name in names:
            if asked.wants(f"large {side} {T} {name}"):
                about = {"benchmark": "large", "side": side, "T": T, "variant": name}
                yield about | _timed(program, OF_LARGE[name], sizes, asked.where)


def _timed(
    program: Program, steps: Sequence[Transform], sizes: Mapping[str, int], where: str
) -> dict[str, Any]:
    """Seconds and memory of a variant, or the reason why there are none."""
    chosen: Variant = variant(program)
    for step in steps:
        chosen = chosen.apply(step)
    predicted = chosen.predict(sizes, backend="cuda").seconds
    if predicted > LONGEST:
        return {"too_slow": f"{predicted:.0f} s are predicted"}
    try:
        found = measured(chosen.program, sizes, where, 0 if predicted > LONG else 1)
    except OutOfMemoryError as error:
        return {"refused": str(error)[:300]}
    return found | {"predicted_seconds": predicted}
