"""What programs compute, in closed form: returns, reductions, indexing, weak types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.programs import PROGRAMS
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError
from workbench.polyhedral.expression import Expression, size, variable
from workbench.program.values import Program

b, t = variable("b"), variable("t")
B, T = size("B"), size("T")


def outputs(body: Callable[[], Any], **sizes: int) -> Any:
    """The value of `body()` at b < 2, t < 5 (unless given), over its whole extent."""
    program = written(body)
    return Reference(program.equations, sizes).array("y")


def written(body: Callable[[], Any]) -> Program:
    @wb.program
    def example(B: int = 2, T: int = 5) -> dict[str, Any]:
        wb.dims(b=B, t=T)
        return {"y": body()}

    return example()


def grid() -> Any:
    """10 * b + t, as a float."""
    return wb.cast(10 * wb.index(b) + t, float)


GRID = 10.0 * np.arange(2)[:, None] + np.arange(5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_runs_at_all_its_sizes_and_repeats(name: str) -> None:
    template, many = PROGRAMS[name]
    program = template()
    for sizes in many:
        first, again = (Reference(program.equations, sizes, 5) for _ in range(2))
        for output, value in first.outputs().items():
            np.testing.assert_array_equal(value, again.array(output))
            assert np.isfinite(value[first.mask(output)]).all(), output


def test_return_of_ten_thousand_steps_by_a_recurrence_is_exact_and_stable() -> None:
    @wb.program
    def long(T: int = 10_000, gamma: float = 0.9) -> dict[str, Any]:
        t = wb.dim(t=T)
        g = wb.recurrent("g", (), over=t)
        g[T] = 0.0
        g[t] = 1.0 + gamma * g[t + 1]
        return {"g": g}

    left = 10_000 - np.arange(10_001)
    np.testing.assert_allclose(
        Reference(long().equations).array("g"), (1 - 0.9**left) / (1 - 0.9), rtol=1e-13
    )


@pytest.mark.parametrize("gamma", [0.9, 1.0, 0.0])
def test_discounted_sum_is_the_closed_form_and_the_recurrence(gamma: float) -> None:
    found = outputs(lambda: wb.discounted_sum(grid()[b, t:T], gamma), T=300)
    expected = np.zeros((2, 301))
    x = 10.0 * np.arange(2)[:, None] + np.arange(300)
    for k in range(299, -1, -1):
        expected[:, k] = x[:, k] + gamma * expected[:, k + 1]
    np.testing.assert_allclose(found, expected[:, :300], rtol=1e-12)


def test_n_step_sum_weighs_from_the_start_of_its_window() -> None:
    found = outputs(lambda: wb.discounted_sum(grid()[b, t : wb.minimum(t + 2, T)], 0.5))
    expected = GRID + 0.5 * np.pad(GRID[:, 1:], ((0, 0), (0, 1)))
    np.testing.assert_allclose(found, expected)


READS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "bare": (lambda x: x, GRID),
    "ahead": (lambda x: x[b, wb.minimum(t + 1, T - 1)], GRID[:, [1, 2, 3, 4, 4]]),
    "constant": (lambda x: x[b, T - 1] + x[0, t], GRID[:, 4:] + GRID[:1]),
    "first_index_only": (lambda x: x[B - 1], GRID[1]),
    "swapped": (lambda x: x[b, T - 1 - t], GRID[:, ::-1]),
    "stretched": (lambda x: x[b, t // 2], GRID[:, [0, 0, 1, 1, 2]]),
    "remainder": (lambda x: x[b, t % 3 % 2], GRID[:, [0, 1, 0, 0, 1]]),
    "moved_twice": (lambda x: x[b, wb.minimum(t + 1, T - 1)][b, 0], GRID[:, 1]),
    "range_of_all": (lambda x: x[b, 0:T].sum(), GRID.sum(1)),
    "open_range": (lambda x: x[b, t:].sum(), np.cumsum(GRID[:, ::-1], 1)[:, ::-1]),
    "open_start": (lambda x: x[b, : t + 1].sum(), np.cumsum(GRID, 1)),
    "two_ranges": (lambda x: x[0:B, t:T].sum(), np.cumsum(GRID.sum(0)[::-1])[::-1]),
    "empty_sum": (lambda x: x[b, t + 1 : T].sum() * 0 + x[b, T:T].sum(), 0 * GRID),
    "difference": (lambda x: (x[b, t + 1 : T] - x[b, t : T - 1]).sum(), GRID[:, 4:] - GRID),
    "product": (lambda x: (x[b, 0:T] * x[b, 0:T]).sum(), (GRID**2).sum(1)),
    "range_and_point": (lambda x: (x[b, 0:T] * x[b, 0]).sum(), (GRID * GRID[:, :1]).sum(1)),
    "mean_of_a_range": (lambda x: x[b, t:T].mean(), GRID / 2 + GRID[:, 4:] / 2),
    "nested": (lambda x: x.max(over=t).sum(over=b), np.float64(18.0)),
    "argmax": (lambda x: (-((x - 2.0) ** 2)).argmax(over=t), np.array([2, 0])),
    "argmax_of_a_range": (lambda x: (-((x[0, t:T] - 3) ** 2)).argmax(), np.array([3, 3, 3, 3, 4])),
    "max_over_both": (lambda x: x.max(over=(b, t)), np.float64(14.0)),
    "constant_summed": (lambda x: wb.where(x < 0, 0, 1).sum(over=(b, t)), np.int32(10)),
    "sum_of_a_constant": (lambda x: (x[b, 0] * 0 + 2.0).sum(over=t), np.array([10.0, 10.0])),
}


@pytest.mark.parametrize("name", READS)
def test_read(name: str) -> None:
    function, expected = READS[name]
    found = outputs(lambda: function(grid()))
    np.testing.assert_allclose(found, expected)
    assert found.shape == np.shape(expected)


VECTOR = np.arange(6.0).reshape(2, 3)

INNER: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "last": (lambda x: x[..., -1], VECTOR[:, -1]),
    "first_axis": (lambda x: x[..., 1, :], VECTOR[1]),
    "both": (lambda x: x[b, t, 1, -3], VECTOR[1, 0]),
    "after_dims": (lambda x: x[b, t, 1], VECTOR[1]),
    "slice": (lambda x: x[..., 1:], VECTOR[:, 1:]),
    "negative_slice": (lambda x: x[..., -2:, ::-1], VECTOR[:, ::-1]),
    "step": (lambda x: x[..., ::2], VECTOR[:, ::2]),
    "ellipsis_behind_dims": (lambda x: x[b, t, ..., 0], VECTOR[:, 0]),
    "list": (lambda x: x[..., [1, 1, 0], :], VECTOR[[1, 1, 0]]),
    "tensor": (lambda x: x[..., 1 - wb.index(b), :], VECTOR[1]),
    "index_expression": (lambda x: x[..., 1 - b, :], VECTOR[1]),
    "sum_of_all": (lambda x: x.sum(), VECTOR.sum()),
    "sum_last": (lambda x: x.sum(axis=-1), VECTOR.sum(-1)),
    "std": (lambda x: x.std(axis=0), VECTOR.std(0)),
    "argmax": (lambda x: x.argmax(axis=1), VECTOR.argmax(1)),
    "unstacked": (lambda x: wb.unstack(x, axis=-1)[2], VECTOR[:, 2]),
    "stacked_last": (lambda x: wb.stack([x, x], axis=-1), np.stack([VECTOR] * 2, -1)),
    "joined_last": (lambda x: wb.concatenate([x, x], axis=-1), np.hstack([VECTOR] * 2)),
    "running": (lambda x: wb.cumsum(x, axis=-1), VECTOR.cumsum(-1)),
    "transposed": (lambda x: wb.transpose(x), VECTOR.T),
    "matrix": (lambda x: x @ wb.transpose(x), VECTOR @ VECTOR.T),
    "array_on_the_left": (lambda x: np.ones(2) @ x, VECTOR.sum(0)),
    "array_added": (lambda x: VECTOR + x, 2 * VECTOR),
    "softmax": (lambda x: wb.softmax(x).sum(axis=-1), np.ones(2)),
    "one_hot": (lambda x: wb.one_hot(wb.cast(x[..., 1, :], int) - 3, 3), np.eye(3)),
}


@pytest.mark.parametrize("name", INNER)
def test_inner_axes(name: str) -> None:
    function, expected = INNER[name]
    found = outputs(lambda: function(wb.index(b) * 0.0 + wb.index(t) * 0.0 + VECTOR), B=1, T=1)
    np.testing.assert_allclose(found.reshape(np.shape(expected)), expected)


TYPES: dict[str, tuple[Callable[[], Any], str, Any]] = {
    "int_plus_float": (lambda: wb.index(t) + 0.5, "float", np.arange(5) + 0.5),
    "int_plus_int": (lambda: wb.index(t) + 1, "int32", np.arange(5) + 1),
    "expression_plus_float": (lambda: 0.5 + wb.index(t + 1), "float", np.arange(5) + 1.5),
    "quotient_of_ints": (lambda: wb.index(t) / 2, "float", np.arange(5) / 2),
    "floor_quotient": (lambda: (wb.index(t) - 3) // 2, "int32", (np.arange(5) - 3) // 2),
    "remainder": (lambda: (wb.index(t) - 3) % 2, "int32", (np.arange(5) - 3) % 2),
    "power_of_an_int": (lambda: wb.index(t) ** 2, "int32", np.arange(5) ** 2),
    "power_to_a_float": (lambda: wb.index(t) ** 0.5, "float", np.arange(5) ** 0.5),
    "constant_power": (lambda: 2.0 ** wb.index(t), "float", 2.0 ** np.arange(5)),
    "bool_plus_bool": (lambda: (wb.index(t) > 1) + (wb.index(t) > 2), "int32", [0, 0, 1, 2, 2]),
    "bool_times_float": (lambda: (wb.index(t) > 1) * 0.5, "float", [0, 0, 0.5, 0.5, 0.5]),
    "negated_bool": (lambda: ~(wb.index(t) > 1), "bool", [True, True, False, False, False]),
    "compared_with_an_int": (
        lambda: (lambda g: g[0] == 1)(grid()),
        "bool",
        [False, True, False, False, False],
    ),
    "compared_with_a_float": (lambda: wb.index(t) < 1.5, "bool", [True, True] + [False] * 3),
    "compared_with_a_size": (lambda: wb.index(t) == T - 1, "bool", [False] * 4 + [True]),
    "reflected": (lambda: 3 - wb.index(t), "int32", 3 - np.arange(5)),
    "reflected_comparison": (lambda: wb.index(t) > 2, "bool", np.arange(5) > 2),
    "chosen_ints": (lambda: wb.where(wb.index(t) > 2, 1, 0), "int32", np.arange(5) > 2),
    "chosen_mixed": (lambda: wb.where(wb.index(t) > 2, 1, 0.5), "float", [0.5] * 3 + [1, 1]),
    "chosen_bools": (lambda: wb.where(wb.index(t) > 2, True, False), "bool", np.arange(5) > 2),
    "with_a_condition": (
        lambda: (wb.index(t) > 0) & (wb.index(t) < 3),
        "bool",
        [False, True, True, False, False],
    ),
    "mean_of_ints": (lambda: wb.index(t).mean(over=t), "float", 2.0),
    "sum_of_bools": (lambda: (wb.index(t) > 2).sum(over=t), "int32", 2),
    "max_of_bools": (lambda: (wb.index(t) > 2).max(over=t), "int32", 1),
    "float_of_numpy": (lambda: wb.index(t) * np.float32(0.5), "float", np.arange(5) / 2),
    "int_of_numpy": (lambda: wb.index(t) + np.int64(2), "int32", np.arange(5) + 2),
    "minimum_with_a_number": (lambda: wb.minimum(wb.index(t), 2.5), "float", [0, 1, 2, 2.5, 2.5]),
    "absolute": (lambda: abs(wb.index(t) - 2), "int32", [2, 1, 0, 1, 2]),
    "exp_of_an_int": (lambda: wb.exp(wb.index(t)), "float", np.exp(np.arange(5))),
    "cast_to_int_truncates": (
        lambda: wb.cast(wb.index(t) * 0.9 - 2.0, int),
        "int32",
        [-2, -1, 0, 0, 1],
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_types(name: str) -> None:
    function, dtype, expected = TYPES[name]
    program = written(function)
    assert program.array[program.outputs[0].array].dtype == dtype
    np.testing.assert_allclose(Reference(program.equations).array("y"), expected)


def test_draws_are_those_of_common_instances_at_other_sizes() -> None:
    template, _ = PROGRAMS["drawn"]
    program = template()
    small = Reference(program.equations, {"B": 2, "T": 3}).outputs()
    large = Reference(program.equations, {"B": 4, "T": 7}).outputs()
    for name in ("action", "torque"):
        np.testing.assert_array_equal(small[name], large[name][:2, :3])
    np.testing.assert_array_equal(small["seed"], large["seed"])


def test_draws_do_not_depend_on_other_statements() -> None:
    @wb.program
    def alone(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.normal(over=t)
        return {"x": x}

    @wb.program
    def accompanied(B: int = 2, T: int = 5) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        before = wb.normal(over=(b, t))
        x = wb.normal(over=t)
        return {"before": before, "x": x, "sum": (before + x).sum(over=t)}

    found = Reference(accompanied().equations, seed=4).array("x")[:3]
    np.testing.assert_array_equal(Reference(alone().equations, seed=4).array("x"), found)


def test_two_draws_written_alike_are_two_draws() -> None:
    @wb.program
    def twice() -> dict[str, Any]:
        x, y = wb.uniform(), wb.uniform()
        return {"x": x, "y": y, "unnamed": wb.uniform() - wb.uniform()}

    found = Reference(twice().equations).outputs()
    assert found["x"] != found["y"] and found["unnamed"] != 0


def test_derived_size_follows_the_given_sizes() -> None:
    @wb.program
    def parts(B: int = 4, T: int = 6, M: int = 3) -> dict[str, Any]:
        K = wb.size(B * T // M)
        k = wb.dim(k=K)
        return {"y": wb.index(k), "count": wb.index(K)}

    reference = Reference(parts().equations, {"T": 9})
    assert reference.array("y").tolist() == list(range(12)) and reference.array("count") == 12


def test_recurrent_read_through_a_range_beyond_its_dimension() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        s = wb.recurrent("s", (), over=t, dtype=int)
        s[0] = 1
        s[t + 1] = s + t
        return {"all": s[0 : T + 1].sum(), "most": s[t : T + 1].max(), "s": s}

    found = Reference(example().equations).outputs()
    assert found["s"].tolist() == [1, 1, 2, 4, 7]
    assert found["all"] == 15 and found["most"].tolist() == [7, 7, 7, 7]


def test_unused_values_are_not_computed() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        unused = wb.uniform(over=t)  # noqa: F841
        return {"x": x}

    assert [s.name for s in example().statements] == ["x"]


def test_empty_maximum_is_refused_by_the_reference_too() -> None:
    with pytest.raises(ProgramError):
        written(lambda: grid()[b, t + 1 : T].max())


def test_operators_of_numpy_arrays_and_tensors() -> None:
    @wb.program
    def example() -> Any:
        x = wb.uniform(1.0, 2.0, shape=2)
        a = np.array([1.0, 2.0])
        y = (a + x, np.float64(2.0) * x, a @ x, 2.0 ** (a / x), wb.cast(a < x, float))
        return {"x": x, **{f"y{n}": v for n, v in enumerate(y)}}

    found = Reference(example().equations).outputs()
    x, a = found["x"], np.array([1.0, 2.0])
    for n, y in enumerate([a + x, 2.0 * x, a @ x, 2.0 ** (a / x), a < x]):
        np.testing.assert_allclose(found[f"y{n}"], y)


def test_gather_along_a_dim_called_x() -> None:
    @wb.program
    def example(X: int = 3) -> Any:
        x = wb.dim(x=X)
        noise = wb.uniform(over=x)
        return {"noise": noise, "turned": wb.gather(noise, x=2 - wb.index(x))}

    found = Reference(example().equations).outputs()
    assert found["turned"].tolist() == found["noise"].tolist()[::-1]


def test_gather_from_what_is_computed_of_indices_alone() -> None:
    @wb.program
    def example(X: int = 3) -> Any:
        x = wb.dim(x=X)
        squares = wb.cast(wb.index(x), float) * wb.index(x) + 0.5
        return {"y": wb.gather(squares, x=2 - wb.index(x))}

    assert Reference(example().equations).outputs()["y"].tolist() == [4.5, 1.5, 0.5]


def test_expression_used_as_condition_is_python() -> None:
    assert isinstance(t, Expression) and (t == t) is True


def test_whole_numbers_are_as_wide_as_they_need() -> None:
    large = 3_000_000_000
    assert outputs(lambda: wb.index(t) + large, B=1, T=2).tolist() == [large, large + 1]
    assert written(lambda: wb.index(t) + large).array["y"].dtype == "int64"
    assert written(lambda: wb.index(t) + 3).array["y"].dtype == "int32"
