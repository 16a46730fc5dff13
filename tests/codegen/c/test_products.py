"""Products of matrices against exact sums, of whole numbers and in double, and turned tiles."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from tests.codegen.c.compiled import NATIVE, Build, others

CALLED = """
void called_{k}(const {t} *left, int64_t row_step, int64_t step, const {t} *right,
                int64_t right_step, {t} *out, int64_t out_step, int64_t rows, int64_t columns,
                int64_t room, int64_t times, int64_t into) {{
    product_{k}(left, row_step, step, right, right_step, out, out_step, rows, columns, room, times,
                (int)into);
}}
void called_turned_{k}(const {t} *in, int64_t in_step, {t} *out, int64_t out_step, int64_t rows,
                       int64_t columns) {{
    turned_{k}(in, in_step, out, out_step, rows, columns);
}}
void called_lane_sums_{k}(const {t} *left, int64_t row_step, const {t} *right, int64_t right_step,
                          {t} *out, int64_t out_step, int64_t next, int64_t rows, int64_t columns,
                          int64_t times, int64_t into) {{
    lane_sums_{k}(left, row_step, right, right_step, out, out_step, next, rows, columns, times,
                  (int)into);
}}
int64_t whole_{k}(int64_t n) {{ return WHOLE_VECTORS(n); }}
"""
HEADERS = ("products.h", "tiles.h", "lane_sums.h")
TEXT = "".join(f'#include "{name}"\n' for name in HEADERS) + CALLED.format(k="f", t="float")
TEXT += CALLED.format(k="d", t="double")
DTYPES = {"f": np.float32, "d": np.float64}
SHAPES = [
    *((1, 1, 1), (3, 5, 2), (4, 16, 7), (8, 32, 64), (9, 33, 5), (13, 47, 3), (64, 64, 32)),
    *((1, 136, 9), (2, 104, 4), (3, 77, 5), (5, 200, 6), (6, 64, 11)),  # few rows of many vectors
    *((13, 150, 6), (64, 128, 9)),  # rows of four vectors and what is left
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return NATIVE.library(TEXT, tmp_path_factory.mktemp("products"))


@pytest.fixture(scope="module", params=[NATIVE, *others()], ids=lambda build: build.name)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The library of each build in turn."""
    build: Build = request.param
    return build.library(TEXT, tmp_path_factory.mktemp("built"))


def multiplied(
    library: ctypes.CDLL, kind: str, a: Any, b: Any, out: Any, turned: bool, into: bool, room: int
) -> None:
    """Call the function for `a @ b`; with `turned` the left matrix lies column by column, and rows
    of `b` and of `out` have room for so many columns.
    """
    rows, times = a.shape
    left = np.ascontiguousarray(a.T if turned else a)
    steps = (1, rows) if turned else (times, 1)
    function = getattr(library, f"called_{kind}")
    function.restype = None
    pointer, n = ctypes.c_void_p, ctypes.c_int64
    function(
        pointer(left.ctypes.data), n(steps[0]), n(steps[1]), pointer(b.ctypes.data),
        n(b.strides[0] // b.itemsize), pointer(out.ctypes.data), n(out.strides[0] // out.itemsize),
        n(rows), n(b.shape[1]), n(room), n(times), n(into),
    )  # fmt: skip


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("into", [False, True])
def test_product_of_whole_numbers_is_exact_and_touches_no_more(
    library: ctypes.CDLL, kind: str, turned: bool, into: bool
) -> None:
    random = np.random.default_rng(1)
    for rows, columns, times in SHAPES:
        a, b = (
            random.integers(-9, 10, shape).astype(DTYPES[kind])
            for shape in ((rows, times), (times, columns))
        )
        around = random.integers(-9, 10, (rows + 1, columns + 3)).astype(DTYPES[kind])
        out = around.copy()
        multiplied(library, kind, a, b, out[:rows, :columns], turned, into, columns)
        wanted = around.copy()
        exact = a.astype(np.int64) @ b.astype(np.int64)
        wanted[:rows, :columns] = exact + (around[:rows, :columns] if into else 0)
        assert np.array_equal(out, wanted), (rows, columns, times)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 7, 8, 9])
def test_product_with_room_for_whole_vectors_is_exact(
    library: ctypes.CDLL, kind: str, turned: bool, columns: int
) -> None:
    random, room = np.random.default_rng(4), 16
    for rows, times in ((5, 3), (16, 7), (64, 64), (83, 10)):
        a = random.integers(-9, 10, (rows, times)).astype(DTYPES[kind])
        b = random.integers(-9, 10, (times, room)).astype(DTYPES[kind])
        out = random.integers(-9, 10, (rows + 1, room)).astype(DTYPES[kind])
        wanted = out.copy()
        multiplied(library, kind, a, b[:, :columns], out[:rows, :columns], turned, False, room)
        wanted[:rows, :columns] = a.astype(np.int64) @ b[:, :columns].astype(np.int64)
        assert np.array_equal(out[:, :columns], wanted[:, :columns]), (rows, times)
        assert np.array_equal(out[rows], wanted[rows])


def test_element_is_the_sum_of_its_products_one_after_the_other(library: ctypes.CDLL) -> None:
    random = np.random.default_rng(2)
    a, b = random.normal(size=(9, 50)), random.normal(size=(50, 37))
    out = np.zeros((9, 37), np.float32)
    a, b = a.astype(np.float32), b.astype(np.float32)
    multiplied(library, "f", a, b, out, False, False, 37)
    wanted = np.zeros((9, 37))
    for k in range(50):  # a product of floats is exact in double; a fused sum rounds once
        wanted = (
            (wanted + a[:, k, None].astype(float) * b[None, k].astype(float))
            .astype(np.float32)
            .astype(float)
        )
    assert np.max(np.abs(out - wanted) / np.abs(wanted)) < 2.0**-22


def test_bits_are_the_same(library: ctypes.CDLL, built: ctypes.CDLL) -> None:
    random = np.random.default_rng(3)
    for rows, times, columns in ((21, 40, 53), (64, 40, 4), (70, 40, 3)):
        a = random.normal(size=(rows, times)).astype(np.float32)
        b = random.normal(size=(times, 64)).astype(np.float32)
        found = []
        for one, turned in ((library, False), (library, True), (built, False), (built, True)):
            out = np.zeros((rows, 64), np.float32)
            multiplied(one, "f", a, b[:, :columns], out, turned, False, 64)
            found.append(out[:, :columns])
        assert all(np.array_equal(found[0], bits) for bits in found)


def test_whole_vectors_hold_all_columns(library: ctypes.CDLL) -> None:
    whole = library.whole_f
    whole.restype = ctypes.c_int64
    for n in range(1, 70):
        assert n <= whole(ctypes.c_int64(n)) < n + 16


@pytest.mark.parametrize("kind", DTYPES)
def test_turned_tile_has_rows_for_columns(kind: str, built: ctypes.CDLL) -> None:
    turned = getattr(built, f"called_turned_{kind}")
    turned.restype = None
    pointer, n = ctypes.c_void_p, ctypes.c_int64
    for rows, columns in ((16, 16), (64, 32), (37, 16), (33, 21), (5, 48), (19, 7), (1, 1)):
        for apart in (0, 3):  # elements between neighbouring rows, on either side
            wide = np.arange(rows * (columns + apart), dtype=DTYPES[kind])
            tile = wide.reshape(rows, columns + apart)
            out = np.full((columns + 1, rows + apart), -1, DTYPES[kind])
            turned(
                pointer(tile.ctypes.data), n(columns + apart), pointer(out.ctypes.data),
                n(rows + apart), n(rows), n(columns),
            )  # fmt: skip
            wanted = np.full_like(out, -1)
            wanted[:columns, :rows] = tile[:, :columns].T
            assert np.array_equal(out, wanted)


def summed_along(library: ctypes.CDLL, kind: str, a: Any, b: Any, out: Any, into: bool) -> None:
    """Call the function for `a @ b.T`; all rows are in memory as given, `out` anyhow."""
    function = getattr(library, f"called_lane_sums_{kind}")
    function.restype = None
    pointer, n = ctypes.c_void_p, ctypes.c_int64

    def step(array: Any, axis: int = 0) -> ctypes.c_int64:
        return n(array.strides[axis] // array.itemsize)

    function(
        pointer(a.ctypes.data), step(a), pointer(b.ctypes.data), step(b),
        pointer(out.ctypes.data), step(out), step(out, 1), n(len(a)), n(len(b)), n(a.shape[1]),
        n(into),
    )  # fmt: skip


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_sums_along_lanes_of_whole_numbers_are_exact_and_touch_no_more(
    kind: str, into: bool, turned: bool, built: ctypes.CDLL
) -> None:
    random = np.random.default_rng(7)
    for rows, columns, times in ((1, 1, 1), (2, 64, 32), (1, 37, 21), (2, 16, 8), (1, 19, 50)):
        a, b = (
            np.full((n, 64), np.nan, DTYPES[kind]) for n in (rows, columns)
        )  # behind the lanes there is anything
        a[:, :times], b[:, :times] = (random.integers(-9, 10, (n, times)) for n in (rows, columns))
        shape = (columns + 2, rows + 1) if turned else (rows + 1, columns + 2)
        memory = random.integers(-9, 10, shape).astype(DTYPES[kind])
        out = memory.T if turned else memory
        wanted = out.copy()
        wanted[:rows, :columns] = a[:, :times] @ b[:, :times].T + (
            out[:rows, :columns] if into else 0
        )
        summed_along(built, kind, a[:, :times], b[:, :times], out, into)
        np.testing.assert_array_equal(out, wanted)


def test_sum_along_lanes_has_sixteen_parts_added_pairwise(built: ctypes.CDLL) -> None:
    random = np.random.default_rng(8)
    for times in (32, 43):
        a, b = (random.normal(size=(n, times)).astype(np.float32) for n in (2, 37))
        products = a[:, None].astype(float) * b  # exact
        parts = np.zeros((2, 37, 16), np.float32)
        for k in range(times):  # of two floats in double, then once more: a fused sum but for ties
            parts[..., k % 16] = parts[..., k % 16].astype(float) + products[..., k]
        while parts.shape[-1] > 1:
            half = parts.shape[-1] // 2
            parts = parts[..., :half] + parts[..., half:]
        out = np.zeros((2, 37), np.float32)
        summed_along(built, "f", a, b, out, False)
        np.testing.assert_array_equal(out, parts[..., 0])
