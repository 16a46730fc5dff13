"""An algorithm's run together with arrays of its own, and what second writings in NumPy share: a
network with its derivatives, Adam, Pendulum's observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
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


class Net:
    """Two layers of rectified units and a linear one."""

    def __init__(self, p: list[Values]) -> None:
        self.p = p

    def unit(self, x: Values) -> Values:
        """Output of the units of a layer."""
        return np.maximum(x, 0.0)

    def slope(self, x: Values) -> Values:
        """Derivative of the units' outputs. At 0 a rectified unit counts as open."""
        return np.asarray(x >= 0)

    def layers(self, x: Values) -> list[Values]:
        """Inputs, the hidden layers before their units, and outputs."""
        first = x @ self.p[0] + self.p[1]
        second = self.unit(first) @ self.p[2] + self.p[3]
        return [x, first, second, self.unit(second) @ self.p[4] + self.p[5]]

    def __call__(self, x: Values) -> Values:
        return self.layers(x)[-1]

    def backward(self, layers: list[Values], dy: Values) -> tuple[list[Values], Values]:
        """Derivatives by the parameters and by the inputs."""
        x, first, second, _ = layers
        h_1, h_2 = self.unit(first), self.unit(second)
        d_second = dy @ self.p[4].T * self.slope(second)
        d_first = d_second @ self.p[2].T * self.slope(first)
        pairs = ((x, d_first), (h_1, d_second), (h_2, dy))
        return [g for h, d in pairs for g in (h.T @ d, d.sum(axis=0))], d_first @ self.p[0].T


class Bent(Net):
    """The same with hyperbolic tangents."""

    def unit(self, x: Values) -> Values:
        """Output of the units of a layer."""
        return np.tanh(x)

    def slope(self, x: Values) -> Values:
        """Derivative of the units' outputs."""
        return 1 - np.tanh(x) ** 2


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


def observed(state: Values) -> Values:
    """Pendulum's observations: cosine and sine of the angle, and the velocity."""
    return np.stack([np.cos(state[..., 0]), np.sin(state[..., 0]), state[..., 1]], axis=-1)
