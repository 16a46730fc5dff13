"""An algorithm's run together with arrays of its own: first parameters, draws, steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

import workbench as wb
from workbench.program.values import Output, Program

Values = npt.NDArray[Any]


def recorded(program: Program, arrays: Sequence[str], seed: int = 0) -> dict[str, Values]:
    """Outputs of a run as written in float64, and whole arrays by name, dims in their order."""
    told = tuple(Output(f"array {name}", name) for name in arrays)
    outputs = (*program.equations.outputs, *told)
    shown = replace(program, equations=replace(program.equations, outputs=outputs))
    variant = wb.optimize(wb.variant(shown), backend="numpy")
    found = wb.run(variant, backend="numpy", seed=seed, dtype="float64", progress=False)
    return {name.removeprefix("array "): found[name] for name in found}


class Adam:
    """Adam on a list of arrays, which it changes (Kingma & Ba 2015, algorithm 1)."""

    def __init__(self, parameters: list[Values], rate: float) -> None:
        self.parameters, self.rate, self.step = parameters, rate, 0
        self.first = [0.0 * x for x in parameters]
        self.second = [0.0 * x for x in parameters]

    def update(self, gradient: Sequence[Values]) -> None:
        """Make one step."""
        self.step += 1
        for k, g in enumerate(gradient):
            self.first[k] = 0.9 * self.first[k] + 0.1 * g
            self.second[k] = 0.999 * self.second[k] + 0.001 * g**2
            mean = self.first[k] / (1 - 0.9**self.step)
            square = self.second[k] / (1 - 0.999**self.step)
            self.parameters[k] -= self.rate * mean / (square**0.5 + 1e-8)
