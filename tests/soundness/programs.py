"""The programs that are walked, by name: the small ones and the algorithms, traced once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from tests.programs import PROGRAMS
from workbench.algorithms import ALGORITHMS
from workbench.program.values import Program

ALGORITHM_SIZES = {"B": 2, "I": 2, "T": 5, "hidden": (3,)}
FEW = {"ppo": {"E": 2, "M": 2}}
SEVERAL_BLOCKS = {"B": 8}
"""So many that the blocks of a dimension are dealt to several chunks."""


@cache
def program_called(name: str) -> Program:
    """One of the small programs, or an algorithm at few and small sizes."""
    if name in PROGRAMS:
        return PROGRAMS[name][0]()
    return ALGORITHMS[name](**ALGORITHM_SIZES | FEW.get(name, {}))


def all_sizes(name: str) -> Sequence[Mapping[str, int]]:
    """The sizes at which it is tried."""
    return PROGRAMS[name][1] if name in PROGRAMS else ({}, SEVERAL_BLOCKS)
