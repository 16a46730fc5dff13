"""Bounds of expressions over loops."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.lowering.values.intervals import at_least, greatest, least, length
from workbench.polyhedral.expression import (
    Expression,
    choice,
    expression,
    maximum,
    minimum,
    size,
    variable,
)

T, H = size("T"), size("H")
i, t = variable("i"), variable("t")
RANGES = {"i": (expression(0), T - 1), "t": (i, T - 1)}


def test_length_of_a_suffix_needs_no_clamp() -> None:
    assert length(t, T, RANGES) == T - t
    assert greatest(T - t, RANGES) == T


def test_length_of_a_clipped_window_is_at_least_one() -> None:
    n = minimum(t + 3, T) - t
    assert at_least(n, 1, RANGES)
    assert greatest(n, RANGES) == minimum(3, T)


def test_length_that_may_be_negative_is_clamped() -> None:
    assert length(t, H, RANGES) == maximum(expression(0), H - t)


def test_bytes_of_a_suffix_in_whole_lines_have_a_bound() -> None:
    """A product in a floor division, of a size and a length that a loop changes."""
    elements = H * (T - t)
    assert greatest((elements + 127) // 128, RANGES) == (H * T + 127) // 128
    assert least(elements, RANGES) == H


def test_a_product_of_a_factor_of_either_sign_is_at_one_of_its_ends() -> None:
    ends = (H - 2) * -3, (H - 2) * (T - 4)
    assert greatest((H - 2) * (t - 3), RANGES) == maximum(*ends)
    assert least((H - 2) * (t - 3), RANGES) == minimum(*ends)
    assert greatest(H * (t - 3), RANGES) == H * (T - 4)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> Expression:
    """Expressions with every kind of atom."""
    kinds = ["linear", "min", "max", "floor", "choice", "product"]
    kind = draw(st.sampled_from(kinds)) if depth else "linear"
    if kind == "linear":
        c = [draw(st.integers(-2, 2)) for _ in range(3)]
        return i * c[0] + t * c[1] + T * c[2] + draw(st.integers(-3, 3))
    parts = [draw(expressions(depth - 1)) for _ in range(3)]
    whole = {
        "min": lambda: minimum(parts[0], parts[1]),
        "max": lambda: maximum(parts[0], parts[1]),
        "floor": lambda: parts[0] // 3,
        "choice": lambda: choice((parts[0],), parts[1], parts[2]),
        "product": lambda: parts[0] * parts[1],
    }[kind]()
    return whole * draw(st.sampled_from([-2, -1, 1])) + draw(expressions(0))


@given(expressions())
def test_bounds_hold_at_every_point(e: Expression) -> None:
    low, high = least(e, RANGES), greatest(e, RANGES)
    assert not (low.variables | high.variables)
    positive = at_least(e, 1, RANGES)
    for n in (1, 2, 4):
        for x in range(n):
            for y in range(x, n):
                found = e.evaluate({"T": n, "i": x, "t": y})
                assert low.evaluate({"T": n}) <= found <= high.evaluate({"T": n})
                assert found >= 1 or not positive
