"""Checks of values in reductions that do not fill their box: what is outside means nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.errors import RunError
from workbench.language.tracing.nodes import apply
from workbench.program.values import Program
from workbench.transforms import Incrementalize, Recompute

Body = Callable[[Any, Any], Any]
"""A value of what is left of the steps, and of data, that is refused where nothing is left."""


def _index(left: Any, data: Any) -> Any:
    return (data * np.ones(1))[..., wb.cast(left <= 0.0, int)]


def _within(left: Any, data: Any) -> Any:
    zero = wb.cast(left <= 0.0, int)
    return wb.gather(data, t=wb.within(zero, 0, 1))


def _possible(left: Any, data: Any) -> Any:
    return wb.Categorical(wb.log(left * np.array([1.0, 2.0]))).log_probability(0)


def _positive(left: Any, data: Any) -> Any:
    return apply("positive", left) + data


def _regular(left: Any, data: Any) -> Any:
    return wb.solve(left * np.eye(2), data * np.ones(2)).sum(axis=0)


def _definite(left: Any, data: Any) -> Any:
    return wb.cholesky(left * np.eye(2)).sum(axis=0).sum(axis=0)


TOLD: dict[Body, str] = {
    _index: r"a tensor is indexed at axis 0 = 1, outside 0 to 0",
    _within: r"the index 1 of a part of most .*is not within 0 to 0",
    _possible: r"all logits of a Categorical are -inf",
    _positive: r"is not above 0",
    _regular: r"singular matrix",
    _definite: r"not positive definite",
}
BODIES = pytest.mark.parametrize("body", TOLD, ids=lambda body: body.__name__[1:])


def _most(body: Body, missing: int = 0) -> Program:
    """The greatest value of all steps. Nothing is left at the last ones, as many as `missing`."""

    @wb.program
    def most(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(over=t)
        left = wb.cast(wb.index(T - missing - t), float)
        return {"most": body(left, x).max(over=t)}

    return most()


def _in_blocks(program: Program) -> wb.Variant:
    """Return it in blocks of three steps, whose last one ends past T."""
    variant = wb.variant(program).apply(Incrementalize("most", "t", block=3))
    return variant.apply(Recompute("most.partial"))


@BODIES
@pytest.mark.parametrize("T", [3, 4, 5, 7])
def test_what_is_outside_is_not_refused(body: Body, T: int) -> None:
    program = _most(body)
    expected = Reference(program.equations, {"T": T}).outputs()["most"]
    run = get("numpy").compile(_in_blocks(program).program).run({"T": T}, dtype="float64")
    np.testing.assert_allclose(run.outputs["most"], expected, rtol=1e-12)


@BODIES
def test_what_is_inside_is_refused_with_its_instance(body: Body) -> None:
    variant = _in_blocks(_most(body, missing=1))
    with pytest.raises(RunError, match=TOLD[body]) as told:
        get("numpy").compile(variant.program).run({"T": 5}, dtype="float64")
    assert "t_block3=1" in str(told.value)
