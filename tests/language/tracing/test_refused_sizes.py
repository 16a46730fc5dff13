"""Sizes and dims that cannot be, and reductions over nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.tracing.refused import B, T, refused, t
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, SizeError
from workbench.polyhedral.expression import variable

# -- reductions over nothing ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["max", "min", "argmax"])
def test_reduction_over_an_empty_range(kind: str) -> None:
    def body() -> Any:
        x = wb.uniform(over=t)
        return getattr(x[t + 1 : T], kind)()

    error = refused(body)
    assert error.message == (
        f"{kind} over no points at t=0 (T=1): y[t] = {kind}(t_1 in t+1..T-1) x[t_1]"
    )
    assert error.line is not None and error.line.text == "return getattr(x[t + 1 : T], kind)()"


def test_mean_over_an_empty_range() -> None:
    def body() -> Any:
        x = wb.uniform(over=t)
        later = x[t + 1 : T].mean()
        return later * 2.0

    error = refused(body)
    assert error.message == "mean over no points of t + 1:T at t=0 (T=1)"
    assert error.line is not None and error.line.text == "later = x[t + 1 : T].mean()"


def test_mean_over_a_dim_that_may_be_empty() -> None:
    error = refused(lambda: wb.uniform(over=(k := wb.dim(k=T - 1))).mean(over=k))
    assert error.message == "mean over no points of 0:T - 1 at the only instance (T=1)"


def test_std_over_a_window_that_may_be_empty() -> None:
    error = refused(lambda: wb.uniform(over=t)[t : wb.minimum(t + 2, T - 1)].std())
    assert error.message == "mean over no points of t:min(t + 2, T - 1) at t=0 (T=1)"


# -- sizes, dims, templates -----------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, -3, 2.5, True, "4", None])
def test_size_that_is_not_positive(value: Any) -> None:
    @wb.program
    def example(T: Any = 4) -> dict[str, Any]:
        return {"y": wb.index(T)}

    with pytest.raises(SizeError) as error:
        example(T=value)
    assert error.value.message == (
        f"size T must be a positive integer, found {value!r} "
        "(arguments whose name starts with a capital are sizes)"
    )


def test_numpy_integers_are_sizes() -> None:
    @wb.program
    def example(T: Any = 4) -> dict[str, Any]:
        return {"y": wb.index(T)}

    assert Reference(example(T=np.int64(7)).equations).array("y") == 7


def test_size_given_to_a_run_that_is_not_positive() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        return {"y": wb.index(T)}

    with pytest.raises(SizeError) as error:
        Reference(example().equations, {"T": 0})
    assert error.value.message == "size T must be a positive integer, found 0"


def test_derived_size_that_does_not_divide() -> None:
    @wb.program
    def example(B: int = 4, T: int = 6, M: int = 3) -> dict[str, Any]:
        K = wb.size(B * T // M)
        return {"y": wb.index(wb.dim(k=K))}

    program = example()
    with pytest.raises(SizeError) as error:
        Reference(program.equations, {"M": 5})
    assert error.value.message == "K = B * T // M: 24 does not divide by 5 (B=4, T=6, M=5)"
    assert error.value.line is not None and error.value.line.text == "K = wb.size(B * T // M)"


SIZES: dict[str, tuple[Callable[[], Any], str]] = {
    "dim_twice": (lambda: wb.dim(b=T), "dim b is declared twice"),
    "dim_like_a_size": (lambda: wb.dim(T=3), "dim T has the name of a size"),
    "empty_dim": (lambda: wb.dim(k=0), "the size of dim k is 0; expected at least 1"),
    "float_dim": (lambda: wb.dim(k=2.5), "the size of dim k is 2.5; expected a size or an int"),
    "product": (
        lambda: wb.dim(k=B * T),
        "the size of dim k is B * T; name it first: N = wb.size(B * T)",
    ),
    "two_in_one": (lambda: wb.dim(k=1, m=2), "wb.dim declares one dim, found k, m; use wb.dims"),
    "size_of_a_dim": (lambda: wb.size(T + t), "a size cannot depend on the dim t: t + T"),
    "size_of_data": (
        lambda: wb.size(wb.uniform()),
        "the definition of a size is uniform[]: float(); expected an expression over sizes",
    ),
    "recurrent_over_a_number": (lambda: wb.recurrent("s", (), over=4), "expected a dim, found 4"),
    "recurrent_over_an_unknown_dim": (
        lambda: wb.recurrent("s", (), over=variable("q")),
        "unknown dim q; declared dims: b, i, t",
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_dims(name: str) -> None:
    function, sentence = SIZES[name]
    error = refused(function)
    assert error.message == sentence
    assert error.line is not None and error.line.file.endswith("test_refused_sizes.py")


def test_derived_sizes_have_the_values_of_their_definitions() -> None:
    @wb.program
    def example(B: int = 2, T: int = 4) -> dict[str, Any]:
        L, N, P = wb.size(T * 2), wb.size(T - 1), wb.size(B * T)
        H = wb.size(T // 2)
        b, t, l, n, p, h = wb.dims(b=B, t=T, l=L, n=N, p=P, h=H)
        x, y, z = wb.uniform(over=l), wb.uniform(over=t), wb.uniform(over=p)
        pairs = wb.recurrent("pairs", (), over=t)
        pairs[2 * h] = y[2 * h]
        pairs[2 * h + 1] = -y[2 * h + 1]
        last = y[n : n + 1 + T - N].max() + wb.uniform(over=h)[H - 1]
        return {"v": x[2 * t + 1], "w": y[n + 1] - y + last, "z": z[t] + z[b + T - 1], "p": pairs}

    program = example()
    for sizes in ({}, {"B": 1, "T": 2}, {"B": 3, "T": 6}):
        expected = Reference(program.equations, sizes).outputs()
        for one in (program, wb.optimize(wb.variant(program), backend="numpy").program):
            found = get("numpy").compile(one).run(sizes, dtype="float64").outputs
            for name, value in expected.items():
                np.testing.assert_allclose(found[name], value, rtol=1e-12)


def test_read_beyond_a_derived_size_shows_sizes_that_there_are() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        N = wb.size(T * 2)
        n, t = wb.dims(n=N, t=T)
        return {"y": wb.uniform(over=n)[2 * t + 2]}

    with pytest.raises(ProgramError, match=r"read at t=0 \(T=1, N=2\)"):
        example()
