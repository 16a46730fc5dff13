"""NumPy's elementwise functions on views: the numbers of contiguous copies, and none beside them.

The vector loops of NumPy differ by strides and by processor, and some were wrong. What they should
compute is that of contiguous copies, and of a number at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from workbench.backends.numpy import numpy_functions
from workbench.lowering.functions import FUNCTIONS

ELEMENTWISE = [row.name for row in FUNCTIONS.values() if row.elementwise]
LENGTHS = (1, 2, 3, 4, 5, 16, 17, 64, 67)
STEPS = (1, 2, 3, 4, 5, 8, -1, -4, 0)
BESIDE = 77
"""What the memory between the elements of a result holds."""


def numbers(dtype: str, count: int, special: bool = True) -> Any:
    """Numbers of a dtype, with what is special in it."""
    rng = np.random.default_rng(count)
    if dtype == "?":
        return rng.integers(0, 2, count).astype(dtype)
    found = rng.integers(-5, 6, count).astype(dtype)
    if dtype in "fd":
        chosen = rng.choice([np.nan, -0.0, 0.0, np.inf, -np.inf], count)
        found = np.where(special & (rng.integers(0, 3, count) == 0), chosen, found + 0.5)
    elif special:
        found[::5] = np.iinfo(dtype).min
    return found.astype(dtype)


def strided(dtype: str, length: int, step: int, special: bool) -> Any:
    """A view of so many elements, so far apart: 0 for one that is repeated."""
    if step == 0:
        return np.broadcast_to(numbers(dtype, 1, special), (length,))
    memory = numbers(dtype, length * abs(step), special)
    return memory.reshape(length, abs(step))[:: 1 if step > 0 else -1, 0]


def same(found: Any, wanted: Any) -> bool:
    """Tell whether numbers are equal but for how they were rounded, the sign of a zero included."""
    if wanted.dtype.kind != "f":
        return np.array_equal(found, wanted)
    known = ~np.isnan(wanted)
    close = np.allclose(found, wanted, 4 * np.finfo(wanted.dtype).eps, 0, equal_nan=True)
    return close and np.array_equal(np.signbit(found)[known], np.signbit(wanted)[known])


def operands(name: str) -> Iterator[list[Any]]:
    """Operands of a function in every dtype that it takes, at several strides."""
    unary = getattr(np, name).nin == 1
    turned = (*STEPS[4:], *STEPS[:4])
    pairs = [(s, t) for steps in (STEPS, turned) for s, t in zip(STEPS, steps, strict=True)]
    for dtype, length, steps in itertools.product("fdil?", LENGTHS, pairs):
        # a power of one number for all is another function: with 0.5 it is sqrt, -inf included
        yield [strided(dtype, length, step, unary) for step in (steps[:1] if unary else steps)]


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_function_on_views_is_that_of_copies(name: str) -> None:
    ours, numpys = numpy_functions()[name], getattr(np, name)
    tried = 0
    for given in operands(name):
        try:
            wanted = numpys(*(np.ascontiguousarray(x) for x in given))
        except (TypeError, ValueError):  # no such function of these numbers
            continue
        for step in (1, 2, 3, 4, 5):
            memory = np.full((len(wanted), step), BESIDE).astype(wanted.dtype)
            ours(*given, out=memory[:, 0])
            layout = (given[0].dtype, len(wanted), [x.strides for x in given], step)
            assert same(memory[:, 0], wanted), layout
            assert (memory[:, 1:] == np.array(BESIDE).astype(wanted.dtype)).all(), layout
            tried += 1
    assert tried >= 5 * len(LENGTHS)


@pytest.mark.parametrize("name", ["negative", "isfinite"])
@pytest.mark.parametrize("dtype", ["f", "d", "i", "l"])
def test_function_that_differs_from_numpys_is_it_of_each_number(name: str, dtype: str) -> None:
    x = numbers(dtype, 200)
    wanted = np.array([getattr(np, name)(np.array(one)) for one in x])
    found = np.empty_like(wanted)
    numpy_functions()[name](x, out=found)
    assert same(found, wanted)


def test_function_that_differs_from_numpys_works_in_place_and_on_planes() -> None:
    planes = numbers("f", 6 * 4 * 8).reshape(6, 4, 8)
    wanted = -planes.copy()
    numpy_functions()["negative"](planes, out=planes)
    assert same(planes, wanted)
    cut = planes[:, 1::2, ::4].transpose(2, 0, 1)
    finite = np.zeros((2, 6, 2, 3), bool)
    numpy_functions()["isfinite"](cut, out=finite[..., 1])
    assert np.array_equal(finite[..., 1], np.isfinite(cut.copy())) and not finite[..., ::2].any()
