"""Compiled C against the hand-written PPO, NumPy and other peers, and what is required of it.

    python -m tests.benchmarks.native                       # all tables, for gcc or what CC names
    python -m tests.benchmarks.native ppo rollout --zig     # some tables, for the package ziglang
    python -m tests.benchmarks.native --quick

Each line has what is `required` of its figure. Speed is in environment steps per CPU second of one
thread, the first update left out; intervals are of 95 %. `ppo.jsonl` has a run beside its peers.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from tests.benchmarks.measuring import emit, machine
from tests.benchmarks.native import recipe_tables, tables
from tests.benchmarks.native.floors import peaks
from tests.benchmarks.native.tables import Settings

TABLES = tables.TABLES | recipe_tables.TABLES


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all unless given")
    parser.add_argument("--zig", action="store_true", help="with the compiler of ziglang")
    parser.add_argument("--floor", default="", help="the hand-written PPO, if it is built already")
    parser.add_argument("--purejaxrl", default="", help="the command that runs a script for it")
    parser.add_argument("--rltools", default="", help="its PPO of the pendulum, if built")
    parser.add_argument("--rltools-sac", default="", help="its SAC of the pendulum, if built")
    parser.add_argument("--B", type=int, nargs="+", default=[4, 64, 512, 2048])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round, about")
    parser.add_argument("--quick", action="store_true", help="little of each, in a minute")
    given = parser.parse_args()
    if unknown := [name for name in given.tables if name not in TABLES]:
        parser.error(f"no table {unknown[0]!r}; there are {', '.join(TABLES)}")
    if given.zig and find_spec("ziglang") is None:
        parser.error("the package ziglang is not installed")
    if given.quick:
        given.rounds, given.seconds, given.B = 2, 0.1, [4]
    variables = {"CC": f"{sys.executable} -m ziglang cc"} if given.zig else {}
    settings = Settings(
        rounds=given.rounds,
        seconds=given.seconds,
        B=given.B,
        floor=given.floor,
        purejaxrl=given.purejaxrl,
        rltools=given.rltools,
        rltools_sac=given.rltools_sac,
        compiler="zig" if given.zig else "gcc",
        variables=variables,
        quick=given.quick,
    )
    emit(what="peaks of a core", **peaks())
    for name in given.tables or TABLES:
        TABLES[name](settings)
    emit(what="machine", **machine())


if __name__ == "__main__":
    main()
