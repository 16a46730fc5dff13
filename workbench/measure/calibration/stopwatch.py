"""Seconds of a statement as generated source writes it, on arrays of a backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SAMPLES, SHORTEST, TURNS = 5, 4e-4, 60


@dataclass
class Stopwatch:
    """Arrays and functions of a backend, and the least seconds of statements over them.

    The least of some samples counts: a disturbance only ever makes a sample longer.
    """

    xp: Any
    functions: Mapping[str, Any]
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def array(self, *shape: int, dtype: str = "float32") -> Any:
        """Return numbers between 0.5 and 1.5; of integers 1 to 6; of booleans one in eight is
        true.
        """
        if dtype == "bool":
            return self.xp.asarray(self.random.random(shape) < 0.125)
        if dtype.startswith("int"):
            return self.xp.asarray(self.random.integers(1, 7, shape, dtype))
        return self.xp.asarray((self.random.random(shape) + 0.5).astype(dtype))

    def seconds(self, statement: str, function: str = "", **names: Any) -> float:
        """Return the least seconds of a statement, in which `f` is that function of the table."""
        if function:
            names["f"] = self.functions[function]
        space: dict[str, Any] = {}
        lines = f"def loop(n, {', '.join(names)}):\n    for _ in range(n):\n        {statement}\n"
        exec(lines, space)
        n, taken = 1, self._once(space["loop"], 1, names)
        while taken < SHORTEST:
            n *= 4
            taken = self._once(space["loop"], n, names)
        return min(self._once(space["loop"], n, names) for _ in range(SAMPLES)) / n

    def in_turn(
        self, statement: str, other: Callable[[], Any], names: Mapping[str, Any]
    ) -> tuple[float, float]:
        """Return the median seconds of a statement run again and again, and run in turn with
        another.
        """
        space: dict[str, Any] = {}
        exec(f"def once(n, all):\n    {', '.join(names)}, = all\n    {statement}\n", space)
        given = {"all": tuple(names.values())}
        again, turns = [], []
        for _ in range(TURNS):
            self._once(space["once"], 1, given)
            again.append(self._once(space["once"], 1, given))
            other()
            turns.append(self._once(space["once"], 1, given))
        return float(np.median(again)), float(np.median(turns))

    def _once(self, loop: Callable[..., None], n: int, names: Mapping[str, Any]) -> float:
        start = time.perf_counter()
        loop(n, **names)
        return time.perf_counter() - start
