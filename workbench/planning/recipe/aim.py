"""The aim of a plan: what it is to be best at, and for which runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from workbench.errors import WorkbenchError, nearest
from workbench.planning.cost.lengths import UNKNOWN, Lengths
from workbench.planning.machine.constants import Machine
from workbench.polyhedral.expression import whole

Objective = Literal["time", "memory"]

SearchListener = Callable[[str, str], None]
"""A function called with what is tried next, and with the cost of the best plan so far in words, ""
where none is known.
"""


def silent(idea: str, so_far: str) -> None:
    """Listen to nothing."""


def telling(say: Callable[[str], None]) -> SearchListener:
    """Return a listener that says in a sentence what it hears."""

    def listen(idea: str, so_far: str) -> None:
        say(f"choosing steps: {idea}" + (f"; best so far {so_far}" if so_far else ""))

    return listen


@dataclass(frozen=True)
class Aim:
    """The aim of a plan: least time or least memory of the device, at most `capacity` bytes of it,
    for runs at these sizes, with episodes of these lengths. `told` hears of the search, which it
    has no part in.
    """

    objective: Objective
    capacity: int | None
    sizes: Mapping[str, int]
    machine: Machine
    dtype: str
    threads: int
    lengths: Lengths = UNKNOWN
    told: SearchListener = field(default=silent, compare=False, repr=False)

    def __hash__(self) -> int:
        """Return the same for equal aims; sizes are a mapping, and have no hash."""
        return hash((self.objective, self.capacity, self.dtype))


def expect_aim(objective: str, capacity: object) -> int | None:
    """Return the capacity as a plain number. Refuse an unknown objective and a capacity that is no
    number of bytes.
    """
    known = get_args(Objective)
    if objective not in known:
        hint = nearest(str(objective), known, "objectives")
        raise WorkbenchError(f"unknown objective {objective!r}: {hint}")
    if capacity is None:
        return None
    number = whole(capacity)
    if number is None or number <= 0:
        raise WorkbenchError(f"capacity {capacity!r}; expected a positive number of bytes")
    return number
