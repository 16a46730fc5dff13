from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.polyhedral.examples import B, E, I, M, T, b, e, i, k, m, successor, t
from workbench.errors import ProgramError
from workbench.polyhedral.expression import (
    Expression,
    choice,
    expression,
    maximum,
    minimum,
    size,
    variable,
)
from workbench.polyhedral.sets.relations import (
    bounds,
    box,
    count,
    dims_of,
    domain_with,
    extent_of,
    hull,
    image,
    is_box,
    is_empty,
    is_equal,
    is_subset,
    pieces,
    points,
    project_out,
    subtract,
    union,
    with_dims,
)

ZERO = expression(0)
SQUARE = box([("b", ZERO, B), ("t", ZERO, T)])
TRIANGLE = box([("b", ZERO, B), ("t", ZERO, T), ("k", t, T)])
NEST = box([("i", ZERO, I), ("e", ZERO, E), ("m", ZERO, M)])


def test_box_with_minimum_and_constraints() -> None:
    text = box([("t", ZERO, T), ("k", t, minimum(t + 3, T))], equal=[(t, k)])
    assert points(text, {"T": 3}) == [(0, 0), (1, 1), (2, 2)]
    assert points(box([("t", ZERO, T)], at_least=[(t, expression(2))]), {"T": 4}) == [(2,), (3,)]
    assert dims_of(text) == ("t", "k")


@pytest.mark.parametrize("index", [T * B, t // T, variable("t") * variable("b")])
def test_non_affine_index_refused(index: Expression) -> None:
    with pytest.raises(ProgramError, match="non-affine index"):
        box([("t", ZERO, index)])


def test_emptiness_knows_sizes_are_positive() -> None:
    assert is_empty(box([("t", T, expression(1))]))
    assert not is_empty(box([("t", ZERO, T)]))
    assert is_subset(box([("t", ZERO, expression(1))]), box([("t", ZERO, T)]))
    assert not is_subset(box([("t", ZERO, expression(2))]), box([("t", ZERO, T)]))


def test_set_operations() -> None:
    first = box([("t", ZERO, expression(1))])
    rest = subtract(box([("t", ZERO, T)]), first)
    assert is_equal(rest, box([("t", expression(1), T)]))
    assert is_equal(union(rest, first), box([("t", ZERO, T)]))
    assert is_equal(project_out(TRIANGLE, ["k"]), SQUARE)
    assert is_equal(domain_with(SQUARE, [(t, ZERO)]), domain_with(SQUARE, [(ZERO, t)]))
    assert dims_of(with_dims(SQUARE, ("t", "z", "b"))) == ("t", "z", "b")
    assert points(domain_with(SQUARE, [(t, ZERO)]), {"B": 2, "T": 2}) == [(0, 0), (1, 0)]


def test_pieces_are_disjoint_and_cover() -> None:
    written = image(NEST, ("i", "e", "m"), successor(), None, ("i", "e", "m"))
    sizes = {"I": 2, "E": 2, "M": 3}
    found = [p for piece in pieces(written) for p in points(piece, sizes)]
    assert sorted(found) == points(written, sizes)


def test_image() -> None:
    extent = ((ZERO, B), (ZERO, T + 1))
    index = [b, t + 1]
    moved = image(SQUARE, ("b", "t"), index, extent, ("b", "t"))
    assert bounds(moved, ("b", "t")) == [(ZERO, B), (expression(1), T + 1)]
    anywhere = image(SQUARE, ("b", "t"), [None, t], extent, ("b", "t"))
    assert is_equal(anywhere, SQUARE)


def test_is_box_and_bounds() -> None:
    assert is_box(TRIANGLE, ("k",))
    assert not is_box(TRIANGLE, ("t", "k"))
    assert is_box(TRIANGLE, ("b", "k"))
    assert bounds(TRIANGLE, ("k",)) == [(t, T)]
    with pytest.raises(ProgramError, match="not a box"):
        bounds(TRIANGLE, ("t", "k"))
    even = domain_with(SQUARE, [(t % 2, ZERO)])
    assert not is_box(even, ("t",))
    assert is_box(even, ("b",))


def test_hull() -> None:
    state = union(
        image(SQUARE, ("b", "t"), [b, t + 1], None, ("b", "t")),
        image(SQUARE, ("b", "t"), [b, ZERO], None, ("b", "t")),
    )
    assert hull(state) == ((ZERO, B), (ZERO, T + 1))
    n = size("n")
    lower, upper = hull(box([("t", ZERO, minimum(T, n))]))[0]
    assert lower == 0
    assert [upper.evaluate({"T": 3, "n": v}) for v in (2, 5)] == [2, 3]


def test_extent_is_never_less_than_nothing() -> None:
    some = box([("t", expression(1), minimum(T - 2, expression(3)))])
    lower, upper = extent_of(some)[0]
    lengths = [(upper - lower).evaluate({"T": n}) for n in (1, 2, 3, 4, 5, 9)]
    assert lengths == [0, 0, 0, 1, 2, 2]
    assert extent_of(SQUARE) == hull(SQUARE)


def test_counting_is_exact_and_splits_independent_dims() -> None:
    assert count(TRIANGLE, {"B": 64, "T": 20_000}) == 64 * 20_000 * 20_001 // 2
    assert count(domain_with(SQUARE, [(t % 3, ZERO)]), {"B": 2, "T": 7}) == 6
    assert count(box([("t", ZERO, T - 1)]), {"T": 1}) == 0
    assert count(box([]), {}) == 1


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.one_of(st.integers(-3, 3).map(expression), st.sampled_from([t, k, T]))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
            st.tuples(inner, st.integers(-2, 3)).map(lambda p: p[0] * p[1]),
            st.tuples(inner, st.integers(1, 3)).map(lambda p: p[0] // p[1]),
            st.tuples(inner, st.integers(2, 3)).map(lambda p: p[0] % p[1]),
            st.tuples(inner, inner).map(lambda p: minimum(*p)),
            st.tuples(inner, inner).map(lambda p: maximum(*p)),
            st.tuples(inner, inner, inner).map(lambda p: choice((p[0],), p[1], p[2])),
        ),
        max_leaves=5,
    )


@given(expressions())
def test_expression_text_means_the_expression(x: Expression) -> None:
    text = image(box([("t", ZERO, T), ("k", ZERO, T)]), ("t", "k"), [t, k, x], None, "tkv")
    for n in (1, 3):
        expected = [
            (at, to, x.evaluate({"t": at, "k": to, "T": n}))
            for at, to in product(range(n), repeat=2)
        ]
        assert points(text, {"T": n}) == sorted(expected)


@given(expressions())
def test_function_read_back_is_the_function(x: Expression) -> None:
    """Bounds of a one-point range `x <= v < x + 1` are x itself, however they are written."""
    text = box([("t", ZERO, T), ("k", ZERO, T), ("v", x, x + 1)])
    ((lower, upper),) = bounds(text, ("v",))
    for at, to in product(range(3), repeat=2):
        values = {"t": at, "k": to, "T": 3}
        assert lower.evaluate(values) == x.evaluate(values)
        assert upper.evaluate(values) == x.evaluate(values) + 1


@given(expressions())
def test_printed_expression_is_python(x: Expression) -> None:
    values = {"t": 4, "k": 1, "T": 5}
    assert eval(str(x), {"min": min, "max": max, **values}) == x.evaluate(values)


def test_unused_names_do_not_matter() -> None:
    assert i.variables == {"i"} and m + e == e + m
