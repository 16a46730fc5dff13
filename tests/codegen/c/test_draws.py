"""Words, uniform and normal numbers and permutations of C, equal to those of backends/philox.py."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.codegen.c.compiled import NATIVE, call
from workbench.backends import philox

SOURCE = """
#include "permutation.h"

void published(const uint32_t *counter, const uint32_t *key, uint32_t *out) {
    words one;
    words_v all;
    for (int k = 0; k < 4; k++) one.word[k] = counter[k], all.word[k] = all_vu(counter[k]);
    words drawn = philox(one, key[0], key[1]);
    words_v same = philox_v(all, key[0], key[1]);
    for (int k = 0; k < 4; k++) out[k] = drawn.word[k], out[4 + k] = same.word[k][LANES - 1];
}
/* Coordinates lie one after the other, each LANES times. */
void lanes(const uint32_t *x, uint32_t *out, int64_t dims, int64_t block) {
    vu at[5] = {{0}};
    uint32_t one[5] = {0};
    for (int k = 0; k < dims; k++) at[k] = (vu)load_vi((const int32_t *)x + k * LANES);
    for (int k = 0; k < dims; k++) one[k] = x[k * LANES];
    words_v packed = counter_v(dims, all_vu(block), at[0], at[1], at[2], at[3], at[4]);
    words_v drawn = philox_v(packed, 5, 9);
    words first = philox(counter(dims, block, one[0], one[1], one[2], one[3], one[4]), 5, 9);
    for (int k = 0; k < 4; k++)
        for (int lane = 0; lane < LANES; lane++)
            out[4 * lane + k] = lane == 0 ? first.word[k] : drawn.word[k][lane];
}
int64_t lane_count(void) { return LANES; }
int first_misfit(int64_t dims, int64_t last_block, const int64_t *least, const int64_t *most) {
    return misfit(dims, last_block, least, most);
}
#define FILLED(kind, number) void kind(number *out, int64_t n, int64_t dims, const uint32_t *x)
FILLED(words_of, uint32_t) { fill_words(out, 0, n, 5, 9, dims, x); }
FILLED(uniform_float32, float) { fill_uniform_f(out, n, 5, 9, dims, x); }
FILLED(uniform_float64, double) { fill_uniform_d(out, n, 5, 9, dims, x); }
FILLED(normal_float32, float) { fill_normal_f(out, n, 5, 9, dims, x); }
FILLED(normal_float64, double) { fill_normal_d(out, n, 5, 9, dims, x); }
void permuted(int32_t *out, int64_t n, int64_t dims, const uint32_t *x, uint32_t *scratch) {
    permutation(0, out, n, 5, 9, dims, x, scratch);
}
void shared(int32_t *out, int64_t n, int64_t threads, const uint32_t *x, uint32_t *scratch) {
    volatile int64_t stop = 0;
    Run run = {.stop = &stop};
    open_pool(&run, threads);
    permutation(&run, out, n, 5, 9, 2, x, scratch);
    close_pool(&run);
}
void ordered(int32_t *out, int64_t n, uint32_t *word, int32_t *scratch) {
    stable_order(out, n, word, 0, scratch);
}
void of_each_word(const uint32_t *word, float *uniform, float *normal, double *wide, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uniform[i] = uniform_f(word[i]);
        normal[i] = normal_f(word[i]);
        wide[i] = normal_d(word[i]);
    }
}
void of_words(const uint32_t *word, float *uniform, float *normal, double *wide, int64_t n) {
    for (int64_t i = 0; i < n; i += LANES) {
        vu here = (vu)load_vi((const int32_t *)word + i);
        store_vf(uniform + i, uniform_vf(here));
        store_vf(normal + i, normal_vf(here));
        store_vd(wide + i, normal_vd(here));
    }
}
"""
# Published with Random123 (kat_vectors): counter, key, words.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip
LARGEST = {0: [], 1: [2**32 - 1], 2: [7, 2**32 - 1], 3: [0, 2**31, 2**32 - 1],
           4: [2**26 - 1, 1, 2**25 + 3, 2**26 - 2],
           5: [2**21 - 1, 5, 2**20 + 9, 2**21 - 3, 2**21 - 1]}  # fmt: skip
"""Coordinates that use all their bits, by the number of dimensions."""


@pytest.fixture(scope="module")
def draws(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return NATIVE.library(SOURCE, tmp_path_factory.mktemp("draws"))


def words_of(text: str) -> np.ndarray:
    return np.array([int(word, 16) for word in text.split()], np.uint32)


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_philox_has_the_published_words(
    counter: str, key: str, expected: str, draws: ctypes.CDLL
) -> None:
    out = np.empty(8, np.uint32)
    call(draws.published, words_of(counter), words_of(key), out)
    np.testing.assert_array_equal(out, np.tile(words_of(expected), 2))


@pytest.mark.parametrize("dims", LARGEST)
@pytest.mark.parametrize("block", [0, 3, 2**23 - 1])
def test_each_number_of_dimensions_packs_as_numpys(
    dims: int, block: int, draws: ctypes.CDLL
) -> None:
    n = draws.lane_count()
    coordinates = [np.abs(c - np.arange(n) % 3).astype(np.uint32) for c in LARGEST[dims]]
    out = np.empty(4 * n, np.uint32)
    call(draws.lanes, np.array([*coordinates, [0] * n], np.uint32), out, dims, block)
    expected = [philox.block(5, 9, [int(c[k]) for c in coordinates], block) for k in range(n)]
    np.testing.assert_array_equal(out.reshape(n, 4), np.array(expected, np.uint32))


@pytest.mark.parametrize("dims", LARGEST)
def test_coordinates_and_blocks_that_do_not_fit_are_told(dims: int, draws: ctypes.CDLL) -> None:
    width, block_width = philox.bits(dims)

    def misfit(block: int, least: list[int], most: list[int]) -> int:
        low, high = (np.array([*limits, 0], np.int64) for limits in (least, most))
        return draws.first_misfit(
            ctypes.c_int64(dims), ctypes.c_int64(block), low.ctypes, high.ctypes
        )

    draws.first_misfit.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    full = [2**width - 1] * dims
    assert misfit(2**block_width - 1, [0] * dims, full) == -1
    assert misfit(2**block_width, [0] * dims, full) == 0
    for k in range(dims):
        above = [2**width if j == k else 0 for j in range(dims)]
        below = [-1 if j == k else 0 for j in range(dims)]
        assert misfit(0, [0] * dims, above) == 1 + k
        assert misfit(0, below, full) == 1 + k


@pytest.mark.parametrize("dims", LARGEST)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_inner_elements_are_drawn_as_numpys(
    kind: str, dtype: str, dims: int, draws: ctypes.CDLL
) -> None:
    out = np.empty(1003, dtype)
    x = np.array([*LARGEST[dims], 0], np.uint32)
    call(getattr(draws, f"{kind}_{dtype}"), out, len(out), dims, x)
    expected = np.empty(1003, dtype)
    philox.fill(kind, expected, 5, 9, LARGEST[dims])
    if (kind, dtype) == ("normal", "float64"):
        np.testing.assert_allclose(out, expected, rtol=2e-15)
    else:
        np.testing.assert_array_equal(out, expected)


def test_numbers_of_words_are_numpys_at_a_million_words(draws: ctypes.CDLL) -> None:
    """All 2^24 normal numbers were compared once; here every 16th, and both ends."""
    word = np.arange(2**20, dtype=np.uint32) * np.uint32(2**12) + np.uint32(2**8 + 77)
    word[:8], word[-8:] = np.arange(8) << 8, np.uint32(2**32 - 1) - (np.arange(8) << 8)
    uniform, normal = np.empty((2, len(word)), np.float32)
    wide = np.empty(len(word))
    call(draws.of_words, word, uniform, normal, wide, len(word))
    np.testing.assert_array_equal(uniform, philox.uniform(word).astype(np.float32))
    np.testing.assert_array_equal(normal, philox.normal(word).astype(np.float32))
    np.testing.assert_allclose(wide, philox.normal(word), rtol=2e-15)
    one_by_one = np.empty_like(uniform), np.empty_like(normal), np.empty_like(wide)
    call(draws.of_each_word, word, *one_by_one, len(word))
    for single, all_lanes in zip(one_by_one, (uniform, normal, wide), strict=True):
        np.testing.assert_array_equal(single, all_lanes)


@pytest.mark.parametrize("n", [1, 2, 3, 100, 5000])
def test_permutation_is_numpys(n: int, draws: ctypes.CDLL) -> None:
    out, scratch = np.empty(n, np.int32), np.full(2 * n + 1, 7, np.uint32)
    call(draws.permuted, out, n, 2, np.array([4, 1], np.uint32), scratch)
    assert scratch[-1] == 7
    np.testing.assert_array_equal(out, philox.permutation(philox.words(5, 9, [4, 1], n)))


@pytest.mark.parametrize("threads", [2, 3, 20])
@pytest.mark.parametrize("n", [2000, 2048, 5001, 70_000])
def test_threads_share_a_permutation(n: int, threads: int, draws: ctypes.CDLL) -> None:
    out, scratch = np.empty(n + 1, np.int32), np.full(2 * n + 1, 7, np.uint32)
    out[-1] = 7
    call(draws.shared, out, n, threads, np.array([4, 1], np.uint32), scratch)
    assert scratch[-1] == out[-1] == 7
    np.testing.assert_array_equal(out[:-1], philox.permutation(philox.words(5, 9, [4, 1], n)))


@pytest.mark.parametrize("high", [1, 2, 3000, 2**22, 2**32])
def test_equal_words_keep_their_order(high: int, draws: ctypes.CDLL) -> None:
    word = np.random.default_rng(high).integers(0, high, 20_000, dtype=np.uint32)
    expected = np.argsort(word, kind="stable")
    out, scratch = np.empty(len(word), np.int32), np.full(len(word) + 1, 7, np.int32)
    call(draws.ordered, out, len(word), word, scratch)
    assert scratch[-1] == 7
    np.testing.assert_array_equal(out, expected)
