"""Small programs as kernels of a GPU, run as fibres: the bits of compiled C, and no fault."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends.small_programs import SIZES, cases, folded, scheduled
from tests.codegen.cuda.fibres import SEED, at_sizes, fibres, watched
from tests.native_runs import compiled, shared_cache
from workbench.program.values import Program

CASES = {name: (p, axes[-1]) for name, p, axes in cases()}


def has_the_bits_of_compiled_c(program: Program) -> None:
    made, plain, names = fibres(program), compiled(program), {p.name for p in program.parameters}
    with shared_cache():
        plain.prepare("float64")
    for sizes in ({n: size for n, size in some.items() if n in names} for some in SIZES):
        at_sizes(made, sizes)
        found, fault = watched(made, sizes, "float64")
        assert fault == ""
        for name, values in plain.run(sizes, SEED, "float64").outputs.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_case_has_the_bits_of_compiled_c(name: str) -> None:
    """In axes, folded and in place."""
    equations, axes = CASES[name]
    has_the_bits_of_compiled_c(folded(scheduled(equations, axes)))


@pytest.mark.kernels
@pytest.mark.parametrize("name", CASES)
def test_case_as_written_has_the_bits_of_compiled_c(name: str) -> None:
    equations, _ = CASES[name]
    has_the_bits_of_compiled_c(scheduled(equations))
