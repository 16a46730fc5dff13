"""The quotient that a GPU computes without a branch has the bits of a division in all of tanh."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.codegen.c.compiled import NATIVE
from tests.codegen.c.expanding import expanded
from workbench.codegen.cuda.headers import device_header

BEHIND_LAST = 0x7F800002
"""The floats that are not negative, as integers: behind infinity comes NaN."""
AT_ONCE = 2**24

SOURCE = """
#include "number_functions.h"
EXPORTED void tanh_of_each(uint32_t first, uint32_t step, int64_t n, float *out) {
    for (int64_t k = 0; k < n; k++)
        out[k] = tanh_f(f_of_bits((int32_t)(first + (uint32_t)k * step)));
}
"""
OF_A_PROCESSOR = "#define NEAR_QUOTIENT(a, b) ((a) / (b))\n"
AS_C = """
INLINE int32_t __float_as_int(float x) { return ((union { float f; int32_t i; }){x}).i; }
INLINE float __int_as_float(int32_t i) { return ((union { int32_t i; float f; }){i}).f; }
#define fmaf __builtin_fmaf
"""

Tanh = Callable[[int, int, int], npt.NDArray[np.int32]]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tanh, Tanh]:
    """The bits of tanh with a processor's division, and with a GPU's text, as C."""
    text = expanded(SOURCE)
    assert text.count(OF_A_PROCESSOR) == 1
    found = re.search(r"INLINE float NEAR_QUOTIENT.*?\n}\n", device_header("gpu_machine.h"), re.S)
    assert found is not None
    of_gpu = text.replace(OF_A_PROCESSOR, AS_C + found[0])
    processor, gpu = (
        _tanh(written, tmp_path_factory.mktemp(name))
        for name, written in (("processor", text), ("gpu", of_gpu))
    )
    return processor, gpu


def _tanh(text: str, folder: Path) -> Tanh:
    function = NATIVE.library(text, folder).tanh_of_each
    function.restype = None

    def bits(first: int, step: int, n: int) -> npt.NDArray[np.int32]:
        out = np.empty(n, np.float32)
        function(
            ctypes.c_uint32(first),
            ctypes.c_uint32(step),
            ctypes.c_int64(n),
            out.ctypes.data_as(ctypes.c_void_p),
        )
        return np.where(np.isnan(out), 0x7FC00000, out.view(np.int32))

    return bits


def test_floats_from_all_over_have_the_bits_of_a_division(both: tuple[Tanh, Tanh]) -> None:
    processor, gpu = both
    step = 1013
    n = -(-BEHIND_LAST // step)
    np.testing.assert_array_equal(gpu(0, step, n), processor(0, step, n))


@pytest.mark.parametrize("around", [0.0, 2.0**-126, 0.6185, 1.2374, 1.8561, 3.0935, 9.25, np.inf])
def test_each_float_has_them_where_pieces_meet(both: tuple[Tanh, Tanh], around: float) -> None:
    processor, gpu = both
    first = max(int(np.float32(around).view(np.int32)) - 50_000, 0)
    n = min(100_000, BEHIND_LAST - first)
    np.testing.assert_array_equal(gpu(first, 1, n), processor(first, 1, n))


@pytest.mark.kernels
def test_all_floats_have_them(both: tuple[Tanh, Tanh]) -> None:
    processor, gpu = both
    for first in range(0, BEHIND_LAST, AT_ONCE):
        n = min(AT_ONCE, BEHIND_LAST - first)
        assert (gpu(first, 1, n) == processor(first, 1, n)).all(), hex(first)
