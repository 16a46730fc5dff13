"""Solutions and Cholesky factors, and their derivatives, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import workbench as wb
from tests.codegen.cuda.fibres import fibres, watched
from tests.language.differences import check
from tests.native_runs import compiled, shared_cache
from tests.truth import truth
from workbench.backends.numpy import NumPyBackend
from workbench.errors import ProgramError, RunError, WorkbenchError
from workbench.program.values import Program
from workbench.transforms import Persist, Recompute, Simplify, Vectorize
from workbench.transforms.equations.evaluations import operations

Array = npt.NDArray[np.float64]


@wb.program
def computing(B: int = 4, T: int = 2) -> dict[str, Any]:
    """Vectors and matrices on the right, of matrices that lack a dim, and of several."""
    b, t = wb.dims(b=B, t=T)
    a, many = wb.normal(shape=(3, 3), over=b), wb.normal(shape=(2, 3, 3), over=(b, t))
    x, y = wb.normal(shape=(3,), over=(b, t)), wb.normal(shape=(2, 3), over=(b, t))
    definite = wb.contract("nij,nkj->nik", many, many) + 0.1 * np.eye(3)
    return {
        "a": a,
        "many": many,
        "x": x,
        "y": y,
        "one": wb.solve(a, x),
        "columns": wb.solve(a, wb.transpose(y)),
        "each": wb.solve(many, y),
        "whole": wb.solve(np.diag([2, 4, 8]), wb.cast(x > 0, int)),
        "factor": wb.cholesky(definite),
        "upper_unread": wb.cholesky(definite + np.triu(np.ones((3, 3)), 1)),
        "inverse": wb.solve(definite, np.stack([np.eye(3)] * 2)),
    }


@pytest.mark.parametrize("steps", [(), (Vectorize("b"), Vectorize("t"))], ids=["one", "axes"])
def test_results_are_numpys(steps: tuple[Vectorize, ...]) -> None:
    variant = wb.variant(computing())
    for step in steps:
        variant = variant.apply(step)
    found = NumPyBackend().compile(variant.program).run({}, 3, "float64").outputs
    exact = truth(computing(), seed=3).outputs()
    a, many, x, y = (np.asarray(found[name]) for name in ("a", "many", "x", "y"))
    definite = many @ many.swapaxes(-1, -2) + 0.1 * np.eye(3)
    inverse = np.linalg.inv(a)[:, None]
    wanted = {
        "one": (inverse @ x[..., None])[..., 0],
        "columns": inverse @ y.swapaxes(-1, -2),
        "each": (np.linalg.inv(many) @ y[..., None])[..., 0],
        "whole": (x > 0) / np.array([2.0, 4.0, 8.0]),
        "inverse": np.linalg.inv(definite),
    }
    for name, values in wanted.items():
        for result in (found, exact):
            np.testing.assert_allclose(result[name], values, rtol=1e-9, atol=1e-9)
    for result in (found, exact):
        factor = np.asarray(result["factor"])
        np.testing.assert_allclose(factor @ factor.swapaxes(-1, -2), definite, rtol=1e-12)
        assert (np.tril(factor) == factor).all()
        assert (np.diagonal(factor, axis1=-2, axis2=-1) > 0).all()
        np.testing.assert_array_equal(result["upper_unread"], factor)


# -- derivatives -----------------------------------------------------------------------------------

WEIGHTS = np.array([[0.4, -1.2, 0.7], [1.1, 0.3, -0.6], [-0.2, 0.9, 0.5]])


@wb.program
def derived(B: int = 2) -> dict[str, Any]:
    """Both with first derivatives, and with derivatives of something made of these."""
    b = wb.dim(b=B)
    a = wb.normal(shape=(3, 3), over=b) + 3.0 * np.eye(3)
    right = wb.normal(shape=(3, 3), over=b)
    definite = wb.contract("ij,kj->ik", right, right) + np.eye(3)
    solved = (wb.solve(a, right) * WEIGHTS).sum()
    factored = (wb.cholesky(definite) * WEIGHTS).sum()
    to_a, to_right = wb.gradient(solved, a), wb.gradient(solved, right)
    to_definite = wb.gradient(factored, definite)
    of_a = (to_a * to_a * WEIGHTS).sum() + (wb.sin(to_right) * a).sum()
    second = of_a.sum(over=b)
    bent = (to_definite * to_definite * WEIGHTS).sum().sum(over=b)
    return {
        "a": a,
        "right": right,
        "definite": definite,
        "solved": solved,
        "factored": factored,
        "to_a": to_a,
        "to_right": to_right,
        "to_definite": to_definite,
        "second": second,
        "bent": bent,
        "again_a": wb.gradient(second, a),
        "again_right": wb.gradient(second, right),
        "again_definite": wb.gradient(bent, definite),
    }


def test_derivatives_are_those_of_closed_forms() -> None:
    found = truth(derived(), seed=3).outputs()
    for b in range(2):
        a, right, definite = (np.asarray(found[name])[b] for name in ("a", "right", "definite"))
        inverse = np.linalg.inv(a)
        np.testing.assert_allclose(found["to_right"][b], inverse.T @ WEIGHTS, rtol=1e-9)
        to_a = -(inverse.T @ WEIGHTS) @ (inverse @ right).T
        np.testing.assert_allclose(found["to_a"][b], to_a, rtol=1e-9)
        each = [[(moved(definite, i, j) * WEIGHTS).sum() for j in range(3)] for i in range(3)]
        np.testing.assert_allclose(found["to_definite"][b], each, rtol=1e-9, atol=1e-12)


def moved(definite: Array, i: int, j: int) -> Array:
    """How the factor moves with an element of the lower triangle, and the one that mirrors it."""
    if j > i:
        return np.zeros((3, 3))
    moves = np.zeros((3, 3))
    moves[i, j] = moves[j, i] = 1.0
    factor = np.linalg.cholesky(definite)
    inverse = np.linalg.inv(factor)
    inside = inverse @ moves @ inverse.T
    return factor @ (np.tril(inside, -1) + np.diag(np.diag(inside)) / 2)


def test_second_derivatives_are_those_of_differences() -> None:
    program = derived()
    check(program, ("a", "right"), ("again_a", "again_right"), loss="second", tolerance=1e-5)
    check(program, ("definite",), ("again_definite",), loss="bent", tolerance=1e-5)


# -- matrices without a result ---------------------------------------------------------------------

SOLVES = "gain at {} solves with a singular matrix: a pivot of its elimination is 0"
FACTORS = "gain at {} takes wb.cholesky of a matrix that is not positive definite"


def failing(kind: str) -> Program:
    @wb.program
    def without(B: int = 40, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(shape=(3, 3), over=(b, t)) + np.eye(3)
        gone = (wb.index(b) == 33) & (wb.index(t) == 1)
        square = wb.where(gone, -1.0, wb.contract("ij,kj->ik", x, x) + np.eye(3))
        gain = wb.solve(square, x) if kind == "solve" else wb.cholesky(square)
        return {"gain": gain, "sum": gain.sum(over=t)}

    return without()


@pytest.mark.parametrize(("kind", "said"), [("solve", SOLVES), ("cholesky", FACTORS)])
def test_a_matrix_without_result_ends_every_run_alike(kind: str, said: str) -> None:
    program = failing(kind)
    blocks = wb.variant(program).apply(Persist("b", 16)).program
    axes = wb.variant(program).apply(Vectorize("b")).apply(Vectorize("t")).program
    runs: list[Callable[[], Any]] = [
        *(NumPyBackend().compile(p).run for p in (program, blocks, axes)),
        compiled(blocks).run,
        lambda: watched(fibres(blocks), {}),
    ]
    for run in runs:
        with shared_cache(), pytest.raises(RunError) as found:
            run()
        assert found.value.args[0].splitlines()[0] == said.format("b=33, t=1")
        assert "gain = wb.solve(square, x)" in str(found.value)
    with pytest.raises(ProgramError) as exact:
        wb.value(program, "gain", b=33, t=1)
    assert str(exact.value).splitlines()[0] == said.format("b=33, t=1 (B=40, T=3)")


def test_a_matrix_without_result_is_told_of_what_was_written_whatever_steps_made_of_it() -> None:
    @wb.program
    def split(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        square = -wb.uniform(shape=(2, 2), over=(b, t))
        factor = wb.cholesky(square)
        total = wb.exp(factor).sum(axis=(0, 1))
        most = (2.0 * total).max(over=t)
        return {"sum": (wb.index(t) * total).sum(over=t), "most": most}

    root = wb.variant(split())
    again = root.apply(Recompute("total")).apply(Recompute("factor"))
    assert "factor" not in again.program.array and "factor.again" in again.program.array
    for backend in ("numpy", "native"):
        with shared_cache(), pytest.raises(RunError) as found:
            wb.run(again, backend, progress=False)
        assert str(found.value).startswith("factor (computed again) at b=0, t=0 takes wb.cholesky")
        assert "at: factor = wb.cholesky(square)" in str(found.value)


def test_constants_are_computed_beforehand_but_for_a_matrix_without_result() -> None:
    @wb.program
    def constant(B: int = 2) -> dict[str, Any]:
        b = wb.dim(b=B)
        right, x = np.array([4.0, 2.0]), wb.uniform(shape=(2,), over=b)
        two, ones = 2.0 * np.eye(2), np.ones((2, 2))
        return {"x": wb.solve(two, right) * x, "y": wb.solve(ones, right) * x}

    variant = wb.variant(constant()).apply(Simplify())
    assert str(variant.program).count("solve(") == 1
    with pytest.raises(RunError, match=r"^a part of y at its only instance solves with a singular"):
        NumPyBackend().compile(variant.program).run()


@pytest.mark.parametrize("backend", ["reference", "numpy"])
def test_nan_goes_through_equations_but_is_no_positive_definite_matrix(backend: str) -> None:
    def undefined(kind: str) -> Program:
        @wb.program
        def made(B: int = 2) -> dict[str, Any]:
            b = wb.dim(b=B)
            x = wb.log(wb.uniform(shape=(2, 2), over=b) - 2.0)
            return {"y": wb.solve(x, np.ones(2)) if kind == "solve" else wb.cholesky(x)}

        return made()

    def outputs(program: Program) -> Any:
        if backend == "reference":
            return truth(program).outputs()
        return NumPyBackend().compile(program).run().outputs

    assert np.isnan(outputs(undefined("solve"))["y"]).all()
    with pytest.raises(WorkbenchError, match="not positive definite"):
        outputs(undefined("cholesky"))


def test_what_is_past_an_end_does_not_fail() -> None:
    @wb.program
    def ending(B: int = 3, T: int = 6) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        size = wb.recurrent("size", (), over=(b, t))
        size[b, 0] = 3.0 + wb.cast(wb.index(b), float)
        size[b, t + 1] = size - 1.0
        wb.until(size <= 1.0, over=t)  # later the matrix is 0, then negative
        matrix = size * np.eye(2)
        x = wb.solve(matrix, np.array([1.0, 2.0])) + wb.cholesky(matrix) @ np.ones(2)
        return {"x": x.sum(over=t)}

    program = ending()
    wanted = truth(program).outputs()["x"]
    steps = [np.arange(3.0 + b, 0.0, -1.0) for b in range(3)]
    exact = [[(1 / s + np.sqrt(s)).sum(), (2 / s + np.sqrt(s)).sum()] for s in steps]
    np.testing.assert_allclose(wanted, exact, rtol=1e-12)
    for variant in (wb.variant(program), wb.variant(program).apply(Vectorize("b"))):
        found = wb.run(variant, "numpy", dtype="float64", progress=False)
        np.testing.assert_allclose(found["x"], exact, rtol=1e-12)


# -- refusals --------------------------------------------------------------------------------------

X = "x[b]: float(3, 3)"
REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "other length": (
        lambda x, size: wb.solve(x, x[..., 0, :2]),
        f"as the right side of {X}, whose inner shape is (3, 3); expected (3,) or (3, m), found "
        "(2,)",
    ),
    "other rows": (
        lambda x, size: wb.solve(x, x[..., :2, :]),
        "expected (3,) or (3, m), found (2, 3)",
    ),
    "other matrices": (
        lambda x, size: wb.solve(wb.stack([x, x]), x),
        "whose inner shape is (2, 3, 3); expected (2, 3) or (2, 3, m), found (3, 3)",
    ),
    "not square": (
        lambda x, size: wb.solve(x[..., :2, :], x),
        "whose inner shape is (2, 3); expected (..., n, n), a square matrix in the last two inner "
        "axes",
    ),
    "a vector": (
        lambda x, size: wb.cholesky(x[..., 0]),
        "whose inner shape is (3,); expected (..., n, n), a square matrix in the last two inner "
        "axes",
    ),
    "a size": (
        lambda x, size: wb.cholesky(wb.normal(shape=(size, size))),
        "B is a size, expected a number",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_when_shapes_do_not_fit(name: str) -> None:
    function, said = REFUSED[name]

    @wb.program
    def refused(B: int = 2) -> dict[str, Any]:
        b = wb.dim(b=B)
        return {"y": function(wb.normal(shape=(3, 3), over=b), B)}

    with pytest.raises(ProgramError) as error:
        refused()
    assert said in str(error.value)
    assert "wb." in str(error.value).splitlines()[-1]


def test_operations_are_counted() -> None:
    def counted(n: int, columns: int) -> tuple[int, int]:
        @wb.program
        def one(B: int = 5) -> dict[str, Any]:
            b = wb.dim(b=B)
            a, right = wb.uniform(shape=(n, n), over=b), wb.uniform(shape=(n, columns), over=b)
            return {"x": wb.solve(a, right), "l": wb.cholesky(a)}

        variant = wb.variant(one()).apply(Vectorize("b"))
        told = variant.predict(backend="numpy").by_statement
        found = told["x"].operations // 5, told["l"].operations // 5
        assert found == tuple(operations(variant.program.statement[name].body) for name in "xl")
        return found

    assert counted(1, 1) == (1, 1)
    assert counted(2, 3) == (1 + 2 + 6 + 3 * (1 + 3), 1 + 4)
    n = 30
    solve, cholesky = counted(n, n)
    assert 0.97 < solve / (2 / 3 * n**3 + 2 * n**3) < 1.0
    assert 1.0 < cholesky / (n**3 / 3) < 1.06
