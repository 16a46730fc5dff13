"""Small programs as kernels of a GPU, run as fibres: the bits of compiled C, and no fault."""

from __future__ import annotations

import numpy as np
import pytest

from tests.backends.small_programs import SIZES, cases, folded, scheduled
from tests.codegen.cuda.fibres import SEED, fibres, watched
from tests.native_runs import run_native
from workbench.program.values import Program

CASES = {name: (p, axes[-1]) for name, p, axes in cases()}


def has_the_bits_of_compiled_c(program: Program, sizes: dict[str, int]) -> None:
    used = {k: v for k, v in sizes.items() if k in {p.name for p in program.parameters}}
    found, fault = watched(fibres(program, used), used, "float64")
    assert fault == ""
    for name, values in run_native(program, used, SEED).items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_case_has_the_bits_of_compiled_c(name: str) -> None:
    equations, axes = CASES[name]
    for program in (scheduled(equations), folded(scheduled(equations, axes))):
        for sizes in SIZES:
            has_the_bits_of_compiled_c(program, sizes)
