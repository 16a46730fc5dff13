"""Infinite factors: a sum is over its own points only, and over none it is 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tests.by_hand as h
import workbench as wb
from tests.backends.small_programs import scheduled
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference.evaluator import Reference
from workbench.measure.checking.agreement import deviation
from workbench.program.bodies import Body
from workbench.program.values import Equations

T = h.T
BEFORE, FROM = {"k": (0, h.t)}, {"k": (h.t, T)}


def inverse(e: Any) -> Body:
    """1 / e, infinite where e is 0."""
    return h.call("divide", 1.0, h.call("cast", h.value(e), dtype="float"))


def times(*factors: Any) -> Body:
    """A product."""
    product = factors[0]
    for factor in factors[1:]:
        product = h.call("multiply", product, factor)
    return product


X, XF, W, WT, V = (
    h.read("x", h.k),
    h.read("xf", h.k, shape=(3,)),
    h.read("w", h.k),
    h.read("w", h.t),
    h.read("vf", h.k, shape=(3,)),
)
M = h.read("m", shape=(3, 2))

BODIES: dict[str, tuple[Body, dict[str, Any]]] = {
    "factor beside": (times(X, WT), BEFORE),
    "summand that does not vary": (WT, BEFORE),
    "product that does not vary": (times(WT, WT), BEFORE),
    "divisor beside": (h.call("divide", X, h.call("cast", h.value(h.t), dtype="float")), BEFORE),
    "vector beside": (times(XF, h.read("vf", h.t, shape=(3,))), BEFORE),
    "outside of the range": (W, FROM),
    "outside of the range, a vector": (V, FROM),
    "outside of the range, with a factor": (times(W, h.read("g", h.t, h.k)), FROM),
    "outside of the range, contracted": (h.call("contract", V, M, spec="f,fg->g"), FROM),
    "outside of the range, both": (
        times(h.call("contract", V, M, spec="f,fg->g"), WT, X),
        {"k": (h.t + 1, T)},
    ),
    "too large together outside": (times(h.read("huge", h.k), h.read("huge", h.k)), FROM),
    "inside of the range": (times(W, X), {"k": (0, h.t + 1)}),
    "opposite inside of the range": (
        times(W, h.call("subtract", h.call("cast", h.value(h.k), dtype="float"), 0.5)),
        {"k": (0, h.t + 1)},
    ),
}


def equations(body: Body, over: dict[str, Any]) -> Equations:
    """y[t] = the sum of the body over k, beside w[t] = 1 / t."""
    row = {"t": (0, T)}
    vector = h.call("multiply", h.call("normal", shape=(3,)), inverse(h.t))
    first = h.call("where", h.call("equal", h.value(h.t), 0), 1e200, 1.0)
    return h.equations(
        h.statement("x", [h.t], h.call("normal", shape=()), row),
        h.statement("xf", [h.t], h.call("normal", shape=(3,)), row),
        h.statement("w", [h.t], inverse(h.t), row),
        h.statement("vf", [h.t], vector, row),
        h.statement("huge", [h.t], first, row),
        h.statement("m", [], h.call("normal", shape=(3, 2)), {}),
        h.statement("g", [h.t, h.k], h.call("uniform", shape=()), {**row, "k": (0, T)}),
        h.statement("y", [h.t], body, row, over, "sum"),
        sizes={"T": 5},
        dims={"t": T, "k": T},
        outputs=["y"],
    )


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("axes", [(), ("k",), ("t",), ("k", "t")], ids="+".join)
@pytest.mark.parametrize("name", BODIES)
def test_infinite_factor_agrees_with_reference(
    name: str, axes: tuple[str, ...], length: int
) -> None:
    p = equations(*BODIES[name])
    expected = Reference(p, {"T": length}, seed=3).array("y")
    compiled = NumPyBackend().compile(scheduled(p, axes))
    found = compiled.run({"T": length}, seed=3, dtype="float64")
    off = deviation("y", np.asarray(found.outputs["y"]), expected, "float64")
    assert off.worst <= 1e-9, off
    assert found.peak_bytes == compiled.loop_program.peak({"T": length}, "float64")


@wb.program
def behind(T: int = 5) -> dict[str, Any]:
    """Sums over what comes later, times and through what is infinite and 0 where nothing does."""
    t = wb.dim(t=T)
    x = wb.normal(over=t)
    left = wb.cast(T - 1 - wb.index(t), float)
    inverse = 1.0 / left
    return {"times": (x[t + 1 : T] * inverse).sum(), "through": (x[t + 1 : T] / left).sum()}


def test_steps_keep_the_empty_sum_0() -> None:
    root = wb.variant(behind())
    expected = Reference(root.program.equations, {"T": 5}, seed=3)
    steps = [move.step for move in root.moves() if move.refusal is None]
    assert {"Incrementalize", "Vectorize"} <= {type(step).__name__ for step in steps}
    variants = [*map(root.apply, steps), wb.optimize(root, backend="numpy")]
    for one in variants:
        result = wb.run(one, seed=3, dtype="float64", progress=False, backend="numpy")
        for name in result:
            off = deviation(name, result[name], expected.array(name), "float64")
            assert off.agrees, (one.steps, off)
