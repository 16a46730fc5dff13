from __future__ import annotations

import itertools

import pytest

from workbench.errors import ProgramError
from workbench.polyhedral.sets.relations import dims_of, points
from workbench.polyhedral.sets.scanning import contains, scanner

SETS = [
    "[p_T] -> { [d_t, d_k] : 0 <= d_t < p_T and d_t <= d_k < p_T }",
    "{ [d_a, d_b, d_c] : 0 <= d_a < 5 and d_b mod 2 = d_a mod 2 and 0 <= d_b < 7 and"
    " ((d_c = d_a + d_b and d_a < 3) or (d_b <= d_c < 9 and d_b >= 4)) }",
    "{ [d_a, d_b] : 0 <= 3d_a <= d_b <= 20 and (d_a + 2d_b) mod 5 >= 2 }",
    "{ [d_a] : -3 <= d_a < 5 and exists (q : d_a = 2q) }",
    "{ [] }",
    "{ [] : false }",
    "{ [d_a] : false }",
]


@pytest.mark.parametrize("text", SETS)
def test_scan_gives_the_points_after_every_beginning(text: str) -> None:
    sizes, rank = {"T": 7}, len(dims_of(text))
    everything = points(text, sizes)
    for known in range(rank + 1):
        scan = scanner(text, sizes, known)
        for head in itertools.product(range(-4, 10), repeat=known):
            assert scan(head) == [p[known:] for p in everything if p[:known] == head]


def test_contains_answers_for_points_outside_and_inside() -> None:
    inside = contains(SETS[0], {"T": 4})
    assert inside((1, 3)) and not inside((3, 1)) and not inside((1, 4)) and not inside((-1, 0))


def test_scan_refused_when_unbounded() -> None:
    with pytest.raises(ProgramError, match="has no bound"):
        scanner("{ [d_a, d_b] : d_b >= d_a }", {}, 1)
