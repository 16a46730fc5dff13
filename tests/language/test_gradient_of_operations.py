"""Every row of the operation table that has a gradient rule, against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.differences import check, differentiable
from workbench.backends.reference.evaluator import Reference
from workbench.language.tracing.nodes import apply
from workbench.program.operations.table import OPERATIONS

WEIGHTS = np.array([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]])


def total(y: Any) -> Any:
    """A loss in which every entry has a weight of its own."""
    ramp = np.arange(1.0, 1.0 + np.prod(y.shape, dtype=int)).reshape(y.shape)
    weighted = y * (ramp if y.shape else 1.5)
    b, t = (wb.index(e) for e in _dims(y))
    return (weighted.sum() if y.shape else weighted) * (1.0 + b + 0.3 * t)


def _dims(y: Any) -> Any:
    from workbench.polyhedral.expression import variable

    return variable("b"), variable("t")


def _place(x: Any) -> Any:
    """An entry of a table of two rows of three."""
    t = wb.index(_dims(x)[1])
    return t % 2, (t + 1) % 3


ROWS: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "negative": ((), lambda x: -x),
    "absolute": ((2,), lambda x: wb.absolute(x - 0.7)),
    "exp": ((), wb.exp),
    "log": ((), wb.log),
    "log1p": ((), wb.log1p),
    "sqrt": ((), wb.sqrt),
    "tanh": ((2,), wb.tanh),
    "sin": ((), wb.sin),
    "cos": ((), wb.cos),
    "lgamma": ((2,), lambda x: wb.lgamma(3.0 * x)),
    "digamma": ((2,), lambda x: wb.digamma(x + 0.3)),
    "add": ((2, 3), lambda x: x + x[..., 0, :] + wb.sin(x)),
    "subtract": ((2, 3), lambda x: 2.0 - x * x - x[..., 1, :]),
    "multiply": ((2, 3), lambda x: x * x[..., 0, :] * x[..., 0:1]),
    "divide": ((2, 3), lambda x: x / (1.0 + x[..., 0, :] * x[..., 1, :])),
    "power": ((2,), lambda x: x ** (1.0 + x[..., ::-1]) + 2.0**x + x**3 + x**-1.5),
    "minimum": ((2, 3), lambda x: wb.minimum(x * x, x[..., 0, :] * 0.7)),
    "maximum": ((2, 3), lambda x: wb.maximum(x * x, 0.5)),
    "where": ((2, 3), lambda x: wb.where(x > 0.7, x * x, x[..., 1, :])),
    "cast": ((), lambda x: wb.cast(x * x, float)),
    "contract": ((2, 3), lambda x: wb.contract("fg,hg->hf", x, WEIGHTS) @ x),
    "sum": ((2, 3), lambda x: x * x.sum(axis=0) + x.sum(axis=1)[..., 0]),
    "max": ((2, 3), lambda x: x.max(axis=0) * x.max(axis=1)[..., 0]),
    "min": ((2, 3), lambda x: x.min(axis=1)),
    "cumsum": ((2, 3), lambda x: wb.cumsum(x * x, axis=1)),
    "slice": ((2, 3), lambda x: x[..., ::-1] * x + x[..., -1, 1:2]),
    "pad": ((2, 3), lambda x: apply("pad", x * x, axis=1, before=1, after=2)),
    "reshape": ((2, 3), lambda x: wb.reshape(x * x, (3, 2))),
    "transpose": ((2, 3), lambda x: wb.transpose(x) @ x),
    "broadcast": ((3,), lambda x: apply("broadcast", x * x, shape=(2, 3))),
    "stack": (
        (2, 3),
        lambda x: wb.stack([x[..., 0, :], x[..., 1, :] * x[..., 0, :], x[..., 1, :]], axis=1),
    ),
    "concatenate": ((2, 3), lambda x: wb.concatenate([x, x * x, x[..., :1]], axis=1)),
    "take": (
        (2, 3),
        lambda x: (
            x[..., np.array([1, 0, 1]), :]
            + x[..., np.array([1, 0, 1]), np.array([2, 1, 2])]
            + x[..., wb.index(_dims(x)[1]) % 2, 2]
        ),
    ),
    "put": (
        (2, 3),
        lambda x: (
            wb.put(x * x, _place(x), x[..., 0, 1] * x[..., 1, 0]) * x
            + wb.put(x, wb.index(_dims(x)[1]) % 2, x[..., 1, :] * 2.0)
        ),
    ),
    "solve": (
        (3, 3),
        lambda x: wb.solve(x + 2.0 * np.eye(3), x) @ wb.solve(x @ x - np.eye(3), x[..., 0]),
    ),
    "cholesky": (
        (3, 3),
        lambda x: wb.cholesky(wb.transpose(x) @ x + 2.0 * x + 3.0 * np.eye(3)) * x,
    ),
    "add_at": (
        (2, 3),
        lambda x: wb.add_at(x, _place(x), x[..., *_place(x)] * x[..., 1, 0]) * x,
    ),
}


def test_every_rule_is_tested() -> None:
    rules = {name for name, row in OPERATIONS.items() if row.gradient is not None}
    assert rules == {*ROWS, "trigamma"}  # whose rule refuses


@pytest.mark.parametrize("name", ROWS)
def test_rule(name: str) -> None:
    shape, function = ROWS[name]

    def body(x: Any, shape: tuple[int, ...] = shape) -> Any:
        return total(function(x)).sum(over=_dims(x))

    check(differentiable(body)(B=1, T=2))


COMPOSED: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "relu": ((2,), lambda x: wb.relu(x - 0.6)),
    "sigmoid": ((2,), wb.sigmoid),
    "softplus": ((2,), lambda x: wb.softplus(8.0 * (x - 0.7))),
    "softmax": ((2, 3), lambda x: wb.softmax(x, axis=0) + wb.log_softmax(x, axis=1)),
    "std": ((2, 3), lambda x: x.std(axis=1)),
    "mean": ((2, 3), lambda x: x.mean(axis=0) * x.mean()),
    "clip": ((2, 3), lambda x: wb.clip(x * x, 0.3, 0.9)),
    "unstack": ((2, 3), lambda x: wb.unstack(x, axis=1)[2] * wb.unstack(x)[0][..., 1]),
    "matrix_vector": ((2, 3), lambda x: x @ x[..., 0, :]),
    "vector_matrix": ((2, 3), lambda x: x[..., 0] @ x),
    "dot": ((2, 3), lambda x: x[..., 0, :] @ x[..., 1, :]),
    "normal": ((2,), lambda x: wb.Normal(x, 0.5 + x).log_probability(np.array([0.1, 0.7]))),
    "normal_entropy": ((2,), lambda x: wb.Normal(x, 0.5 + x).entropy()),
    "normal_kl": ((2,), lambda x: wb.Normal(x, 0.5 + x).kl(wb.Normal(0.2, x))),
    "categorical": ((3,), lambda x: wb.Categorical(x).log_probability(1)),
    "categorical_entropy": ((3,), lambda x: wb.Categorical(x).entropy()),
    "categorical_kl": ((3,), lambda x: wb.Categorical(x).kl(wb.Categorical(x * x))),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_composed(name: str) -> None:
    shape, function = COMPOSED[name]

    def body(x: Any, shape: tuple[int, ...] = shape) -> Any:
        return total(function(x)).sum(over=_dims(x))

    check(differentiable(body)(B=1, T=2))


TIES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    # at ties the first operand or position receives everything
    "maximum": (lambda x: wb.maximum(x[0], x[1]), [1.0, 0.0, 0.0]),
    "minimum": (lambda x: wb.minimum(x[1], x[0]), [0.0, 1.0, 0.0]),
    "max": (lambda x: x.max(axis=0), [1.0, 0.0, 0.0]),
    "min": (lambda x: x.min(axis=0), [1.0, 0.0, 0.0]),
    "clip": (lambda x: wb.clip(x, 0.5, 2.0).sum(), [1.0, 1.0, 1.0]),
    "clip_above": (lambda x: wb.clip(x, 0.0, 0.5).sum(), [1.0, 1.0, 1.0]),
    "where": (lambda x: wb.where(x[0] >= x[1], x[0], x[2]), [1.0, 0.0, 0.0]),
    "absolute": (lambda x: wb.absolute(x - 0.5).sum(), [0.0, 0.0, 0.0]),
    "relu": (lambda x: wb.relu(x - 0.5).sum(), [1.0, 1.0, 1.0]),
    "softplus": (lambda x: wb.softplus(x - 0.5).sum(), [0.5, 0.5, 0.5]),
}


@pytest.mark.parametrize("name", TIES)
def test_ties(name: str) -> None:
    function, expected = TIES[name]

    @wb.program
    def tied() -> dict[str, Any]:
        x = wb.uniform(shape=3)
        return {"gradient": wb.gradient(function(x), x)}

    program = tied()
    half = {"x": lambda at: np.full(3, 0.5)}
    assert Reference(program.equations, given=half).element("gradient", ()).tolist() == expected


@pytest.mark.parametrize("kind", ["max", "min"])
def test_ties_of_a_reduction_over_a_dim(kind: str) -> None:
    @wb.program
    def tied(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        loss = x.max(over=t) if kind == "max" else x.min(over=t)
        return {"gradient": wb.gradient(loss, x)}

    half = {"x": lambda at: 0.5}
    assert Reference(tied().equations, given=half).array("gradient").tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    "function", [wb.floor, wb.sign, wb.isfinite, lambda x: x > 0.5, wb.stop_gradient]
)
def test_constant_to_gradient(function: Callable[[Any], Any]) -> None:
    @wb.program
    def constant(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        loss = wb.cast(function(x), float).sum(over=t)
        return {"gradient": wb.gradient(loss, x)}

    assert Reference(constant().equations).array("gradient").tolist() == [0, 0, 0]
