"""Shapes and dtypes that do not fit together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.tracing.refused import T, b, recurrent, refused, t
from workbench import nn, optim

MISMATCHES: dict[str, tuple[Callable[[], Any], str]] = {
    "shapes": (
        lambda: wb.uniform(shape=2, over=b) + wb.uniform(shape=3, over=b),
        "uniform[b]: float(2,) + uniform[b]: float(3,): shapes (2,) and (3,) do not fit together",
    ),
    "matrix_product": (
        lambda: wb.uniform(shape=(2, 3)) @ wb.uniform(shape=2),
        "contract(uniform[]: float(2, 3), uniform[]: float(2,)): "
        "shapes (2, 3) and (2,) do not contract: 3 against 2",
    ),
    "matrix_product_of_scalars": (
        lambda: wb.uniform() @ wb.uniform(shape=2),
        "uniform[]: float() @ uniform[]: float(2,): expected vectors or matrices, "
        "found shapes () and (2,)",
    ),
    "network_input": (
        lambda: nn.linear("net", 3, 1)(nn.parameters(nn.linear("net", 3, 1)), wb.uniform(shape=2)),
        "network 'net' expects inputs of shape (3,), found (2,)",
    ),
    "reshape": (
        lambda: wb.reshape(wb.uniform(shape=6), (4,)),
        "reshape(uniform[]: float(6,)): reshape of (6,) to (4,): other number of elements",
    ),
    "logical": (
        lambda: wb.uniform() & (wb.index(t) > 1),
        "uniform[]: float() and (wb.index(t) > 1): bool(): expected booleans, found float and bool",
    ),
    "inverted_float": (
        lambda: ~wb.uniform(),
        "not uniform[]: float(): expected booleans, found float",
    ),
    "condition": (
        lambda: wb.where(wb.uniform(), 1.0, 0.0),
        "where(uniform[]: float(), 1.0, 0.0): where expects a boolean condition, found float",
    ),
    "floor_quotient_of_floats": (
        lambda: wb.uniform() // 2,
        "uniform[]: float() // 2.0: expected integers, found float and float",
    ),
    "not_a_number": (lambda: wb.uniform() + "a", "expected a tensor or a number, found 'a'"),
    "none": (lambda: wb.uniform() * None, "expected a tensor or a number, found None"),
    "logits": (
        lambda: wb.Categorical(wb.uniform()),
        "Categorical expects logits of inner shape (choices,), found uniform[]: float()",
    ),
    "mean_over_what_is_summed_over": (
        lambda: wb.uniform(over=(b, t)).sum(over=t).mean(over=t),
        "mean over t of sum[b]: float(), which is reduced over t already (sum over t) and varies "
        "over b; leave t out",
    ),
    "sum_over_what_a_mean_was_made_of": (
        lambda: (2.0 * wb.uniform(over=(b, t)).max(over=(b, t)) + 1.0).sum(over=b),
        "sum over b of ((2.0 * max[]) + 1.0): float(), which is reduced over b already (max over "
        "b, t) and varies over no dim; leave b out",
    ),
    "no_axis": (
        lambda: wb.uniform(shape=2).sum(axis=1),
        "uniform[]: float(2,) has no inner axis 1",
    ),
    "nothing_to_reduce": (
        lambda: wb.uniform(over=b).sum(),
        "uniform[b]: float() has no range axis and no inner axis; say over= which dims",
    ),
    "reduce_over_data": (
        lambda: wb.uniform(over=b).sum(over=wb.index(b)),
        "expected a dim, found wb.index(b)",
    ),
    "reduce_over_a_name": (
        lambda: wb.uniform(over=t).sum(over="t"),
        "expected a dim, found 't', which is its name: write the dim itself, t instead of 't'",
    ),
    "reduce_over_a_name_that_no_dim_has": (
        lambda: wb.uniform(over=t).sum(over="time"),
        "expected a dim, found 'time'",
    ),
    "reduce_over_a_shift": (
        lambda: wb.uniform(over=t).sum(over=t + 1),
        "expected a dim, found t + 1",
    ),
    "over_and_axis": (
        lambda: wb.uniform(shape=2, over=b).sum(over=b, axis=0),
        "a reduction takes over= (dims) or axis= (an inner axis), not both",
    ),
    "argmax_of_two": (
        lambda: wb.uniform(over=(b, t)).argmax(over=(b, t)),
        "argmax is over exactly one dim",
    ),
    "empty_low": (
        lambda: wb.uniform([], over=t),
        "low=[] is empty; expected numbers (the inner shape is given by shape=)",
    ),
    "empty_std": (
        lambda: wb.normal(0.0, []),
        "std=[] is empty; expected numbers (the inner shape is given by shape=)",
    ),
    "numpy": (lambda: np.exp(wb.uniform()), "np.exp of a tensor; use wb.exp"),
    "numpy_method": (lambda: np.mean(wb.uniform(shape=2)), "np.mean of a tensor; use x.mean(…)"),
    "numpy_abs": (lambda: np.abs(wb.uniform()), "np.absolute of a tensor; use wb.absolute"),
    "numpy_solve": (
        lambda: np.linalg.solve(np.eye(2), wb.uniform(shape=2)),
        "np.linalg.solve of a tensor; use wb.solve",
    ),
    "numpy_inverse": (
        lambda: np.linalg.inv(wb.uniform(shape=(2, 2))),
        "np.linalg.inv of a tensor; it is not part of a program",
    ),
    "numpy_square": (lambda: np.square(wb.uniform()), "np.square of a tensor; use x * x"),
    "numpy_where": (
        lambda: np.where(wb.uniform() > 0.5, 1.0, 0.0),
        "np.where of a tensor; use wb.where",
    ),
    "numpy_method_of_a_function": (
        lambda: np.add.reduce(wb.uniform(shape=2)),
        "np.add.reduce of a tensor; it is not part of a program",
    ),
    "float": (
        lambda: float(wb.uniform(over=b)),
        "uniform[b]: float() has no value before the program runs; wb.cast(x, float) converts a "
        "tensor, wb.value(program, name) shows a value",
    ),
    "int": (
        lambda: int(wb.index(b)),
        "wb.index(b) has no value before the program runs; wb.cast(x, int) converts a tensor, "
        "wb.value(program, name) shows a value",
    ),
    "loop": (
        lambda: [k for k in range(T)],  # type: ignore[arg-type]  # noqa: C416
        "T has no value before the program runs: instead of a loop over range(T), declare a dim, "
        "k = wb.dim(k=T); instead of an array of so many numbers, wb.index(k) or "
        "wb.normal(over=k); as a number of the program, wb.index(T)",
    ),
    "iteration": (
        lambda: list(wb.uniform(shape=2)),
        "a tensor cannot be iterated; use wb.unstack(x)",
    ),
    "truth": (
        lambda: 1 if wb.uniform() > 0 else 0,
        "a tensor has no truth value while tracing; use wb.where, &, |, ~",
    ),
    "and": (
        lambda: (wb.uniform() > 0) and True,
        "a tensor has no truth value while tracing; use wb.where, &, |, ~",
    ),
    "chained_comparison": (
        lambda: 0 < wb.uniform() < 1,
        "a tensor has no truth value while tracing; use wb.where, &, |, ~",
    ),
    "stack_of_nothing": (lambda: wb.stack([]), "stack of no tensors"),
    "dtype": (
        lambda: wb.recurrent("s", (), over=t, dtype="complex"),
        "s: dtype 'complex'; expected float, int or bool",
    ),
    "cast": (
        lambda: wb.cast(wb.uniform(), "complex"),
        "dtype 'complex'; expected float, int or bool",
    ),
    "optimizer_without_a_gradient": (
        lambda: optim.sgd({"w": wb.uniform()}, 0.1),
        "expected wb.gradient(loss, theta) of nn.parameters, found {'w': uniform[]: float()}",
    ),
    "discounted_sum_without_a_range": (
        lambda: wb.discounted_sum(wb.uniform(over=t), 0.9),
        "discounted_sum expects one range axis, as in x[b, t:T]; found uniform[t]: float()",
    ),
    "wrong_network": (
        lambda: nn.linear("a", 2, 1)(nn.parameters(nn.linear("b", 2, 1)), wb.uniform(shape=2)),
        "network 'a' needs the parameters weight_1, bias_1, which are not among b.weight_1, "
        "b.bias_1; pass the network to nn.parameters",
    ),
    "network_without_parameters": (
        lambda: nn.linear("a", 2, 1)(wb.uniform(shape=2)),
        "network 'a' is called with parameters before its inputs, as in a(theta, x) where "
        "theta = nn.parameters(a), found uniform[]: float(2,)",
    ),
    "shape_of_a_draw_in_place": (
        lambda: wb.uniform((3,)),
        "low is (3,), a tuple; expected a number or a tensor: a shape is given by its name, "
        "shape=(3,)",
    ),
    "shape_of_a_normal_draw_in_place": (
        lambda: wb.normal(0.0, (3, 2)),
        "std is (3, 2), a tuple; expected a number or a tensor: a shape is given by its name, "
        "shape=(3, 2)",
    ),
    "draws_from_nothing": (
        lambda: wb.uniform(2.0, 1.0),
        "wb.uniform draws from low to high, found low=2.0 and high=1.0",
    ),
    "draws_of_less_than_no_deviation": (
        lambda: wb.normal(0.0, -1.0),
        "wb.normal has a standard deviation of at least 0, found std=-1.0",
    ),
    "draws_over_a_number": (lambda: wb.uniform(over=3), "expected a dim, found 3"),
    "permutation_of_data": (
        lambda: wb.permutation(wb.uniform())[0],
        "the size of a permutation is uniform[]: float(); expected a whole number or a size",
    ),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_mismatch(name: str) -> None:
    function, sentence = MISMATCHES[name]
    error = refused(function)
    assert error.message == sentence
    assert error.line is not None and error.line.file.endswith("test_refused_shapes.py")


def test_shape_of_a_piece() -> None:
    def body() -> Any:
        s = recurrent(shape=3)
        s[t] = wb.uniform(shape=2, over=t)
        return s

    error = refused(body)
    assert error.message == "s[t] has shape (3,), but the value has shape (2,)"
    assert error.line is not None and error.line.text == "s[t] = wb.uniform(shape=2, over=t)"


def test_dtype_of_a_piece() -> None:
    def body() -> Any:
        s = recurrent(dtype=int)
        s[t] = wb.uniform(over=t)
        return s

    error = refused(body)
    assert error.message == "s[t] is int32, but the value is float; convert with wb.cast"


def test_number_for_a_piece_of_booleans() -> None:
    def body() -> Any:
        s = recurrent(dtype=bool)
        s[t] = 1
        return s

    error = refused(body)
    assert error.message == "s[t] is bool, but the value is int32; convert with wb.cast"


def test_whole_number_that_is_too_large() -> None:
    assert refused(lambda: wb.index(t) + 2**70).message == (
        f"expected numbers, found {2**70}, which does not fit into int64"
    )
    assert refused(lambda: wb.index(t) + 2**63).message == f"{2**63} does not fit into int64"
    assert refused(lambda: wb.cast(2**40, int)).message == f"{2**40} does not fit into int32"
    assert refused(lambda: wb.cast(1e12, int)).message == "1000000000000.0 does not fit into int32"


def test_names_are_those_of_the_users_variables() -> None:
    def body() -> Any:
        noise = wb.normal(over=(b, t))
        last = noise[b, t - 1]
        level = wb.cast(noise, int)
        return last & level

    assert refused(body).message == (
        "last[b, t]: float() and level[b, t]: int32(): expected booleans, found float and int32"
    )
