"""The texts of the C run-time, and the flags that it is compiled with. It knows no compiler."""

from __future__ import annotations

from functools import cache
from importlib import resources

FLAGS = (
    "-ffp-contract=off",
    "-falign-loops=64",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-Wno-psabi",
)
"""The flags of every unit, whatever the level of optimization. Products and sums are fused where
the text says so, and nowhere else. Loops begin at a line of 64 bytes: gcc's sum of products lay in
three instead of two, and programs were a fifth slower on a busy machine, as fast on a quiet one.
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
