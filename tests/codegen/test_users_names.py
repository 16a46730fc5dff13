"""Names that users give to arrays, dims and sizes: the text has names of its own, and macros of the
compiler are names like others.
"""

from __future__ import annotations

import string

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import expect_bits_of_compiled_c
from tests.soundness.lines import traced
from workbench.codegen.printing.program.program_names import WORD
from workbench.program.values import Program
from workbench.transforms import Vectorize

LETTERS = tuple(string.ascii_letters)
WORDS = ("lane", "lanes", "at", "step", "part", "width", "active", "begin", "unix", "linux", "NULL")


def source(dim: str, size: str, names: tuple[str, ...]) -> str:
    """The text of a program whose arrays have these names; each lane reads others' elements."""
    lines = [
        "@wb.program",
        f"def random({size}: int = 19):",
        f"    {dim}, = wb.dims({dim}={size})",
        f"    behind_it = wb.cast(wb.index({dim}) + 1, float)",
        f"    earlier_place = wb.cast(wb.uniform(over={dim}) * behind_it, int)",
    ]
    for name in names:
        lines += [
            f"    {name} = wb.normal(over={dim})",
            f"    past_{name} = wb.gather({name}, {dim}=earlier_place)",
            f"    above_{name} = wb.gather({name} > 0, {dim}=earlier_place)",
        ]
    sums = " + ".join(f"wb.where(above_{n}, past_{n}, 2.0 * {n})" for n in names)
    return "\n".join([*lines, f"    return {{'total_of_all': {sums}}}", ""])


def expect_the_same(program: Program, axis: str) -> None:
    """Fail where compiled C differs from NumPy, or CUDA text from compiled C."""
    variant = wb.variant(program).apply(Vectorize(axis))
    wanted, found = (
        wb.run(variant, backend, dtype="float64", progress=False)["total_of_all"]
        for backend in ("numpy", "native")
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    expect_bits_of_compiled_c(variant.program)


def test_the_words_are_names() -> None:
    assert all(WORD.fullmatch(word) for word in WORDS)


def test_arrays_may_have_any_name() -> None:
    program = traced(source("dim_of_all", "Size", (*LETTERS, *WORDS)))
    assert set(LETTERS) < {array.name for array in program.arrays}
    expect_the_same(program, "dim_of_all")


@pytest.mark.parametrize("name", ["b", "i", "k", "r", "x", "N", *WORDS])
def test_dims_and_sizes_may_have_any_name(name: str) -> None:
    size = "Size" if name == "NULL" else f"{name}_size"
    expect_the_same(traced(source(name, size, ("value",))), name)
    expect_the_same(traced(source("dim", name, ("value",))), "dim")
