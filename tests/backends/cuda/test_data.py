"""Data on a GPU: kernels read rows from memory of the host, with the bits of compiled C."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import SEED, fibres, watched
from tests.datasets.logs import averages, log
from tests.native_runs import compiled
from workbench.transforms import Contract, Persist, Swap, Vectorize

SIZES = {"W": 5, "K": 6}
VARIANTS = {
    "vectorized": [Vectorize("w")],
    "persisted": [Persist("w", 4), Contract()],
    "on the host": [Persist("w", 4), Swap("log.x")],
}


@pytest.mark.parametrize("name", VARIANTS)
def test_rows_are_read_with_the_bits_of_compiled_c(name: str) -> None:
    variant = wb.variant(averages(), {"log": log(30)})
    for step in VARIANTS[name]:
        variant = variant.apply(step)
    given = variant.rows.tables({**SIZES, "I": 2}, "float32")
    made = fibres(variant.program, SIZES)
    found, fault = watched(made, SIZES, given=given)
    assert fault == ""
    wanted = compiled(variant.program).run(SIZES, SEED, "float32", given=given).outputs
    for output, values in wanted.items():
        np.testing.assert_array_equal(found[output], values, err_msg=output)


def test_rows_are_counted_on_the_host() -> None:
    variant = wb.variant(averages(), {"log": log(30)})
    given = variant.rows.tables({**SIZES, "I": 2}, "float32")
    peak = fibres(variant.program, SIZES).run(SIZES, SEED, "float32", given=given).peak
    rows = sum(values.nbytes for values in given.values())
    assert rows <= peak["host"] < rows + 1024
