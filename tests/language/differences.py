"""Derivatives by central differences, against those that a program computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import workbench as wb
from workbench.backends.reference.evaluator import Override, Reference
from workbench.language.template.template import Template
from workbench.program.values import Program

Values = Mapping[tuple[int, ...], npt.NDArray[Any]]
STEP = 1e-6


def differentiable(body: Callable[..., Any], **sizes: int) -> Template:
    """A program of `b < 2, t < 5` whose input `x` is uniform in (0.2, 1.2), shape as annotated.

    `body(x)` gives the loss; the program returns it with its derivative.
    """
    shape = body.__defaults__[0] if body.__defaults__ else ()

    @wb.program
    def differentiated(B: int = 2, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(0.2, 1.2, shape=shape, over=(b, t))
        loss = body(x)
        return {"x": x, "loss": loss, "gradient": wb.gradient(loss, x)}

    return differentiated


def check(
    program: Program,
    wrt: Sequence[str] = ("x",),
    gradients: Sequence[str] = ("gradient",),
    sizes: Mapping[str, int] | None = None,
    given: Mapping[str, Override] | None = None,
    loss: str = "loss",
    at: tuple[int, ...] = (),
    tolerance: float = 1e-6,
) -> None:
    """Every element of `wrt`: its derivative in `gradients` is that of `loss[at]`."""
    plain = Reference(program.equations, sizes, 3, given)
    for name, derivative in zip(wrt, gradients, strict=True):
        mask, values = plain.mask(name), plain.array(name)
        found, expected = [], []
        lower = [lo.evaluate(plain.sizes) for lo, _ in program.array[plain.resolve(name)].extent]
        for position in np.argwhere(mask):
            element = tuple(int(p) + lo for p, lo in zip(position, lower, strict=True))
            value = values[tuple(position)]
            computed = plain.element(derivative, element)
            for inner in np.ndindex(value.shape):
                found.append(float(computed[inner]))
                expected.append(
                    _difference(program, plain, name, element, inner, sizes, given or {}, loss, at)
                )
        scale = np.abs(expected) + np.max(np.abs(expected))
        error = np.max(np.abs(np.array(found) - expected) / np.maximum(scale, 1e-3))
        assert error <= tolerance, (name, error, found, expected)


def _difference(
    program: Program,
    plain: Reference,
    name: str,
    element: tuple[int, ...],
    inner: tuple[int, ...],
    sizes: Mapping[str, int] | None,
    given: Mapping[str, Override],
    loss: str,
    at: tuple[int, ...],
) -> float:
    ends = []
    for sign in (1.0, -1.0):
        moved = np.array(plain.element(name, element))
        moved[inner] += sign * STEP
        override = _single(element, moved, given.get(name))
        ends.append(
            Reference(program.equations, sizes, 3, {**given, name: override}).element(loss, at)
        )
    return float(ends[0] - ends[1]) / (2 * STEP)


def _single(element: tuple[int, ...], value: Any, other: Override | None) -> Override:
    def override(at: tuple[int, ...]) -> Any:
        return value if at == element else None if other is None else other(at)

    return override
