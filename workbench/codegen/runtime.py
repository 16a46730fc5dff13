"""The texts of the C run-time, and the flags that it is compiled with. It knows no compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

FLAGS = (
    "-ffp-contract=off",
    "-falign-loops=64",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-Wno-psabi",
    "-Werror=implicit-function-declaration",
)
"""The flags of every unit, whatever the level of optimization. Products and sums are fused where
the text says so, and nowhere else. Loops begin at a line of 64 bytes: gcc's sum of products lay in
three instead of two, and programs were a fifth slower on a busy machine, as fast on a quiet one.
What is not declared is an error for gcc too, as it is for clang.
"""

OF_NUMBERS = ("numbers.h", "number_functions.h", "number_draws.h")
"""The headers of one number, which vectors include: what GPUs compute with."""
METHODS = ("arithmetic.h", "elementary.h", "gamma.h", "inverse_normal.h")
"""Templates, which the headers of numbers and of vectors include."""

OF_RUNS = (
    "packed_rows.h",
    "tiles.h",
    "product_sums.h",
    "products.h",
    "lane_sums.h",
    "run.h",
    "interrupt.h",
    "pool.h",
    "permutation.h",
)
"""The headers about tiles and runs, which have a folder of their own."""

STAMPS, PEAKS = "stamps.h", "peaks.h"
OF_PROFILES = (STAMPS, PEAKS)
"""The headers of profiled runs, and of what a machine can do at most: no other includes them."""

HEADERS = (
    "machine.h",
    *METHODS,
    *OF_NUMBERS,
    "vectors.h",
    "operations.h",
    "sums.h",
    "functions.h",
    "doubles.h",
    "philox.h",
    "orthogonal.h",
    *OF_RUNS,
)
"""All headers: each includes only those before it. Some are templates, which others include."""
_ROOMS = {
    "workbench.codegen.c.numbers": (*METHODS, *OF_NUMBERS),
    "workbench.codegen.c.run": (*OF_RUNS, *OF_PROFILES),
}
"""The rooms of headers, but for those that lie before them."""

_ALL = '#include "permutation.h"\n'
"""The last of the headers includes the others."""
CALLING = f"#define RUNTIME_BODIES 0\n{_ALL}\n"
"""The beginning of a unit that calls the functions of the run-time's own units."""

RUNTIME = "runtime"
"""The unit of the run-time that all programs have."""
BODIES = {
    RUNTIME: "COMMON_BODIES",
    "runtime_float64": "FLOAT64_BODIES",
    "runtime_gamma": "GAMMA_BODIES",
}
"""The bodies that each of its units holds, see `machine.h`."""
CALLS = {
    "runtime_float64": re.compile(r"_v?d\("),
    "runtime_gamma": re.compile(r"\b(?:lgamma|digamma|trigamma)_v?[fd]\("),
}
"""Found in each text that calls a function of the unit, and in some others."""


def flags(processor: str) -> tuple[str, ...]:
    """Return the flags for a processor, named as `platform.machine()` does.

    gcc tunes some x86-64 processors with AVX-512 to vectors of half its width, and then splits
    every loop over lanes in two.
    """
    x86 = processor.lower() in ("x86_64", "amd64")
    return (*FLAGS, "-mprefer-vector-width=512") if x86 else FLAGS


@cache
def header(name: str) -> str:
    """Return the text of a header."""
    room = next((room for room, names in _ROOMS.items() if name in names), "workbench.codegen.c")
    return resources.files(room).joinpath(name).read_text(encoding="utf-8")


def headers() -> dict[str, str]:
    """Return the texts of the headers that the units of a program may include, by name."""
    return {name: header(name) for name in (*HEADERS, STAMPS)}


def runtime_text(name: str) -> str:
    """Return the text of a unit of the run-time, which programs share."""
    return f"#define RUNTIME_BODIES {BODIES[name]}\n{_ALL}"


def with_runtime(units: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield a program's units by name, and before each those of the run-time that it calls."""
    yield RUNTIME, runtime_text(RUNTIME)
    left = dict(CALLS)
    for name, text in units:
        for called in [called for called, calls in left.items() if calls.search(text)]:
            del left[called]
            yield called, runtime_text(called)
        yield name, text


def own_units(units: Mapping[str, str]) -> dict[str, str]:
    """Return a program's units without those of the run-time."""
    return {name: text for name, text in units.items() if name not in BODIES}
