"""Environment steps per CPU second of acting alone, without a critic.

python -m tests.benchmarks.native.rollout --B 4 64 512
"""

from __future__ import annotations

import argparse

from tests.benchmarks.measuring import emit
from tests.benchmarks.native.floors import run_work
from tests.benchmarks.native.programs import program_of, variant_of
from tests.benchmarks.native.runs import rollout_steps_per_second
from workbench.backends.native.backend import NativeBackend
from workbench.program.sizes import resolve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, nargs="+", default=[4, 16, 64, 512, 2048])
    parser.add_argument("--T", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    chosen, _ = variant_of(program_of("rollout", "CartPole"), "blocks")
    compiled = NativeBackend().compile(chosen.program)
    for B in given.B:
        sizes = {"B": B, "T": given.T}
        samples = [
            rollout_steps_per_second(compiled, sizes, given.seconds) for _ in range(given.rounds)
        ]
        two, one = (
            run_work(compiled, resolve(compiled.program.equations, {**sizes, "I": count}))[0]
            for count in (2, 1)
        )
        flops = (two - one) / (B * given.T)
        emit(what="rollout", B=B, T=given.T, samples=samples, flops_per_step=flops)


if __name__ == "__main__":
    main()
