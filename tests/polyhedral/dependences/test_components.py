"""Chains in the graph of statements, compared with powers of its matrix, and orders of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.polyhedral.dependences.components import depth_first, shortest_chain
from workbench.polyhedral.dependences.flow import Dependence

NAMES = "abcde"


def dependence(source: str, sink: str) -> Dependence:
    return Dependence(source, sink, source, 0)


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=9),
    st.sets(st.sampled_from(NAMES), min_size=1),
    st.sets(st.sampled_from(NAMES), min_size=1),
)
def test_shortest_chain_is_a_chain_as_short_as_the_first_power_that_joins(
    edges: list[tuple[str, str]], starts: set[str], ends: set[str]
) -> None:
    chain = shortest_chain([dependence(*edge) for edge in edges], sorted(starts), ends)
    matrix = np.zeros((len(NAMES), len(NAMES)), int)
    for source, sink in edges:
        matrix[NAMES.index(source), NAMES.index(sink)] = 1
    lengths = [
        n
        for n in range(1, len(NAMES) + 1)
        if np.linalg.matrix_power(matrix, n)[np.ix_(rows(starts), rows(ends))].any()
    ]
    assert len(chain) == (lengths[0] + 1 if lengths else 0)
    if chain:
        assert chain[0] in starts and chain[-1] in ends
        assert set(pairwise(chain)) <= set(edges)


def rows(names: set[str]) -> list[int]:
    return [NAMES.index(name) for name in sorted(names)]


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))), st.permutations(range(8)))
def test_depth_first_goes_on_where_needs_ended_last(
    edges: set[tuple[int, int]], given_order: list[int]
) -> None:
    after = {k: {b for a, b in edges if a == k < b} for k in given_order}
    needs = {k: {a for a in after if k in after[a]} for k in after}
    order = depth_first(after)
    assert sorted(order) == sorted(after)
    for n, chosen in enumerate(order):
        before = order[:n]
        assert needs[chosen] <= set(before)
        ends = {
            k: max((before.index(a) for a in needs[k]), default=-1)
            for k in set(after) - set(before)
            if needs[k] <= set(before)
        }
        assert ends[chosen] == max(ends.values())
        alike = [k for k in ends if ends[k] == ends[chosen]]
        unused = [k for k in alike if not after[k]] or alike
        assert chosen == min(unused, key=given_order.index)


def test_depth_first_uses_each_result_at_once() -> None:
    forward_then_backward = {0: {1, 5}, 1: {2, 4}, 2: {3}, 3: set(), 4: set(), 5: set()}
    assert depth_first(forward_then_backward) == [0, 5, 1, 4, 2, 3]
