"""What each line of a program's generated source costs, by the fastest of its executions.

Neighbours on the machine disturb some executions, hence the fastest; what a line costs in all is
that times its executions.

    python -m tests.benchmarks.lines --B 64 --T 200 --I 5 --vectorized b,t --top 40

Prints the total, then one JSON line for each of the costliest lines.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.algorithms import reinforce
from workbench.backends import philox
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.backends.arrays.source import ENTRY
from workbench.backends.numpy import NumPyBackend
from workbench.backends.tracker import Memory
from workbench.program.sizes import resolve
from workbench.transforms import Vectorize
from workbench.variants.variant import variant

SIMPLE = re.compile(r"^( {8,})(?!for |if |#|pass)(\S.*)$")


def timed(source: str) -> str:
    """The source with a clock read after every line inside a loop."""
    lines = []
    for number, line in enumerate(source.split("\n")):
        found = SIMPLE.match(line)
        if found is None:
            lines.append(line)
            continue
        spaces, statement = found.groups()
        lines.append(f"{spaces}_last = _clock()")
        lines.append(f"{spaces}{statement}")
        lines.append(f"{spaces}_took = _clock() - _last")
        lines.append(f"{spaces}if _took < _least[{number}]: _least[{number}] = _took")
        lines.append(f"{spaces}_times[{number}] += 1")
    return "\n".join(lines)


def run_timed(compiled: CompiledArrays, sizes: dict[str, int]) -> tuple[Any, Any, float]:
    """Least seconds and executions of each line, and the seconds of the whole run."""
    known = resolve(compiled.program.equations, sizes)
    count = compiled.source.count("\n") + 1
    least, times = [float("inf")] * count, [0] * count
    space: dict[str, Any] = {"_clock": time.perf_counter, "_least": least, "_times": times}
    exec(compile(timed(compiled.source), "<timed>", "exec"), space)
    function: Callable[..., None] = space[ENTRY]
    start = time.perf_counter()
    with np.errstate(all="ignore"):
        function(
            np,
            compiled.functions,
            Memory(np),
            Memory(np),
            philox.checked_seed(0),
            np.float32,
            tuple(known.values()),
            {},
            lambda: None,
        )
    return np.array(least), np.array(times), time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--B", type=int, default=64)
    parser.add_argument("--T", type=int, default=200)
    parser.add_argument("--I", type=int, default=5)
    parser.add_argument("--vectorized", default="b,t", help="dims, or nothing for as written")
    parser.add_argument("--top", type=int, default=40)
    given = parser.parse_args()
    chosen = variant(reinforce())
    for dim in filter(None, given.vectorized.split(",")):
        chosen = chosen.apply(Vectorize(dim))
    compiled = NumPyBackend().compile(chosen.program)
    sizes = {"B": given.B, "T": given.T, "I": given.I}
    least, times, seconds = run_timed(compiled, sizes)
    least[times == 0] = 0.0
    spent = least * times * 1e6 / given.I / given.T
    lines = compiled.source.split("\n")
    inner = [k for k, line in enumerate(lines) if line.startswith(" " * 12)]
    total = {
        "what": "lines",
        **sizes,
        "vectorized": given.vectorized,
        "seconds_with_clocks": round(seconds, 4),
        "us_per_step": round(sum(spent), 2),
        "inner_us_per_step": round(sum(spent[inner]), 2),
    }
    print(json.dumps(total))
    for k in np.argsort(-spent)[: given.top]:
        row = {
            "us_per_step": round(spent[k], 3),
            "us_each": round(least[k] * 1e6, 3),
            "times": int(times[k]),
            "line": lines[k].strip(),
        }
        print(json.dumps(row))


if __name__ == "__main__":
    main()
