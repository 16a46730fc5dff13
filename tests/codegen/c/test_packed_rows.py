"""Rows of a tile that share a vector: what is loaded, repeated and stored, against NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.codegen.c.compiled import NATIVE, Build, call, others

CALLED = """
void rows_{k}(const {t} *p, int64_t apart, int64_t width, {t} *out) {{
    store_v{k}(out, rows_v{k}(p, apart, width));
}}
void spread_{k}(const {t} *p, int64_t apart, int64_t width, {t} *out) {{
    store_v{k}(out, spread_v{k}(p, apart, width));
}}
void repeated_{k}(const {t} *x, int64_t width, {t} *out) {{
    store_v{k}(out, repeated_v{k}(load_v{k}(x), width));
}}
void store_{k}({t} *p, int64_t apart, int64_t width, const {t} *x) {{
    store_rows_v{k}(p, apart, width, load_v{k}(x));
}}
"""
NUMBERS = {
    "f": ("float", np.float32),
    "d": ("double", np.float64),
    "i": ("int32_t", np.int32),
    "l": ("int64_t", np.int64),
}
TEXT = '#include "packed_rows.h"\nint64_t lanes(void) { return LANES; }\n'
TEXT += "int64_t width(int64_t lanes, int64_t rows) { return width_of_rows(lanes, rows); }\n"
TEXT += "int64_t shared(int64_t width) { return SHARED_BY(width); }\n"
TEXT += "".join(CALLED.format(k=kind, t=number) for kind, (number, _) in NUMBERS.items())
APART = 21


@pytest.fixture(scope="module", params=[NATIVE, *others()], ids=lambda build: build.name)
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ctypes.CDLL:
    build: Build = request.param
    return build.library(TEXT, tmp_path_factory.mktemp("packed"))


def whole(library: ctypes.CDLL, name: str, *numbers: int) -> int:
    function = getattr(library, name)
    function.restype = ctypes.c_int64
    found: int = function(*map(ctypes.c_int64, numbers))
    return found


def test_vector_is_shared_where_as_many_rows_are_left(library: ctypes.CDLL) -> None:
    every = whole(library, "lanes")
    for lanes in range(1, every + 1):
        for rows in range(1, 20):
            width = whole(library, "width", lanes, rows)
            shared = whole(library, "shared", width)
            assert lanes <= width <= every
            assert shared * width == every
            assert shared <= rows
            room = every // (4 if lanes <= 4 else 8)
            assert shared > 1 or room < 2 or lanes > 8 or rows < room


@pytest.mark.parametrize("kind", NUMBERS)
def test_rows_lie_one_after_the_other(library: ctypes.CDLL, kind: str) -> None:
    dtype, every = NUMBERS[kind][1], whole(library, "lanes")
    tile = np.arange(16 * APART, dtype=dtype).reshape(16, APART)
    for width in {4, 8, every} - set(range(every + 1, 17)):
        rows, out = every // width, np.zeros(every, dtype)
        call(getattr(library, f"rows_{kind}"), tile, APART, width, out)
        assert np.array_equal(out, tile[:rows, :width].ravel())
        call(getattr(library, f"spread_{kind}"), tile, APART, width, out)
        assert np.array_equal(out, np.repeat(tile[:rows, 0], width))
        call(getattr(library, f"repeated_{kind}"), tile, width, out)
        assert np.array_equal(out, np.tile(tile[0, :width], rows))
        stored, wanted = np.full((2, 16, APART), -1, dtype)
        wanted[:rows, :width] = np.arange(every).reshape(rows, width)
        call(getattr(library, f"store_{kind}"), stored, APART, width, np.arange(every, dtype=dtype))
        assert np.array_equal(stored, wanted)
