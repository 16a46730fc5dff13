"""Index expressions as Python functions: their values are those of the expressions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.polyhedral.test_expression import VALUES, larger, leaves, n, t
from workbench.backends.reference.indices import compiled, solved
from workbench.polyhedral.expression import Expression

DIMS, FACTORS = ("n", "t"), st.integers(-3, 3).filter(bool)


@given(st.recursive(leaves, larger, max_leaves=8))
def test_function_has_the_values_of_the_expressions(e: Expression) -> None:
    for values in VALUES:
        index = compiled([e, n], DIMS, {"T": values["T"]})
        assert index((values["n"], values["t"])) == (e.evaluate(values), values["n"])


@given(st.recursive(leaves, larger, max_leaves=5), FACTORS, FACTORS)
def test_solved_write_gives_the_instance_of_an_element(
    e: Expression, first: int, second: int
) -> None:
    shift = e.substitute({"t": 0})
    write = [n * first, t * second + shift]
    for values in VALUES:
        solve = solved(write, DIMS, {"T": values["T"]})
        assert solve is not None
        assert solve(tuple(w.evaluate(values) for w in write)) == (values["n"], values["t"])


def test_write_with_two_unknown_dims_in_an_index_is_not_solved() -> None:
    assert solved([n + t], DIMS, {}) is None
