"""An operation is its row and its array function: with these two it works everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.differences import check, differentiable
from tests.truth import truth
from workbench.backends.numpy import NumPyBackend
from workbench.errors import RunError
from workbench.language.tracing.nodes import apply
from workbench.lowering.functions import FUNCTIONS, ArrayFunction, Cost
from workbench.measure.calibration import probes
from workbench.program.operations import dtypes, shapes
from workbench.program.operations.operation import Operation
from workbench.program.operations.table import OPERATIONS
from workbench.transforms import Simplify, Vectorize

EXP2 = Operation(
    "exp2",
    shapes.broadcast,
    dtypes.floating,
    np.exp2,
    lambda do, xs, y, g: (g * y * math.log(2.0),),
    arity=1,
    elementwise=True,
    ufunc="exp2",
    least="float",
    converts=True,
)
INVERSE = Operation("inverse", shapes.same, dtypes.floating, np.linalg.inv, arity=1)
ROWS = (
    ArrayFunction(
        "exp2",
        "{f}({inputs:list}, out={out})",
        Cost("exp2", element=(0.5, 0.9)),
        "exp2",
        elementwise=True,
    ),
    ArrayFunction(
        "inverse", "{f}({inputs:list}, {out})", Cost("inverse", "factors", 2), evaluated=True
    ),
)


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tables with one ufunc and one function of whole matrices more."""
    for operation in (EXP2, INVERSE):
        monkeypatch.setitem(OPERATIONS, operation.name, operation)
    for row in ROWS:
        monkeypatch.setitem(FUNCTIONS, row.name, row)
    yield


@wb.program
def powers(B: int = 3, T: int = 4) -> dict[str, Any]:
    """Both of them, of draws, of a dim and of a constant."""
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    y = apply("exp2", x)
    matrix = wb.uniform(shape=(2, 2), over=(b, t)) + np.eye(2)
    return {
        "x": x,
        "y": y,
        "matrix": matrix,
        "inverse": apply("inverse", matrix),
        "whole": apply("exp2", wb.index(t)),
        "twice": x * apply("exp2", 1),
    }


def test_is_traced_and_printed() -> None:
    program = powers()
    text = str(program)
    assert "y[b, t] = exp2(x[b, t])" in text
    assert "inverse[b, t]: float(2, 2) = inverse(matrix[b, t])" in text
    assert "whole[t] = exp2(t)" in text
    assert program.array["whole"].dtype == "float"


@pytest.mark.parametrize("axes", [(), ("t",), ("b", "t")])
def test_runs_as_the_reference_and_numpy_say(axes: tuple[str, ...]) -> None:
    variant = wb.variant(powers())
    for dim in axes:
        variant = variant.apply(Vectorize(dim))
    numpy = wb.run(variant, dtype="float64", seed=3, backend="numpy").outputs
    reference = truth(variant.program, seed=3).outputs()
    for outputs in (numpy, reference):
        np.testing.assert_allclose(outputs["y"], np.exp2(outputs["x"]))
        np.testing.assert_allclose(outputs["inverse"], np.linalg.inv(outputs["matrix"]))
        np.testing.assert_allclose(outputs["whole"], np.exp2(np.arange(4.0)))
        np.testing.assert_allclose(outputs["twice"], outputs["x"] * 2.0)


def test_source_writes_where_memory_is() -> None:
    source = NumPyBackend().compile(wb.variant(powers()).program).source
    assert ", out=" in next(line for line in source.splitlines() if " exp2(" in line)


def test_gradient_is_that_of_differences() -> None:
    def body(x: Any) -> Any:
        return apply("exp2", x * x).sum(over=tuple(x.index))

    check(differentiable(body)(B=1, T=2))


def test_is_predicted() -> None:
    variant = wb.variant(powers()).apply(Vectorize("t")).apply(Vectorize("b"))
    shares = variant.predict({"B": 30, "T": 40}, backend="numpy").by_statement
    assert shares["y"].operations == 30 * 40
    assert shares["inverse"].operations == 2 * (30 * 40 * 2 * 2) * 2
    assert shares["inverse"].launches == 1
    assert 0 < shares["y"].seconds < 1


def test_of_a_constant_is_a_constant() -> None:
    assert "twice[b, t] = x[b, t] * 2.0" in str(wb.variant(powers()).apply(Simplify()).program)


@wb.program
def large(at: float = 0.0, B: int = 2) -> dict[str, Any]:
    """A power of what is about `at`."""
    b = wb.dim(b=B)
    return {"y": apply("exp2", wb.uniform(over=b) + at)}


def test_infinities_of_infinite_operands_are_passed_on_and_others_found() -> None:
    assert (
        wb.run(large(math.inf), check_finite=True, backend="numpy").outputs["y"].tolist()
        == [math.inf] * 2
    )
    with pytest.raises(RunError, match="y is inf at b=0, the first value that is not finite"):
        wb.run(large(1e5), check_finite=True, backend="numpy")


@dataclass
class Timed:
    """A stopwatch that only notes which functions are timed."""

    xp: Any = np
    functions: dict[str, Any] = field(default_factory=dict)
    timed: list[str] = field(default_factory=list)

    def array(self, *shape: int, dtype: str = "float32") -> Any:
        return np.ones(shape, dtype)

    def seconds(self, statement: str, function: str = "", **names: Any) -> float:
        self.timed.append(function)
        return 1.0


def test_its_own_rate_is_measured() -> None:
    watch = Timed(functions=dict.fromkeys(FUNCTIONS))
    assert "exp2" in probes.elements(watch, "float32")  # type: ignore[arg-type]
    assert "exp2" in watch.timed
