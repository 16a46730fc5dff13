"""A few random programs of each kind, always the same: `make soundness` takes the rest."""

from __future__ import annotations

import numpy as np
import pytest

from tests.soundness.random_programs.kinds import KINDS, wrong

PAIRS = range(26)
COMPILED = {
    "episodes": (5, 9),
    "in place": (1, 11),
    "reads": (0, 1),
    "parts": (3, 4),
}
"""The programs of each kind whose checks compile them."""
CASES = [(kind, number) for kind, numbers in COMPILED.items() for number in numbers]


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_a_random_program_computes_what_it_means(kind: str, number: int) -> None:
    with np.errstate(all="ignore"):
        assert wrong(kind, number) is None


def test_programs_that_mean_the_same_return_the_same() -> None:
    with np.errstate(all="ignore"):
        for number in PAIRS:
            assert wrong("pairs", number) is None


def test_all_kinds_are_held() -> None:
    assert {*COMPILED, "pairs"} == set(KINDS)
