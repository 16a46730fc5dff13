"""Expressions: what is simplified has the same value, and reads as one would write it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.polyhedral.expression import (
    Expression,
    choice,
    expression,
    maximum,
    minimum,
    size,
    variable,
)
from workbench.polyhedral.expressions.evaluation import evaluated
from workbench.polyhedral.shortest import shortest

T, n, t = size("T"), variable("n"), variable("t")

leaves = st.one_of(st.sampled_from([T, n, t]), st.integers(-9, 9).map(expression))


def larger(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    divisors = st.integers(1, 6)
    return st.one_of(
        st.builds(lambda a, b: a + b, parts, parts),
        st.builds(lambda a, k: a * k, parts, st.integers(-6, 6)),
        st.builds(lambda a, k: a // k, parts, divisors),
        st.builds(lambda a, k: a % k, parts, divisors),
        st.builds(minimum, parts, parts),
        st.builds(maximum, parts, parts),
        st.builds(lambda a, b: a * b, parts, parts),
        st.builds(lambda a, b, c: choice((a,), b, c), parts, parts, parts),
    )


VALUES = [{"T": a, "n": b, "t": c} for a in (1, 5, 8) for b in (-3, 0, 2) for c in (-1, 0, 7)]


@given(st.recursive(leaves, larger, max_leaves=8))
def test_text_and_shortest_have_the_value(e: Expression) -> None:
    for values in VALUES:
        assert eval(str(e), {"min": min, "max": max}, values) == e.evaluate(values)
        assert shortest(e).evaluate(values) == e.evaluate(values)


@given(st.recursive(leaves, larger, max_leaves=8))
def test_value_over_arrays_is_that_at_each_point(e: Expression) -> None:
    columns = {name: np.array([values[name] for values in VALUES]) for name in VALUES[0]}

    def at(part: Expression) -> Any:
        return evaluated(part, lambda a: columns[a.name], at)

    expected = [e.evaluate(values) for values in VALUES]
    np.testing.assert_array_equal(np.broadcast_to(at(e), len(VALUES)), expected)


@given(st.recursive(leaves, larger, max_leaves=8))
def test_replaced_names_have_the_values_of_what_replaces_them(e: Expression) -> None:
    for values in VALUES:
        inner = {"n": T - 2, "t": n + T}
        outer = values | {name: by.evaluate(values) for name, by in inner.items()}
        assert e.substitute(inner).evaluate(values) == e.evaluate(outer)
        assert e.substitute(values) == e.evaluate(values)


@given(st.recursive(leaves, larger, max_leaves=5), st.integers(1, 6))
def test_division_is_that_of_python(e: Expression, divisor: int) -> None:
    for values in VALUES:
        assert (e // divisor).evaluate(values) == e.evaluate(values) // divisor
        assert (e % divisor).evaluate(values) == e.evaluate(values) % divisor


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (t % 4, "t % 4"),
        ((t + 1) % 4, "(t + 1) % 4"),
        (n + t % T, "n + t % T"),
        ((n * 4 + t) // 4, "t // 4 + n"),
        ((n * 4 + 5) % 4, "1"),
        ((T + 3) // 4, "(T + 3) // 4"),
        (shortest(minimum(T, n * 4 + 4) - n * 4), "min(T - 4 * n, 4)"),
        (shortest(n * 4 - minimum(T, n * 4 + 4)), "max(4 * n - T, -4)"),
        (shortest(minimum(T, t) + 1), "min(T, t) + 1"),
    ],
)
def test_text_reads_as_written_by_hand(e: Expression, text: str) -> None:
    assert str(e) == text
