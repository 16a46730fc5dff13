"""Random numbers that do not depend on order: Philox-4x32-10 words by statement and instance.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11). The key is
(seed, hash of the statement's origin). The counter is a 128-bit number made of the instance's
coordinates and a block number n >> 2 for inner element n, which uses word n & 3 of that block:

    ========== ================== =====================================
    dimensions bits of the block  bits of each coordinate (dimension k)
    ========== ================== =====================================
    0 to 3     0..31              32, from bit 32 + 32 k
    4          0..23              26, from bit 24 + 26 k
    5          0..22              21, from bit 23 + 21 k
    ========== ================== =====================================

A coordinate that does not fit its bits is a RunError. This file knows neither programs nor
schedules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.errors import RunError
from workbench.polyhedral.expression import whole
from workbench.program.keys import statement_key

__all__ = [
    "bits",
    "block",
    "check_counter",
    "draw",
    "fill",
    "normal",
    "permutation",
    "philox",
    "statement_key",
    "uniform",
    "words",
]

Words = npt.NDArray[np.uint32]
Coordinate = int | npt.NDArray[Any]

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_INCREMENTS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
CHUNK = 8192
"""The counters in one chunk: the 64-bit temporaries stay in cache, about 1 MiB in all."""

_LOW = 0xFFFFFFFF
MOST_SEED = _LOW
_BITS = {0: (32, 32), 1: (32, 32), 2: (32, 32), 3: (32, 32), 4: (26, 24), 5: (21, 23)}


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return one block of four words from one counter, in plain Python integers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & _LOW, (p0 >> 32) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + KEY_INCREMENTS[0]) & _LOW, (k1 + KEY_INCREMENTS[1]) & _LOW
    return c0, c1, c2, c3


def block(
    seed: int, key: int, coordinates: Sequence[int], number: int
) -> tuple[int, int, int, int]:
    """Return one instance's words from inner element 4 * number on, in plain Python integers."""
    checked_seed(seed)
    width, block_width = bits(len(coordinates))
    packed = _fitting(number, block_width, "the inner element's block")
    for k, coordinate in enumerate(coordinates):
        packed |= _fitting(int(coordinate), width, f"coordinate {k}") << (block_width + width * k)
    c0, c1, c2, c3 = ((packed >> shift) & _LOW for shift in (0, 32, 64, 96))
    return philox((c0, c1, c2, c3), (seed, key))


def words(seed: int, key: int, coordinates: Sequence[Coordinate], inner: int) -> Words:
    """Return words of shape broadcast(coordinates).shape + (inner,)."""
    arrays, shape = _broadcast(coordinates)
    out = np.empty((*shape, inner), np.uint32)
    rows = out.reshape(-1, inner)
    for rows_at, columns_at, chunk in _chunks(seed, key, arrays, shape, inner):
        rows[rows_at, columns_at] = chunk
    return out


def uniform(w: Words) -> npt.NDArray[np.float64]:
    """Return uniform numbers on [0, 1): (word >> 8) * 2**-24, exact in float32 too."""
    drawn: npt.NDArray[np.float64] = np.multiply(w >> 8, 2.0**-24, dtype=np.float64)
    return drawn


def normal(w: Words) -> npt.NDArray[np.float64]:
    """Return standard normal numbers, by the inverse distribution function.

    Its arguments are ((word >> 8) + 1/2) * 2**-24. Wichura, "Algorithm AS 241: the percentage
    points of the normal distribution" (Applied Statistics 37, 1988), PPND16, relative error about
    1e-16. Its third region (beyond 5 in sqrt(-log p)) is never reached: the smallest p is 2**-25,
    where that is 4.2. Always computed in float64, so that float32 draws are the rounded float64
    ones.
    """
    drawn: npt.NDArray[np.float64] = _inverse_normal(((w >> 8) + 0.5) * 2.0**-24)
    return drawn


def permutation(w: Words) -> npt.NDArray[np.int32]:
    """Return a permutation of the last axis: its stable argsort (ties are broken by index)."""
    return np.argsort(w, axis=-1, kind="stable").astype(np.int32)


def fill(
    kind: str, out: npt.NDArray[Any], seed: int, key: int, coordinates: Sequence[Coordinate]
) -> None:
    """Draw into `out`: leading axes of shape broadcast(coordinates).shape, then the inner shape.

    `kind` is "uniform", "normal" or "permutation". It works chunk by chunk, with bounded
    temporaries. A permutation also needs 12 bytes for each of its elements, one instance at a time.
    """
    arrays, shape = _broadcast(coordinates)
    if out.shape[: len(shape)] != shape:
        raise ValueError(f"out has shape {out.shape}, the coordinates {shape}")
    inner_shape = out.shape[len(shape) :]
    if out.flags.c_contiguous:
        target = out.reshape(math.prod(shape), math.prod(inner_shape))
    if kind == "permutation":
        for at in np.ndindex(shape):
            out[at] = permutation(words(seed, key, [int(a[at]) for a in arrays], inner_shape[0]))
        return
    draw = {"uniform": uniform, "normal": normal}[kind]
    for rows_at, columns_at, chunk in _chunks(seed, key, arrays, shape, math.prod(inner_shape)):
        if out.flags.c_contiguous:
            target[rows_at, columns_at] = draw(chunk)
        else:
            rows = np.unravel_index(np.arange(rows_at.start, rows_at.stop)[:, None], shape)
            columns = np.unravel_index(np.arange(columns_at.start, columns_at.stop), inner_shape)
            out[(*rows, *columns)] = draw(chunk)


def draw(kind: str, seed: int, key: int, coordinates: Sequence[int], shape: tuple[int, ...]) -> Any:
    """Draw for one instance: an inner `shape` of float64, or of int32 for a permutation."""
    n = math.prod(shape)
    if n <= 40:  # ten blocks in plain Python take less time than one NumPy call
        blocks = [block(seed, key, coordinates, k) for k in range(-(-n // 4))]
        drawn = np.array(blocks, np.uint32).reshape(-1)[:n]
    else:
        drawn = words(seed, key, coordinates, n)
    methods: dict[str, Callable[[Words], npt.NDArray[Any]]]
    methods = {"uniform": uniform, "normal": normal, "permutation": permutation}
    return methods[kind](drawn).reshape(shape)


def bits(dimensions: int) -> tuple[int, int]:
    """Return the bits of a coordinate and of the block number, for so many dimensions."""
    if dimensions not in _BITS:
        raise RunError(f"a random draw over {dimensions} dimensions: at most 5 are supported")
    return _BITS[dimensions]


def checked_seed(seed: object) -> int:
    """Return the seed as a number, which must fit 32 bits."""
    number = whole(seed)
    if number is None or not 0 <= number <= MOST_SEED:
        raise RunError(f"seed {seed!r}; expected a whole number from 0 to 2**32 - 1")
    return number


# -- the vectorised version ---------------------------------------------------------------------


def _broadcast(coordinates: Sequence[Coordinate]) -> tuple[list[npt.NDArray[Any]], tuple[int, ...]]:
    arrays = [np.asarray(c) for c in coordinates]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return [np.broadcast_to(a, shape) for a in arrays], shape


def _chunks(
    seed: int, key: int, arrays: list[npt.NDArray[Any]], shape: tuple[int, ...], inner: int
) -> Iterator[tuple[slice, slice, Words]]:
    """Yield pieces (rows, columns, words) of the matrix instances × inner elements."""
    checked_seed(seed)
    width, block_width = bits(len(arrays))
    count, blocks = math.prod(shape), -(-inner // 4)
    if count == 0 or inner == 0:
        return
    _fitting(blocks - 1, block_width, "the inner element's block")
    for k, a in enumerate(arrays):
        _fitting(int(a.max()), width, f"coordinate {k}")
        _fitting(int(a.min()), width, f"coordinate {k}")
    wide = min(blocks, CHUNK)
    tall = max(1, CHUNK // wide)
    for first in range(0, count, tall):
        rows = slice(first, min(first + tall, count))
        columns = [a.flat[rows].astype(np.uint64) for a in arrays]
        for block in range(0, blocks, wide):
            numbers = np.arange(block, min(block + wide, blocks), dtype=np.uint64)
            counter = _packed(columns, numbers, width, block_width, rows.stop - rows.start)
            chunk = _blocks(counter, seed, key).reshape(rows.stop - rows.start, -1)
            end = min(4 * (block + len(numbers)), inner)
            yield rows, slice(4 * block, end), chunk[:, : end - 4 * block]


def _packed(
    columns: list[npt.NDArray[np.uint64]],
    blocks: npt.NDArray[np.uint64],
    width: int,
    block_width: int,
    count: int,
) -> list[npt.NDArray[np.uint64]]:
    counter = [np.zeros((count, len(blocks)), np.uint64) for _ in range(4)]
    counter[0] |= blocks
    for k, column in enumerate(columns):
        position, shift = divmod(block_width + width * k, 32)
        counter[position] |= ((column << np.uint64(shift)) & np.uint64(_LOW))[:, None]
        if shift + width > 32:
            counter[position + 1] |= (column >> np.uint64(32 - shift))[:, None]
    return counter


def _blocks(counter: list[npt.NDArray[np.uint64]], seed: int, key: int) -> Words:
    """Run the rounds on 64-bit arrays of 32-bit words, overwriting them; words come last."""
    c0, c1, c2, c3 = counter
    p0, p1 = np.empty_like(c0), np.empty_like(c0)
    low, half = np.uint64(_LOW), np.uint64(32)
    k0, k1 = seed, key
    for _ in range(ROUNDS):
        np.multiply(c0, np.uint64(MULTIPLIERS[0]), out=p0)
        np.multiply(c2, np.uint64(MULTIPLIERS[1]), out=p1)
        np.right_shift(p1, half, out=c0)
        c0 ^= c1
        c0 ^= np.uint64(k0)
        np.bitwise_and(p1, low, out=c1)
        np.right_shift(p0, half, out=c2)
        c2 ^= c3
        c2 ^= np.uint64(k1)
        np.bitwise_and(p0, low, out=c3)
        k0, k1 = (k0 + KEY_INCREMENTS[0]) & _LOW, (k1 + KEY_INCREMENTS[1]) & _LOW
    out = np.empty((*c0.shape, 4), np.uint32)
    for k, c in enumerate((c0, c1, c2, c3)):
        out[..., k] = c
    return out


def check_counter(coordinates: Sequence[tuple[int, int]], inner: int) -> None:
    """Require that every counter of a draw fits: the least and greatest value of each coordinate,
    and the number of inner elements. Raises RunError.
    """
    width, block_width = bits(len(coordinates))
    _fitting(max(0, (inner - 1) // 4), block_width, "the inner element's block")
    for k, ends in enumerate(coordinates):
        for value in ends:
            _fitting(value, width, f"coordinate {k}")


def _fitting(value: int, width: int, what: str) -> int:
    if not 0 <= value < 1 << width:
        raise RunError(
            f"random draw: {what} is {value}, but the counter holds 0..{(1 << width) - 1} for it"
        )
    return value


# -- the inverse normal distribution function (AS 241, PPND16) -----------------------------------

_CENTRE = (
    (3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
     3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
)  # fmt: skip


def _inverse_normal(p: npt.NDArray[Any]) -> Any:
    q = p - 0.5
    result = _ratio(_CENTRE, 0.180625 - q * q)
    result *= q
    outer = np.abs(q) > 0.425
    r = p[outer]
    r = np.sqrt(-np.log(np.minimum(r, 1.0 - r)))
    result[outer] = np.copysign(_ratio(_TAIL, r - 1.6), q[outer])
    return result


def _ratio(polynomials: tuple[tuple[float, ...], ...], x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    numerator, denominator = (_horner(coefficients, x) for coefficients in polynomials)
    numerator /= denominator
    return numerator


def _horner(coefficients: tuple[float, ...], x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    result = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        result *= x
        result += c
    return result
