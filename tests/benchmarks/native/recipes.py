"""A program in a peer's setting, as the recipe for so many threads makes it: seconds of an update,
and what making its C took.

python -m tests.benchmarks.native.recipes --program "noisy, 2 layers" --threads 2
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.benchmarks.measuring import emit, median
from tests.benchmarks.native.floors import counted
from tests.benchmarks.native.runs import Rounds
from workbench.algorithms import ppo, reinforce, sac
from workbench.backends.native.backend import NativeBackend
from workbench.environments import Noisy
from workbench.folders import CACHE_VARIABLE
from workbench.program.values import Program
from workbench.variants.variant import optimize

Made = tuple[Program, dict[str, int]]
LAYERS = (2, 4, 8, 16)


def episodes(width: int) -> Made:
    """Return REINFORCE over whole episodes of 1,000 steps."""
    return reinforce(hidden=(width, width)), {"B": 256, "T": 1000}


def noisy(layers: int) -> Made:
    """Return TimeRL's PPO: observations that have to be stored, one epoch of one minibatch."""
    program = ppo(environment=Noisy((3, 4, 4)), E=1, M=1, hidden=(64,) * layers)
    return program, {"B": 512, "T": 250}


def pendulum() -> Made:
    """Return PPO in RLtools' setting for the pendulum, whose minibatches have 256 samples."""
    program = ppo(
        environment="Pendulum",
        E=2,
        M=16,
        gamma=0.9,
        entropy_weight=0.0,
        clip_value=False,
        normalize_observations=True,
    )
    return program, {"B": 4, "T": 1024}


def replayed() -> Made:
    """Return SAC in RLtools' setting for the pendulum, whose three layers are those of weights."""
    return sac(N=10_000, K=100, hidden=(64, 64), learning_starts=100), {"B": 1, "T": 1}


def cartpole(layers: int) -> Made:
    """Return PPO on CartPole with so many layers, each written out."""
    return ppo(hidden=(64,) * layers), {"B": 64, "T": 128}


PROGRAMS: dict[str, Callable[[], Made]] = {
    "episodes, 64 wide": partial(episodes, 64),
    "episodes, 256 wide": partial(episodes, 256),
    "noisy, 2 layers": partial(noisy, 2),
    "noisy, 8 layers": partial(noisy, 8),
    "pendulum": pendulum,
    "pendulum, replayed": replayed,
    **{f"cartpole, {n} layers": partial(cartpole, n) for n in LAYERS},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", choices=PROGRAMS, required=True)
    parser.add_argument("--B", type=int, help="environments, if not as many as the peer has")
    parser.add_argument("--threads", type=int, default=1, help="more than 1: by the clock")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--generate-only", action="store_true", help="compile and run nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        if given.generate_only:
            os.environ[CACHE_VARIABLE] = empty  # where no recipe is kept
        emit(**line_of(given))


def line_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the line of a program."""
    start = time.process_time()
    program, sizes = PROGRAMS[given.program]()
    sizes |= {"B": given.B} if given.B else {}
    chosen = optimize(program, backend="native", sizes=sizes, threads=given.threads)
    compiled = NativeBackend().compile(chosen.program)
    text = compiled.text("float32")
    line: dict[str, Any] = {
        "what": given.program,
        "generation_cpu_seconds": time.process_time() - start,
        "characters": len(str(text)),
    }
    if not given.generate_only:
        compiled.prepare()
        rounds = Rounds(compiled, sizes, given.threads if given.threads > 1 else None)
        taken = [rounds.update_seconds(given.seconds) for _ in range(given.rounds)]
        line |= {
            "compiler": str(compiled.compiler),
            "compiler_cpu_seconds": compiled.library().cpu_seconds,
            "update_seconds": median(taken),
            "steps_per_second": rounds.steps / median(taken),
            "samples": taken,
            **counted(compiled, rounds.sizes, rounds.last, rounds.threads),
        }
    return line


if __name__ == "__main__":
    main()
