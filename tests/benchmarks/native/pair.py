"""One program as compiled C and on NumPy, in turns in one process: each as a user gets it.

python -m tests.benchmarks.native.pair --program a2c --environment Pendulum --B 4 512
"""

from __future__ import annotations

import argparse
from functools import partial

from tests.benchmarks.measuring import emit, interleaved, median, ratio
from tests.benchmarks.native.floors import counted
from tests.benchmarks.native.programs import program_of, variant_of
from tests.benchmarks.native.runs import Rounds
from workbench.backends.native.backend import NativeBackend
from workbench.backends.numpy import NumPyBackend
from workbench.backends.protocol import Compiled
from workbench.program.sizes import resolve

WAYS = {"native": "blocks", "numpy": "automatic"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="ppo")
    parser.add_argument("--environment", default="CartPole")
    parser.add_argument("--B", type=int, nargs="+", default=[4, 512])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    program = program_of(given.program, given.environment)
    chosen = {backend: variant_of(program, way) for backend, way in WAYS.items()}
    native = NativeBackend().compile(chosen["native"][0].program)
    compiled: dict[str, Compiled] = {
        "native": native,
        "numpy": NumPyBackend().compile(chosen["numpy"][0].program),
    }
    for B in given.B:
        sizes = {"B": B, "T": resolve(program.equations)["T"]}
        rounds = {name: Rounds(one, sizes) for name, one in compiled.items()}
        ways = {n: partial(one.steps_per_second, given.seconds) for n, one in rounds.items()}
        found = interleaved(ways, given.rounds, warm_up=0)
        value, interval = ratio(found["native"], found["numpy"])
        emit(
            what=f"native / numpy, {given.program}, {given.environment}, B={B}",
            B=B,
            T=sizes["T"],
            steps_per_second=median(found["native"]),
            numpy_steps_per_second=median(found["numpy"]),
            ratio=value,
            interval=interval,
            refused=chosen["native"][1],
            **counted(native, sizes, rounds["native"].last),
        )


if __name__ == "__main__":
    main()
