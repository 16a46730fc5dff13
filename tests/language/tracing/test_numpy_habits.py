"""What a user of NumPy or PyTorch writes: computed as there, or refused in the user's terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.tracing.refused import T, b, recurrent, refused, t
from workbench import nn
from workbench.backends import get
from workbench.backends.reference.evaluator import Reference

MATRIX = np.array([[0.5, -2.0, 3.0], [1.0, 4.0, -1.5]])
NUMBERS = np.arange(4, dtype=np.int32) * 5 - 7


def computed(body: Callable[[], Any]) -> Any:
    """The value of `body()` by the reference, with which the array backend agrees."""

    @wb.program
    def example(B: int = 2, I: int = 3, T: int = 4) -> dict[str, Any]:
        wb.dims(b=B, i=I, t=T)
        return {"y": body()}

    program = example()
    expected = Reference(program.equations).outputs()["y"]
    found = get("numpy").compile(program).run(dtype="float64").outputs["y"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found.dtype == expected.dtype
    return expected


def x() -> Any:
    return wb.stack([wb.stack(list(map(float, row))) for row in MATRIX]) * 1.0


def n() -> Any:
    return wb.index(5 * t - 7)


VALUES: dict[str, tuple[Callable[[], Any], Any]] = {
    "sum_of_axes": (lambda: x().sum(axis=(0, 1)), MATRIX.sum(axis=(0, 1))),
    "mean_of_negative_axes": (lambda: x().mean(axis=(-1, 0)), MATRIX.mean()),
    "std_of_axes": (lambda: x().std(axis=(0, 1)), MATRIX.std()),
    "max_of_axes_kept": (lambda: x().max(axis=(0, 1), keepdims=True), MATRIX.max(keepdims=True)),
    "mean_kept": (lambda: x().mean(axis=-1, keepdims=True), MATRIX.mean(axis=-1, keepdims=True)),
    "std_kept": (lambda: x().std(axis=0, keepdims=True), MATRIX.std(axis=0, keepdims=True)),
    "sum_of_all_kept": (lambda: x().sum(keepdims=True), MATRIX.sum(keepdims=True)),
    "axis_of_numpy": (lambda: x().sum(axis=np.int64(1)), MATRIX.sum(axis=1)),
    "slice_of_numpy": (lambda: x()[np.int64(0) :, np.int64(1)], MATRIX[0:, 1]),
    "new_last_axis": (lambda: x()[..., None], MATRIX[..., None]),
    "new_first_axis": (lambda: x()[None], MATRIX[None]),
    "new_axis_between": (lambda: x()[..., None, :], MATRIX[..., None, :]),
    "new_axes_around": (lambda: x()[None, :, None, :, None], MATRIX[None, :, None, :, None]),
    "new_axis_beside_others": (lambda: x()[1, None, 1:], MATRIX[1, None, 1:]),
    "new_axis_of_a_number": (lambda: x()[0, 0][..., None], MATRIX[0, 0, None]),
    "new_axis_behind_dims": (lambda: n()[..., None], NUMBERS[:, None]),
    "new_axis_behind_an_index": (
        lambda: x()[..., wb.index(t % 2), None, :],
        MATRIX[np.arange(4) % 2, None, :],
    ),
    "outer_difference": (
        lambda: x()[..., 0, :, None] - x()[..., 1, None, :],
        MATRIX[0, :, None] - MATRIX[1, None, :],
    ),
    "reshape_to_a_number": (lambda: wb.reshape(x(), np.int64(6)), MATRIX.reshape(6)),
    "reshape_to_what_is_left": (lambda: wb.reshape(x(), (3, -1)), MATRIX.reshape(3, -1)),
    "transpose_by_negative_axes": (lambda: wb.transpose(x(), (-1, 0)), MATRIX.T),
    "stack_of_wide_integers": (
        lambda: wb.stack([n(), 2**40]),
        np.stack([NUMBERS.astype(np.int64), np.full(4, 2**40)], axis=-1),
    ),
    "one_hot_beyond_int32": (
        lambda: wb.one_hot(wb.cast(n(), "int64") * 2**32, np.int64(2)),
        np.zeros((4, 2)),
    ),
    "reflected_floor_division": (lambda: 7 // (n() + 1), 7 // (NUMBERS + 1)),
    "reflected_remainder": (lambda: 7 % (n() + 1), 7 % (NUMBERS + 1)),
    "floor_division_of_negatives": (lambda: n() // 4, NUMBERS // 4),
    "remainder_of_negatives": (lambda: n() % -4, NUMBERS % -4),
    "divmod": (lambda: divmod(n(), 4)[1], NUMBERS % 4),
    "shifted_right": (lambda: n() >> 1, NUMBERS >> 1),
    "shifted_right_by_all": (lambda: n() >> 31, NUMBERS >> 31),
    "shifted_right_by_more": (lambda: n() >> 40, NUMBERS >> 31),
    "shifted_left": (lambda: n() << 30, NUMBERS << 30),
    "shifted_left_by_all": (lambda: n() << 32, np.zeros(4)),
    "shifted_left_in_int64": (
        lambda: wb.cast(n(), "int64") << 40,
        NUMBERS.astype(np.int64) << 40,
    ),
    "positive": (lambda: +n(), NUMBERS),
    "exclusive_or": (lambda: (n() > 0) ^ (n() < 5), (NUMBERS > 0) ^ (NUMBERS < 5)),
    "index_arithmetic": (lambda: wb.index((t << 1) % 3 + (7 >> 1)), np.arange(4) * 2 % 3 + 3),
    "index_distance": (lambda: wb.index(abs(t - 2)), abs(np.arange(4) - 2)),
    "index_squared": (lambda: wb.index(T**2), 16),
    "index_with_numpy": (lambda: wb.index(np.int64(2) * t + np.int32(1)), 2 * np.arange(4) + 1),
    "index_over_a_tensor": (lambda: t // (n() + 8), np.arange(4) // (NUMBERS + 8)),
    "constant_over_a_range": (
        lambda: (wb.cast(2, float)[b, t:T] * 1.0).sum(),
        np.stack([2.0 * (4 - np.arange(4))] * 2),
    ),
    "constant_discounted": (
        lambda: wb.discounted_sum(wb.cast(1, float)[b, t:T], 0.5),
        np.stack([2.0 - 0.5 ** (3.0 - np.arange(4))] * 2),
    ),
    "constant_over_a_range_gathered": (
        lambda: wb.gather(wb.cast(2, float)[b, t:T].sum(), t=wb.index(3 - t)),
        np.stack([2.0 * (1 + np.arange(4))] * 2),
    ),
    "constant_at_indices": (lambda: wb.cast(2, float)[0, t] + 0 * wb.uniform(), 2.0),
    "constant_vector_at_indices": (lambda: wb.exp(wb.cast([0.0, 1.0], float)[t, 1]), np.exp(1.0)),
    "gathered_number": (lambda: wb.gather(1.5, t=wb.index(t)) + wb.uniform() * 0.0, 1.5),
    "gathered_index": (lambda: wb.gather(t, t=wb.index(3 - t)), np.arange(4)[::-1]),
    "gathered_constant": (lambda: wb.gather(wb.cast(2, float), t=0, b=wb.index(b)), 2.0),
}


@pytest.mark.parametrize("name", VALUES)
def test_value_is_as_in_numpy(name: str) -> None:
    body, expected = VALUES[name]
    np.testing.assert_allclose(computed(body), expected, rtol=1e-12)


@pytest.mark.parametrize("n", [3, np.int64(3), np.uint8(3), np.array(3)], ids=repr)
def test_size_is_anything_with_an_index(n: Any) -> None:
    @wb.program
    def example(N: int = n, T: int = 4) -> dict[str, Any]:
        k, t = wb.dims(k=n, t=T)
        wb.dim(m=N)
        wb.size(n)
        network = nn.mlp("net", n, (n, n), n, layers="dim")
        theta = nn.parameters(network, nn.linear("critic", n, n), nn.vector("std", n))
        order = wb.permutation(n)
        state = wb.recurrent("state", n, over=t)
        state[0] = wb.uniform(shape=n) + wb.normal(shape=(n,)) + wb.gather(1.0, k=k)
        state[t + 1] = network(theta, state) + wb.one_hot(order[0], n)
        return {"y": state[t, : int(n)].sum(), "z": state[wb.minimum(n, t)]}

    text = str(example())
    assert "np." not in text and "array" not in text
    numbers = [p.default for p in example().parameters]
    assert numbers == [3, 4, 3] and {type(number) for number in numbers} == {int}
    Reference(example().equations).outputs()


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "keepdims_of_argmax_axes": (
        lambda: wb.uniform(shape=(2, 3)).argmax(axis=(0, 1)),
        "argmax is over exactly one axis, found (0, 1)",
    ),
    "axis_twice": (
        lambda: wb.uniform(shape=(2, 3)).sum(axis=(0, -2)),
        "axis (0, -2) of uniform[]: float(2, 3) names an axis twice",
    ),
    "axis_that_is_no_number": (
        lambda: wb.uniform(shape=2).sum(axis=0.5),
        "axis 0.5 of uniform[]: float(2,); expected a whole number",
    ),
    "axis_that_is_a_range": (
        lambda: wb.uniform(shape=2).sum(axis="range"),
        "axis 'range' of uniform[]: float(2,); expected a whole number; of dims or a range it is "
        "over='range'",
    ),
    "method_of_pytorch": (
        lambda: wb.uniform().detach(),
        "uniform[] has no attribute detach; write wb.stop_gradient(x)",
    ),
    "method_of_numpy": (
        lambda: wb.uniform(shape=3).reshape(3),
        "uniform[] has no attribute reshape; write wb.reshape(x)",
    ),
    "transposed": (
        lambda: wb.uniform(shape=3).T,
        "uniform[] has no attribute T; write wb.transpose(x)",
    ),
    "len": (
        lambda: len(wb.uniform(shape=3)),
        "uniform[]: float(3,) has no len(); its inner shape is x.shape, the number of entries of "
        "an inner axis x.shape[0]",
    ),
    "new_axis_among_dims": (
        lambda: wb.normal(shape=3, over=(b, t))[b, None],
        "[b, None] of normal[b, t]: float(3,) makes a new axis among its dims (b, t); expected it "
        "among the inner axes: [..., None]",
    ),
    "too_many_beside_a_new_axis": (
        lambda: wb.uniform(shape=3)[..., 0, None, 0],
        "uniform[]: float(3,) has 0 dims (none) and inner shape (3,): [..., 0, None, 0] has too "
        "many indices, expected at most 0 before and 1 behind the ...",
    ),
    "name_as_an_index": (
        lambda: wb.uniform(shape=3)[..., "last"],
        "index 'last' of an inner axis of uniform[]: float(3,); expected an int, a slice, None or "
        "an integer tensor",
    ),
    "step_of_zero": (lambda: wb.uniform(shape=3)[::0], "the range ::0 has the step 0"),
    "slice_by_a_float": (
        lambda: wb.uniform(shape=3)[0:1.5],
        "the range 0:1.5 of inner axis 0 of uniform[]: float(3,); expected whole numbers, "
        "found 1.5",
    ),
    "shape_of_a_float": (
        lambda: wb.uniform(shape=3.0),
        "shape is 3.0; expected a number or a tuple of them",
    ),
    "shape_below_zero": (
        lambda: wb.uniform(shape=(2, -1)),
        "an entry of shape (2, -1) is -1; expected at least 0",
    ),
    "shape_over_a_dim": (
        lambda: wb.uniform(shape=t),
        "shape is t, which varies over t; expected a whole number or a size",
    ),
    "shape_of_a_recurrent": (
        lambda: recurrent("h", shape=None),
        "h: shape is None; expected a number or a tuple of them",
    ),
    "permutation_of_nothing": (
        lambda: wb.permutation(0),
        "the size of a permutation is 0; expected at least 1",
    ),
    "permutation_added_to": (
        lambda: wb.permutation(4) + 1,
        "a permutation of 4 is no tensor; its n-th entry is permutation[n]",
    ),
    "permutation_measured": (
        lambda: len(wb.permutation(4)),  # type: ignore[arg-type]
        "a permutation of 4 is no tensor; its n-th entry is permutation[n]",
    ),
    "permutation_compared": (
        lambda: wb.permutation(4) > 2,
        "a permutation of 4 is no tensor; its n-th entry is permutation[n]",
    ),
    "permutation_iterated": (
        lambda: list(wb.permutation(4)),
        "a permutation of 4 cannot be iterated; its n-th entry is permutation[n]",
    ),
    "index_times_a_float": (
        lambda: t * 2.0,
        "t * 2.0 is no index, which is made of whole numbers; as a number of the program, "
        "wb.index(t) * 2.0",
    ),
    "power_of_an_index": (
        lambda: 2 ** (t + 1),
        "2 ** (t + 1) is no index, which is made of whole numbers; as a number of the program, "
        "2 ** wb.index(t + 1)",
    ),
    "bits_of_an_index": (
        lambda: t & 1,
        "an index expression has no &, |, ^ or ~; as a number wb.index(t)",
    ),
    "loop_over_a_dim": (
        lambda: list(t),
        "t has no value before the program runs: instead of a loop over range(t), declare a dim, "
        "k = wb.dim(k=t); instead of an array of so many numbers, wb.index(k) or "
        "wb.normal(over=k); as a number of the program, wb.index(t)",
    ),
    "shifted_by_data": (
        lambda: 8 >> wb.index(t),
        "8 >> wb.index(t): integers are shifted by a constant number of places, 0 or more",
    ),
    "shifted_float": (
        lambda: wb.uniform() << 1,
        "uniform[]: float() << 1: expected an integer tensor",
    ),
    "index_of_a_float": (
        lambda: wb.index(1.5),
        "wb.index of 1.5; expected an expression over dims and sizes",
    ),
    "rows_of_two_lengths": (
        lambda: wb.uniform(shape=2) * [[1, 2], [3]],
        "expected rows of one length, found [[1, 2], [3]]",
    ),
    "list_of_tensors": (
        lambda: wb.uniform(shape=2) * [1, t],
        "expected numbers, found [1, t]; wb.stack([…]) makes an inner axis of tensors",
    ),
    "integer_beyond_int64": (
        lambda: wb.uniform() + 2**70,
        f"expected numbers, found {2**70}, which does not fit into int64",
    ),
    "transposed_by_one_axis": (
        lambda: wb.transpose(wb.uniform(shape=(2, 3)), (0, 0)),
        "axes (0, 0) of uniform[]: float(2, 3); expected each of its 2 inner axes once",
    ),
    "contraction_without_result": (
        lambda: wb.contract("i,i", wb.uniform(shape=2), wb.uniform(shape=2)),
        "contract by 'i,i'; expected a letter for each inner axis, as in \"f,fg->g\"",
    ),
    "contraction_to_an_unknown_axis": (
        lambda: wb.contract("i,i->z", wb.uniform(shape=2), wb.uniform(shape=2)),
        "contract(uniform[]: float(2,), uniform[]: float(2,)): contraction i,i->z: no operand has "
        "the axis z",
    ),
    "one_hot_of_floats": (
        lambda: wb.one_hot(wb.uniform(), 3),
        "one_hot(uniform[]: float()): one_hot expects integers, found float",
    ),
    "open_range_of_a_constant": (
        lambda: wb.cast(2, float)[b, :].sum(),
        "[:] of 2.0, which varies over no dim; write both bounds of the range",
    ),
    "table_of_numpy": (
        lambda: np.array([1.0, 2.0])[wb.index(t)],
        "wb.index(t) is no array before the program runs, and no index of one; "
        "wb.cast(table, float)[..., x] looks x up in a table, wb.stack([…]) makes an inner axis of "
        "tensors, wb.value(program, name) shows a value",
    ),
    "table_of_python": (
        lambda: [1.0, 2.0][wb.index(t)],
        "wb.index(t) has no value before the program runs, and is no index of a list or array; "
        "wb.cast(table, float)[..., x] looks x up in a table, wb.cast(x, int) converts a tensor, "
        "wb.value(program, name) shows a value",
    ),
    "array_of_so_many": (
        lambda: np.arange(T),  # type: ignore[call-overload]
        "T has no value before the program runs: instead of a loop over range(T), declare a dim, "
        "k = wb.dim(k=T); instead of an array of so many numbers, wb.index(k) or "
        "wb.normal(over=k); as a number of the program, wb.index(T)",
    ),
    "maximum_of_a_symbolic_axis": (
        lambda: wb.Categorical(wb.uniform(shape=T)),
        "inner axis 0 of uniform[]: float(T,) has the symbolic size T; expected a number: declare "
        "a dim, k = wb.dim(k=T), in the place of the axis, or give the axis a number",
    ),
    "axis_in_place_of_a_dim": (
        lambda: wb.uniform(shape=(2, 3)).sum(-1),
        "expected a dim, found -1; an inner axis is given by its name, axis=-1",
    ),
    "range_from_the_end": (
        lambda: wb.uniform(over=(b, t))[b, 0:-1].sum(),
        "the bound -1 of the range 0:-1 for t is before its first element, 0; from the end it is "
        "T - 1",
    ),
    "range_of_the_last": (
        lambda: wb.uniform(over=(b, t))[b, -2:T].sum(),
        "the bound -2 of the range -2:T for t is before its first element, 0; from the end it is "
        "T - 2",
    ),
    "choice_by_a_dim": (
        lambda: 1.0 if t == 0 else 2.0,
        "t == 0 has no value before the program runs, when Python asks for it: compare "
        "wb.index(t) == 0, and choose by wb.where",
    ),
    "choice_by_a_parity": (
        lambda: 1.0 if t % 2 == 0 else 2.0,
        "t % 2 == 0 has no value before the program runs, when Python asks for it: compare "
        "wb.index(t % 2) == 0, and choose by wb.where",
    ),
    "choice_by_a_size": (
        lambda: 1.0 if T != 1 else 2.0,
        "T == 1 has no value before the program runs, when Python asks for it: compare "
        "wb.index(T) == 1, and choose by wb.where",
    ),
    "choice_by_the_last": (
        lambda: 1.0 if t == T - 1 else 2.0,
        "t == T - 1 has no value before the program runs, when Python asks for it: compare "
        "wb.index(t) == T - 1, and choose by wb.where",
    ),
    "method_of_another_library": (
        lambda: wb.uniform().clamp(0.0, 1.0),
        "uniform[] has no attribute clamp; write wb.clip(x, low, high)",
    ),
    "divided_by_zero": (lambda: n() // 0, "wb.index(5 * t - 7) // 0 divides by 0"),
    "remainder_by_zero": (lambda: n() % 0, "wb.index(5 * t - 7) % 0 divides by 0"),
    "size_divided_by_zero": (
        lambda: wb.size(T // (T - 4)),
        "N = T // (T - 4) divides by 0 (T=4)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_habit_refused(name: str) -> None:
    body, sentence = REFUSED[name]
    assert refused(body).message == sentence


def test_dims_and_sizes_are_told_apart() -> None:
    """A function of the user's may ask which dim it was given."""

    def body() -> Any:
        assert (t == b, t == t, T in (b, t), t in (b, t)) == (False, True, False, True)
        return wb.uniform(over=t)

    computed(body)


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_an_output_has_as_many_elements_whatever_a_factor_is(factor: float) -> None:
    """An array has those beyond its dims too; a value made of it, or a read, has not."""

    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        s = wb.recurrent("s", (), over=t)
        s[0] = 1.0
        s[t + 1] = s + 1.0
        rest = 1.0 - factor
        return {"array": s, "read": s[t], "scaled": factor * s, "moved": s + rest, "same": s / 1}

    outputs = Reference(example().equations).outputs()
    assert {name: len(x) for name, x in outputs.items()} == {
        "array": 4, "read": 3, "scaled": 3, "moved": 3, "same": 3,
    }  # fmt: skip
    np.testing.assert_array_equal(outputs["scaled"], factor * outputs["array"][:3])


def test_attribute_is_asked_for() -> None:
    def body() -> Any:
        x = wb.uniform()
        assert not hasattr(x, "numpy")
        assert getattr(x, "item", None) is None
        return x

    computed(body)


def test_tensor_is_shown_after_tracing() -> None:
    shown = []

    def body() -> Any:
        shown.append(wb.uniform(over=(b, t))[b, t:T])
        return wb.uniform()

    computed(body)
    text = repr(shown[0])
    assert text == "uniform[b, t:T]: float()"
