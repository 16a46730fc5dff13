"""Values of distributions while tracing, and their derivatives, by the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.language.differences import check, differentiable
from workbench.backends.reference.evaluator import Reference
from workbench.errors import WorkbenchError
from workbench.polyhedral.expression import variable

b, t = variable("b"), variable("t")


def outputs(**bodies: Callable[[], Any]) -> dict[str, npt.NDArray[Any]]:
    """Each body's value, a function called while tracing."""

    @wb.program
    def example() -> dict[str, Any]:
        return {name: body() for name, body in bodies.items()}

    return Reference(example().equations, seed=2).outputs()


def drawn(distribution: Callable[[Any], Any], count: int, seed: int = 5) -> npt.NDArray[Any]:
    """So many samples of a distribution, which is given a zero that varies."""

    @wb.program
    def example(N: int = count) -> dict[str, Any]:
        n = wb.dim(n=N)
        return {"sample": distribution(wb.uniform(over=n) * 0.0).sample()}

    return wb.run(example(), seed=seed, dtype="float64", progress=False, backend="numpy")["sample"]


def check_gradient(shape: tuple[int, ...], value: Callable[[Any], Any]) -> None:
    """The derivative of `value(x)` squared and summed, x of that shape being from (0.2, 1.2)."""

    def body(x: Any, shape: tuple[int, ...] = shape) -> Any:
        return (value(x) ** 2).sum(over=(b, t))

    check(differentiable(body)(B=1, T=2))


def check_moments(sample: npt.NDArray[Any], mean: Any, variance: Any, fourth: Any) -> None:
    """The moments of independent samples along the first axis, within five standard errors:
    `fourth` is the central moment, of which that of the variance follows.
    """
    count = len(sample)
    mean, variance, fourth = (np.asarray(x, float) for x in (mean, variance, fourth))
    error = (sample.mean(axis=0) - mean) / np.sqrt(variance / count)
    assert (np.abs(error) < 5).all(), error
    squares = (sample - mean) ** 2
    error = (squares.mean(axis=0) - variance) / np.sqrt((fourth - variance**2) / count)
    assert (np.abs(error) < 5).all(), error


def sentence(body: Callable[[], Any]) -> str:
    """What is said of a body that is refused, with a line of the user's."""
    with pytest.raises(WorkbenchError) as error:
        outputs(y=body)
    assert error.value.line is not None
    return error.value.message
