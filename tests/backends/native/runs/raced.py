"""Runs of a program by several threads, for ThreadSanitizer to watch: `python -m … COMPILER`."""

from __future__ import annotations

import sys

import workbench as wb
from tests.kernels.builds import SHARING, Build
from tests.native_runs import compiled
from workbench.algorithms import ppo
from workbench.transforms import Contract, Donate, Persist

FLAG = "-fsanitize=thread"


def main() -> None:
    """Run PPO in blocks of whole groups of lanes, every launch shared.

    A smaller one, as at the end of 40 environments, reads lanes of its neighbour that it does not
    use.
    """
    variant = wb.variant(ppo(hidden=(5,)))
    for step in (Persist("b", 16), Persist("k", 16), Contract(), Donate()):
        variant = variant.apply(step)
    made = compiled(variant.program, Build(f"{sys.argv[1]} {FLAG}", more=(*SHARING, FLAG)))
    for threads in (2, 4):
        made.run({"B": 48, "I": 2, "T": 8, "M": 2}, 3, threads=threads)
    print("ran")


if __name__ == "__main__":
    main()
