"""One program on one backend in a process of its own: speed, memory, compilation, and its floors.

python -m tests.benchmarks.native.one --program ppo --B 64 --T 128
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

from tests.benchmarks.measuring import emit
from tests.benchmarks.native.floors import counted, largest
from tests.benchmarks.native.programs import program_of, variant_of
from tests.benchmarks.native.runs import Rounds
from workbench.backends import get
from workbench.backends.native.compiled_program import CompiledProgram
from workbench.program.sizes import resolve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="ppo")
    parser.add_argument("--environment", default="CartPole")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--backend", default="native")
    parser.add_argument("--way", default="blocks")
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, help="the program's own unless given")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--compile-only", action="store_true")
    given = parser.parse_args()
    program = program_of(given.program, given.environment, given.hidden)
    chosen, refused = variant_of(program, given.way)
    start = time.process_time()
    compiled = get(given.backend).compile(chosen.program)
    compiled.prepare()
    line: dict[str, Any] = {
        "what": f"{given.program}, {given.environment}, {given.backend}, {given.way}",
        "refused": refused,
        "generation_cpu_seconds": time.process_time() - start,
    }
    native = compiled if isinstance(compiled, CompiledProgram) else None
    if native is not None:
        library = native.library()
        line |= {
            "compiler": str(native.compiler),
            "compiler_cpu_seconds": library.cpu_seconds,
            "compiler_seconds": library.seconds,
            "units": len(library.compiled),
        }
    if not given.compile_only:
        T = given.T or resolve(program.equations)["T"]
        rounds = Rounds(compiled, {"B": given.B, "T": T})
        seconds = rounds.update_seconds(given.seconds)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        line |= {
            "B": given.B,
            "T": T,
            "update_cpu_seconds": seconds,
            "steps_per_second": rounds.steps / seconds,
            "rss_mb": used,
        }
        if native is not None:
            line |= counted(native, rounds.sizes, rounds.last)
            line["largest_mb"] = largest(native, {**rounds.sizes, "I": rounds.last.total}, 4)
    emit(**line)


if __name__ == "__main__":
    main()
