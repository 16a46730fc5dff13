from __future__ import annotations

import math
import tracemalloc
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.backends import philox
from workbench.errors import RunError

KEY = philox.statement_key("reinforce/policy.sample")

# Random123's known answers (kat_vectors, philox 4x32 10): counter, key, words.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def hexes(text: str) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in text.split())


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter: str, key: str, answer: str) -> None:
    c0, c1, c2, c3 = hexes(counter)
    k0, k1 = hexes(key)
    assert philox.philox((c0, c1, c2, c3), (k0, k1)) == hexes(answer)


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers_vectorised(counter: str, key: str, answer: str) -> None:
    c = hexes(counter)
    k0, k1 = hexes(key)
    arrays = [np.full((2, 3), x, np.uint64) for x in c]
    assert (philox._blocks(arrays, k0, k1) == np.array(hexes(answer), np.uint32)).all()


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(st.integers(0, 2 ** philox.bits(n)[0] - 1), min_size=n, max_size=n)
    ),
    st.integers(1, 70),
    st.integers(0, 2**32 - 1),
)
def test_python_and_numpy_agree(coordinates: list[int], inner: int, seed: int) -> None:
    blocks = [philox.block(seed, KEY, coordinates, k) for k in range(-(-inner // 4))]
    drawn = philox.words(seed, KEY, coordinates, inner)
    assert drawn.dtype == np.uint32
    assert drawn.tolist() == [w for b in blocks for w in b][:inner]


def test_counter_is_packed_as_documented() -> None:
    seed, key = 5, KEY
    as_number = {
        3: (7 | 11 << 32 | 13 << 64 | 17 << 96, [11, 13, 17]),
        4: (7 | 11 << 24 | 13 << 50 | 17 << 76 | 19 << 102, [11, 13, 17, 19]),
        5: (7 | 11 << 23 | 13 << 44 | 17 << 65 | 19 << 86 | 23 << 107, [11, 13, 17, 19, 23]),
    }
    for packed, coordinates in as_number.values():
        c0, c1, c2, c3 = (packed >> 32 * k & 0xFFFFFFFF for k in range(4))
        assert philox.block(seed, key, coordinates, 7) == philox.philox(
            (c0, c1, c2, c3), (seed, key)
        )


def test_words_do_not_depend_on_extent_order_or_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    b, t = np.arange(7)[:, None], np.arange(90)[None, :]
    large = philox.words(3, KEY, (b, t), 33)
    assert large.shape == (7, 90, 33)
    assert (philox.words(3, KEY, (b[:2], 5), 33) == large[:2, 5:6]).all()
    assert (philox.words(3, KEY, (b[::-1], t), 10) == large[::-1, :, :10]).all()
    monkeypatch.setattr(philox, "CHUNK", 4)  # nine blocks an instance: split within one
    assert (philox.words(3, KEY, (b, t), 33) == large).all()


def test_statements_and_seeds_draw_differently() -> None:
    draws = {
        philox.block(seed, philox.statement_key(origin), (0,), 0)
        for seed in (0, 1)
        for origin in ("p/a", "p/b")
    }
    assert len(draws) == 4
    assert philox.statement_key("p/a") == 0xE78D3757


def test_uniform_is_the_same_in_every_dtype() -> None:
    u = philox.uniform(philox.words(0, KEY, (np.arange(10_000),), 1))
    assert (u.astype(np.float32) == u).all()
    assert u.min() >= 0 and u.max() < 1


def test_normal_is_the_inverse_distribution_function() -> None:
    w = np.concatenate([philox.words(1, KEY, (), 20_000), np.array([0, 255, 256, 2**32 - 1])])
    exact = [NormalDist().inv_cdf(((int(x) >> 8) + 0.5) / 2**24) for x in w]
    np.testing.assert_allclose(philox.normal(w.astype(np.uint32)), exact, rtol=1e-13, atol=1e-13)


def test_statistics() -> None:
    n = 200_000
    w = philox.words(11, KEY, (np.arange(n // 4),), 4)
    u, z = philox.uniform(w).ravel(), philox.normal(w).ravel()
    assert abs(u.mean() - 0.5) < 5 / math.sqrt(12 * n)
    counts = np.bincount((u * 64).astype(int), minlength=64)
    assert ((counts - n / 64) ** 2 / (n / 64)).sum() < 120  # chi-squared, 63 degrees: p = 1e-5
    assert abs(z.mean()) < 5 / math.sqrt(n)
    assert abs(z.var() - 1) < 5 * math.sqrt(2 / n)
    assert abs((z**4).mean() - 3) < 5 * math.sqrt(96 / n)
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 5 / math.sqrt(n)


def test_permutation_is_the_stable_argsort() -> None:
    w = np.array([[5, 1, 5, 0], [2, 2, 2, 2]], np.uint32)
    assert philox.permutation(w).tolist() == [[3, 1, 0, 2], [0, 1, 2, 3]]
    assert philox.permutation(w).dtype == np.int32
    drawn = philox.draw("permutation", 0, KEY, (3,), (1000,))
    assert sorted(drawn) == list(range(1000)) and (drawn != np.arange(1000)).any()


@pytest.mark.parametrize("kind", ["uniform", "normal", "permutation"])
@pytest.mark.parametrize("layout", ["C", "transposed", "strided"])
def test_fill_agrees_with_draw(kind: str, layout: str) -> None:
    inner = (6,) if kind == "permutation" else (2, 3)
    shape = (3, 4, *inner)
    dtype = np.int32 if kind == "permutation" else np.float32
    if layout == "C":
        out = np.zeros(shape, dtype)
    elif layout == "transposed":
        out = np.zeros((4, 3, *inner), dtype).swapaxes(0, 1)
    else:
        out = np.zeros((3, 8, *inner), dtype)[:, ::2]
    philox.fill(kind, out, 9, KEY, (np.arange(3)[:, None], np.arange(4)[None, :], 5))
    for b in range(3):
        for t in range(4):
            expected = philox.draw(kind, 9, KEY, (b, t, 5), inner)
            assert (out[b, t] == expected.astype(dtype)).all()


def test_fill_of_nothing_does_nothing() -> None:
    philox.fill("uniform", np.zeros((0, 3)), 0, KEY, (np.arange(0),))
    philox.fill("uniform", np.zeros((2, 0)), 0, KEY, (np.arange(2),))


def test_fill_needs_bounded_temporaries() -> None:
    out = np.empty((64, 4096), np.float32)
    tracemalloc.start()
    philox.fill("normal", out, 0, KEY, (np.arange(64)[:, None], np.arange(4096)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 2**20


def test_draw_refused_when_a_coordinate_does_not_fit() -> None:
    message = "random draw: coordinate 1 is 2097152, but the counter holds 0..2097151 for it"
    with pytest.raises(RunError, match=message):
        philox.words(0, KEY, (0, np.array([1, 2**21]), 0, 0, 0), 1)
    with pytest.raises(RunError, match=message):
        philox.block(0, KEY, (0, 2**21, 0, 0, 0), 0)


def test_draw_refused_when_negative_or_too_many_dimensions() -> None:
    with pytest.raises(RunError, match="coordinate 0 is -1"):
        philox.words(0, KEY, (-1,), 1)
    with pytest.raises(RunError, match="over 6 dimensions: at most 5"):
        philox.words(0, KEY, (0,) * 6, 1)
    with pytest.raises(RunError, match="seed 4294967296; expected a whole number from 0 to"):
        philox.words(2**32, KEY, (0,), 1)
