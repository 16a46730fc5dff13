"""The programs that are walked, by name: the small ones, those that read data, have windows, ends,
tables or replay, or solve systems, and the algorithms, traced once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from tests.datasets.logs import averages, regression, running
from tests.programs import PROGRAMS
from tests.soundness.ended import ended, sampled, stopped, trained
from tests.soundness.solved import filtered
from tests.soundness.tabled import counted, kept, moved, recalled
from tests.soundness.windowed import sliding, smoothed, tapped
from workbench.algorithms import ALGORITHMS
from workbench.program.values import Program

ALGORITHM_SIZES = {"B": 2, "I": 2, "T": 5, "hidden": (3,)}
FEW = {"ppo": {"E": 2, "M": 2}}
SEVERAL_BLOCKS = {"B": 8}
"""So many that the blocks of a dimension are dealt to several chunks."""


OF_DATA: Mapping[str, tuple[Callable[[], Program], Sequence[Mapping[str, int]]]] = {
    "averages": (averages, ({"W": 2, "K": 4, "I": 2}, {"W": 5, "K": 3, "I": 1})),
    "running": (running, ({"K": 1}, {"K": 7})),
    "regression": (regression, ({"K": 5, "I": 3}, {"K": 9, "I": 1})),
}
"""Programs that read data, and the sizes at which they are tried, on drawn rows."""
OF_WINDOWS: Mapping[str, tuple[Callable[[], Program], Sequence[Mapping[str, int]]]] = {
    "sliding": (sliding, ({"B": 2, "T": 7}, {"B": 1, "T": 2})),
    "tapped": (tapped, ({"B": 2, "T": 6}, {"B": 3, "T": 1})),
    "smoothed": (smoothed, ({"B": 2, "T": 6}, {"B": 3, "T": 2})),
}
OF_ENDS: Mapping[str, tuple[Callable[[], Program], Sequence[Mapping[str, int]]]] = {
    "ended": (ended, ({"B": 3, "T": 6}, {"B": 5, "T": 2})),
    "trained": (trained, ({"B": 2, "I": 2, "T": 4}, {"B": 4, "I": 1, "T": 3})),
    "stopped": (stopped, ({"B": 3, "T": 5}, {"B": 5, "T": 1})),
    "sampled": (sampled, ({"B": 3, "K": 2, "T": 5}, {"B": 2, "K": 3, "T": 1})),
}
OF_SYSTEMS: Mapping[str, tuple[Callable[[], Program], Sequence[Mapping[str, int]]]] = {
    "filtered": (filtered, ({"B": 2, "T": 4}, {"B": 5, "T": 1})),
}
OF_TABLES: Mapping[str, tuple[Callable[[], Program], Sequence[Mapping[str, int]]]] = {
    "counted": (counted, ({"W": 2, "K": 4}, {"W": 4, "K": 1})),
    "moved": (moved, ({"K": 5}, {"K": 1})),
    "tables": PROGRAMS["tables"],
}
OF_REPLAY: Mapping[str, tuple[Callable[[], Program], Sequence[Mapping[str, int]]]] = {
    "recalled": (recalled, ({"T": 6, "H": 3}, {"T": 2, "H": 4})),
    "kept": (kept, ({"B": 2, "T": 5, "H": 3}, {"B": 3, "T": 1, "H": 1})),
    "replay": PROGRAMS["replay"],
}
SMALL = {
    **PROGRAMS,
    **OF_DATA,
    **OF_WINDOWS,
    **OF_ENDS,
    **OF_SYSTEMS,
    **OF_TABLES,
    **OF_REPLAY,
}


@cache
def program_called(name: str) -> Program:
    """One of the small programs, one that reads data, or an algorithm at few and small sizes."""
    if name in SMALL:
        return SMALL[name][0]()
    return ALGORITHMS[name](**ALGORITHM_SIZES | FEW.get(name, {}))


def all_sizes(name: str) -> Sequence[Mapping[str, int]]:
    """The sizes at which it is tried."""
    return SMALL[name][1] if name in SMALL else ({}, SEVERAL_BLOCKS)
