"""Chains in the graph of statements, compared with powers of its matrix."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.polyhedral.dependences.components import shortest_chain
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
