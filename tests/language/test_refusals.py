"""What a user can get wrong: each with its whole sentence and the line it stands on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import environments, nn, optim
from workbench.backends.reference import Reference
from workbench.errors import SizeError, WorkbenchError
from workbench.polyhedral.expression import Expression, size, variable

b, i, t = variable("b"), variable("i"), variable("t")
B, I, T = size("B"), size("I"), size("T")


def refused(body: Callable[[], Any]) -> WorkbenchError:
    """The error of the program `y = body()` with the dims b, i, t."""

    @wb.program
    def example(B: int = 2, I: int = 3, T: int = 4) -> dict[str, Any]:
        wb.dims(b=B, i=I, t=T)
        return {"y": body()}

    with pytest.raises(WorkbenchError) as error:
        example()
    return error.value


def recurrent(name: str = "s", over: Any = (t,), dtype: Any = float, shape: Any = ()) -> Any:
    return wb.recurrent(name, shape, over=over, dtype=dtype)


# -- pieces and instances -----------------------------------------------------------------------


def test_undefined_instance() -> None:
    def body() -> Any:
        s = recurrent()
        s[t + 2] = s[t + 1] + 1.0
        s[0] = 0.0
        return s

    error = refused(body)
    assert error.message == "s[t + 1] is read at t=0 (T=1), but nothing defines s at t=1"
    assert error.line is not None and error.line.text == "s[t + 2] = s[t + 1] + 1.0"


def test_instance_without_its_start() -> None:
    def body() -> Any:
        s = recurrent()
        s[t + 1] = s + 1.0
        return s

    error = refused(body)
    assert error.message == "s[t] is read at t=0 (T=1), but s has elements t=1..1 only"
    assert error.line is not None and error.line.text == "s[t + 1] = s + 1.0"


def test_overlapping_pieces() -> None:
    def body() -> Any:
        s = recurrent()
        s[t] = 1.0
        s[0] = 0.0
        return s

    error = refused(body)
    assert error.message == (
        "s[0] is defined twice (T=1): by s[t] = 1.0 at t=0 and by s[0] = 0.0 at the only instance"
    )
    assert error.line is not None and error.line.text == "s[0] = 0.0"


def test_piece_that_writes_one_element_many_times() -> None:
    def body() -> Any:
        s = recurrent()
        s[t // 2] = 1.0
        return s[0]

    error = refused(body)
    assert error.message == ("s[0] is defined twice (T=2): by s[t // 2] = 1.0 at t=0 and at t=1")


def test_recurrent_without_pieces() -> None:
    error = refused(lambda: recurrent() + 1.0)
    assert error.message == "nothing defines the recurrent tensor s"
    assert error.line is not None and "wb.recurrent(name" in error.line.text


def test_read_outside_the_extent() -> None:
    def body() -> Any:
        s = recurrent()
        s[0] = 0.0
        s[t + 1] = s + 1.0
        return s[t + 2]

    error = refused(body)
    assert error.message == "s[t + 2] is read at t=0 (T=1), but s has elements t=0..1 only"
    assert error.line is not None and error.line.text == 'return {"y": body()}'


def test_read_before_the_extent() -> None:
    error = refused(lambda: wb.exp(wb.uniform(over=t))[t - 1] + 1.0)
    assert error.message == "y_exp[t - 1] is read at t=0 (T=1), but y_exp has elements t=0..0 only"


def test_range_that_goes_beyond_the_extent_is_quoted_as_a_range() -> None:
    def body() -> Any:
        x = wb.uniform(over=(b, t))
        last = x[b, t : t + 3].sum()
        return last + 1.0

    error = refused(body)
    assert error.message == (
        "x[b, t:t + 3] is read at b=0, t=0 (B=1, T=1), but x has elements t=0..0 only"
    )
    assert error.line is not None and error.line.text == "last = x[b, t : t + 3].sum()"


def test_shifted_range_is_quoted_as_a_range() -> None:
    def body() -> Any:
        x = wb.uniform(over=t)
        return (x[0:t] * x[1 : t + 1] * x[2 : t + 2]).sum()

    assert refused(body).message == (
        "x[2:t + 2] is read at t=1 (T=2), but x has elements t=0..1 only"
    )


def test_parameters_that_are_never_updated() -> None:
    def body() -> Any:
        theta = nn.parameters(net := nn.linear("net", 2, 1), over=i)
        y = net(theta, wb.uniform(shape=2))
        return y.sum()

    error = refused(body)
    assert error.message == (
        "parameters.net.weight_1[i] is read at i=1 (I=2), but parameters.net.weight_1 has "
        "elements i=0..0 only; theta.update was not called"
    )
    assert error.line is not None and "net(theta" in error.line.text


def test_two_values_at_one_name() -> None:
    def body() -> Any:
        recurrent()
        return recurrent()

    error = refused(body)
    assert error.message == "there is already a recurrent tensor 's'"


# -- cycles ---------------------------------------------------------------------------------------


def test_cycle_with_no_delay_shows_the_shortest_one() -> None:
    def body() -> Any:
        u, v = recurrent("u"), recurrent("v")
        u[t] = v + 1.0
        v[t] = u * 2.0
        return u

    error = refused(body)
    first, *lines = error.message.split("\n")
    assert first == "a cycle with no delay: u[t=0] needs v[t=0] needs u[t=0] (at T=1)"
    assert [re.sub(r", line \d+", "", x) for x in lines] == [
        "  u: u[t] = v + 1.0    (test_refusals.py)",
        "  v: v[t] = u * 2.0    (test_refusals.py)",
    ]
    assert error.line is not None and error.line.text == "u[t] = v + 1.0"


def test_value_that_needs_itself() -> None:
    def body() -> Any:
        u = recurrent("u")
        u[t] = u * 2.0
        return u

    error = refused(body)
    assert error.message.startswith("a cycle with no delay: u[t=0] needs u[t=0]")


def test_cycle_through_time_at_two_steps() -> None:
    def body() -> Any:
        u = recurrent("u")
        u[t] = u[T - 1 - t] * 2.0
        return u

    error = refused(body)
    assert error.message.startswith("a cycle with no delay: u[t=0] needs u[t=0] (at T=1)")


def test_acyclic_program_without_an_order_says_so() -> None:
    """Even elements read the odd one ahead or behind in turn, odd ones read no such element."""

    def body() -> Any:
        r = wb.dim(r=8)
        u = recurrent("u", over=r)
        u[r + 8] = 1.0
        u[r] = u[r + 1 - 2 * (r % 4 // 2) + 8 * (r % 2)] * 2.0
        return u

    error = refused(body)
    first, *lines = error.message.split("\n")
    assert first == (
        "no order of loops was found for these equations, although they may have no cycle:"
    )
    assert [re.sub(r", line \d+", "", x) for x in lines] == [
        "  u: u[r] = u[r + 1 - 2 * (r % 4 // 2) + 8 * (r % 2)] * 2.0    (test_refusals.py)"
    ]
    assert error.line is not None and error.line.text.startswith("u[r] = ")


# -- indices --------------------------------------------------------------------------------------


def test_missing_index_of_a_piece() -> None:
    def body() -> Any:
        s = recurrent(over=(b, t))
        s[b, 0] = wb.uniform(over=(b, t))
        return s

    error = refused(body)
    assert error.message == (
        "s[b, 0] = …: the value varies over t, which the left side lacks; "
        "read it at fixed indices, or reduce over it"
    )


def test_acting_that_reads_parameters_bare() -> None:
    @wb.program
    def example(B: int = 2, I: int = 2, T: int = 3, E: int = 2, M: int = 2) -> dict[str, Any]:
        b, i, t, e, m = wb.dims(b=B, i=I, t=T, e=E, m=M)
        env = environments.CartPole()
        actor = nn.mlp("actor", 4, (3,), 2)
        theta = nn.parameters(actor, over=(i, e, m))
        state = wb.recurrent("state", 5, over=(b, i, t))
        policy = wb.Categorical(logits=actor(theta, env.observe(state)))
        following, _, _, _ = env.step(state, policy.sample())
        state[b, i, 0] = env.reset(over=(b, i))
        state[b, i, t + 1] = following
        return {"state": state}

    with pytest.raises(WorkbenchError) as error:
        example()
    assert error.value.message == (
        "state[b, i, t + 1] = …: the value varies over e, m, which the left side lacks; "
        "read it at fixed indices, or reduce over it"
    )
    assert error.value.line is not None
    assert error.value.line.text == "state[b, i, t + 1] = following"


NOT_AFFINE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "product_of_dims": (
        lambda x: x[b, t * t],
        "the index t * t for t is not affine (a product or quotient of sizes or dims); "
        "use wb.size for sizes, or wb.gather",
    ),
    "product_of_sizes": (
        lambda x: x[b, B * T - 1],
        "the index B * T - 1 for t is not affine (a product or quotient of sizes or dims); "
        "use wb.size for sizes, or wb.gather",
    ),
    "quotient_by_a_size": (
        lambda x: x[b, t // T],
        "the index t // T for t is not affine (a product or quotient of sizes or dims); "
        "use wb.size for sizes, or wb.gather",
    ),
    "data": (
        lambda x: x[b, wb.index(t)],
        "the index wb.index(t) for t depends on data; use wb.gather(x, t=…)",
    ),
    "float": (
        lambda x: x[b, 0.5],
        "the index 0.5 for t of x[b, t]: float() is not an affine expression of dims",
    ),
    "bool": (
        lambda x: x[True],
        "the index True for b of x[b, t]: float() is not an affine expression of dims",
    ),
    "unknown_dim": (lambda x: x[b, variable("q")], "unknown dim q; declared dims: b, i, t"),
    "too_many": (
        lambda x: x[b, t, 0],
        "x[b, t]: float() has 2 dims (b, t) and inner shape (): "
        "[b, t, 0] has too many indices, expected at most 2",
    ),
    "too_many_inner": (
        lambda x: x[b, ..., 0],
        "x[b, t]: float() has 2 dims (b, t) and inner shape (): "
        "[b, ..., 0] has too many indices, expected at most 2 before and 0 behind the ...",
    ),
    "too_many_of_a_range": (
        lambda x: x[b, t : t + 3][b, t, 0],
        "x[b, t:t + 3]: float() has 2 dims (b, t) and inner shape (): "
        "[b, t, 0] has too many indices, expected at most 2",
    ),
    "index_of_a_value_with_a_range": (
        lambda x: (x[b, t + 1 : T] + 1.0)[0.5],
        "the index 0.5 for b of add[b, t, t + 1:T]: float() is not an affine expression of dims",
    ),
    "element": (
        lambda x: x[b, 0] & x[b, t - 1],
        "x[b, 0]: float() and x[b, t - 1]: float(): expected booleans, found float and float",
    ),
    "assigned": (
        lambda x: x.__setitem__((b, t), 3.0),
        "x is a value, which cannot be assigned to; an array defined in pieces is a "
        'wb.recurrent("x", over=…)',
    ),
    "step": (lambda x: x[b, 0:T:2].sum(), "the range 0:T:2 has a step; expected lower:upper"),
    "bound": (
        lambda x: x[b, 0 : T * B].sum(),
        "the bound B * T of the range for t is not affine",
    ),
    "bound_of_data": (
        lambda x: x[b, 0 : wb.index(t)].sum(),
        "the bound wb.index(t) of the range for t is not affine",
    ),
    "unknown_dim_in_a_bound": (
        lambda x: x[b, 0 : variable("q")].sum(),
        "unknown dim q; declared dims: b, i, t",
    ),
    "inner_bound": (
        lambda x: wb.stack([x, x])[..., 2],
        "index 2 is outside inner axis 0 of stack[b, t]: float(2,), which has 2 entries",
    ),
    "ranges_that_differ": (
        lambda x: (x[b, 0:T] * x[b, 1:T]).sum(),
        "range axes 0:T and 1:T differ in length: T against T - 1",
    ),
    "gather_of_a_dim_it_lacks": (
        lambda x: wb.gather(x, i=wb.index(t)),
        "x[b, t]: float() does not vary over i; its dims: b, t",
    ),
    "gather_at_a_float": (
        lambda x: wb.gather(x, t=x),
        "the index for t must be a scalar integer tensor, found x[b, t]: float()",
    ),
}


@pytest.mark.parametrize("name", NOT_AFFINE)
def test_index(name: str) -> None:
    function, sentence = NOT_AFFINE[name]
    error = refused(lambda: function(wb.uniform(over=(b, t))))
    assert error.message == sentence
    assert error.line is not None and error.line.file.endswith("test_refusals.py")


def test_write_at_an_index_that_is_not_affine() -> None:
    def body() -> Any:
        s = recurrent()
        s[t * t] = 1.0
        return s

    error = refused(body)
    assert error.message == (
        "s[t * t] = …: the index t * t is not affine (a product or quotient of sizes or dims)"
    )


def test_write_with_too_many_indices() -> None:
    def body() -> Any:
        s = recurrent()
        s[b, t] = 1.0
        return s

    error = refused(body)
    assert (
        error.message == "s has dims t: 2 indices are too many on the left side, expected at most 1"
    )


def test_gather_outside_the_extent_is_refused_when_it_happens() -> None:
    @wb.program
    def example(T: int = 3) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(over=t)
        return {"y": wb.gather(x, t=wb.cast(3.0 * x, int) + T)}

    with pytest.raises(WorkbenchError, match=r"is read at t=0 .* but x has elements t=0..2 only"):
        Reference(example()).array("y")


def test_range_that_is_assigned() -> None:
    def body() -> Any:
        s = recurrent()
        s[t] = wb.uniform(over=t)[t:T]
        return s

    error = refused(body)
    assert error.message == (
        "s[t] = …: the value varies over the range t:T, which the left side lacks; "
        "read it at fixed indices, or reduce over it"
    )


def test_range_that_is_returned() -> None:
    error = refused(lambda: wb.uniform(over=t)[0:T])
    assert error.message == (
        "output y of example varies over the range 0:T; reduce it, or return the whole array"
    )
    assert error.line is not None and error.line.text == 'return {"y": body()}'


COMPARISONS: dict[str, tuple[Callable[[], Any], str]] = {
    "where": (
        lambda: wb.where(t == 0, 1.0, 0.0),
        "where of the Python value False; to compare a dim, write wb.index(t) == 0",
    ),
    "and": (
        lambda: (wb.index(t) > 1) & (t == 0),
        "logical_and of the Python value False; to compare a dim, write wb.index(t) == 0",
    ),
    "times": (
        lambda: wb.index(t) * (t != 0),
        "multiply of the Python value True; to compare a dim, write wb.index(t) == 0",
    ),
    "less": (
        lambda: wb.where(t < 1, 1.0, 0.0),
        "t has no order with 1 before the program runs; compare wb.index(t)",
    ),
    "python_if": (
        lambda: 1 if t < T else 0,
        "t has no order with T before the program runs; compare wb.index(t)",
    ),
    "division": (lambda: wb.index(t // 0), "division of t by 0: the divisor must be positive"),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison_of_a_dim(name: str) -> None:
    function, sentence = COMPARISONS[name]
    error = refused(function)
    assert error.message == sentence
    assert error.line is not None and error.line.file.endswith("test_refusals.py")


@pytest.mark.parametrize(("shift", "row", "at"), [(-1, -1, 0), (0, 3, 3)])
def test_row_that_is_not_there_is_refused_when_it_happens(shift: int, row: int, at: int) -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(shape=3)
        y = x[wb.index(t) + shift]
        return {"y": y}

    with pytest.raises(WorkbenchError) as error:
        Reference(example()).array("y")
    shifted = "t + -1" if shift else "t"
    assert error.value.message == (
        f"take(x, {shifted}) takes row {row} at t={at} (T=4), but there are rows 0..2 only"
    )


# -- shapes and dtypes ----------------------------------------------------------------------------

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
        "uniform[]: float() and greater[t]: bool(): expected booleans, found float and bool",
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
        lambda: wb.uniform((), over=t),
        "low=() is empty; expected numbers (the inner shape is given by shape=)",
    ),
    "empty_std": (
        lambda: wb.normal(0.0, []),
        "std=[] is empty; expected numbers (the inner shape is given by shape=)",
    ),
    "numpy": (lambda: np.exp(wb.uniform()), "np.exp of a tensor; use wb.exp"),
    "numpy_method": (lambda: np.mean(wb.uniform(shape=2)), "np.mean of a tensor; use x.mean(…)"),
    "numpy_abs": (lambda: np.abs(wb.uniform()), "np.absolute of a tensor; use wb.absolute"),
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
        "k = wb.dim(k=T); as a number of the program, wb.index(T)",
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
    "draws_over_a_number": (lambda: wb.uniform(over=3), "expected a dim, found 3"),
    "permutation_of_data": (
        lambda: wb.permutation(wb.uniform())[0],
        "the size of a permutation is uniform[]: float(); expected a size",
    ),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_mismatch(name: str) -> None:
    function, sentence = MISMATCHES[name]
    error = refused(function)
    assert error.message == sentence
    assert error.line is not None and error.line.file.endswith("test_refusals.py")


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
        f"T={value!r}: a size must be a positive int "
        "(arguments whose name starts with a capital are sizes)"
    )


def test_numpy_integers_are_sizes() -> None:
    @wb.program
    def example(T: Any = 4) -> dict[str, Any]:
        return {"y": wb.index(T)}

    assert Reference(example(T=np.int64(7))).array("y") == 7


def test_size_given_to_a_run_that_is_not_positive() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        return {"y": wb.index(T)}

    with pytest.raises(SizeError) as error:
        Reference(example(), {"T": 0})
    assert error.value.message == "size T must be positive, found 0"


def test_derived_size_that_does_not_divide() -> None:
    @wb.program
    def example(B: int = 4, T: int = 6, M: int = 3) -> dict[str, Any]:
        K = wb.size(B * T // M)
        return {"y": wb.index(wb.dim(k=K))}

    program = example()
    with pytest.raises(SizeError) as error:
        Reference(program, {"M": 5})
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
    "recurrent_over_a_number": (lambda: recurrent(over=4), "expected a dim, found 4"),
    "recurrent_over_an_unknown_dim": (
        lambda: recurrent(over=variable("q")),
        "unknown dim q; declared dims: b, i, t",
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_dims(name: str) -> None:
    function, sentence = SIZES[name]
    error = refused(function)
    assert error.message == sentence
    assert error.line is not None and error.line.file.endswith("test_refusals.py")


@pytest.mark.parametrize("returned", [None, 3.0, {}, [1.0]])
def test_function_that_returns_no_dict(returned: Any) -> None:
    @wb.program
    def example() -> Any:
        return returned

    with pytest.raises(WorkbenchError) as error:
        example()
    assert error.value.message == f"example returned {returned!r}; expected a dict of named outputs"
    assert error.value.line is not None and error.value.line.text.startswith("def example")


def test_output_that_is_not_a_tensor() -> None:
    @wb.program
    def example() -> Any:
        return {"y": "loss"}

    with pytest.raises(WorkbenchError) as error:
        example()
    assert error.value.message == "output y of example: expected a tensor or a number, found 'loss'"
    assert error.value.line is not None


def test_argument_that_there_is_not() -> None:
    @wb.program
    def example(T: int = 4) -> Any:
        return {"y": wb.index(T)}

    with pytest.raises(WorkbenchError) as error:
        example(B=4)
    assert error.value.message == ("example(T=4): got an unexpected keyword argument 'B'")
    assert error.value.line is not None
    assert error.value.line.text == "def example(T: int = 4) -> Any:"


OUTSIDE: list[Callable[[], Any]] = [
    lambda: wb.dims(t=3),
    lambda: wb.uniform(),
    lambda: wb.recurrent("s", (), over=t),
    lambda: wb.exp(1.0),
    lambda: wb.size(T),
    lambda: wb.index(t),
    lambda: nn.parameters(nn.linear("a", 1, 1)),
]


@pytest.mark.parametrize("call", OUTSIDE)
def test_functions_outside_a_program(call: Callable[[], Any]) -> None:
    with pytest.raises(WorkbenchError) as error:
        call()
    assert error.value.message == (
        "this is only possible inside a function decorated with @wb.program"
    )
    assert error.value.line is not None and error.value.line.text.startswith("lambda: ")


def test_tensor_of_another_program() -> None:
    kept: list[Any] = []

    @wb.program
    def first() -> Any:
        kept.append(wb.uniform())
        return {"y": kept[0]}

    @wb.program
    def second() -> Any:
        x = wb.uniform()
        return {"y": x + kept[0]}

    first()
    with pytest.raises(WorkbenchError) as error:
        second()
    assert error.value.message == "uniform[]: float() belongs to another program"


def test_error_of_the_user_passes_through_and_leaves_no_trace() -> None:
    @wb.program
    def example() -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        example()
    with pytest.raises(WorkbenchError, match="only possible inside"):
        wb.uniform()


def test_line_is_the_users_inside_an_environment() -> None:
    error = refused(lambda: environments.CartPole().step(wb.uniform(shape=5), wb.uniform(shape=2)))
    assert error.message.startswith("CartPole takes one of 2 discrete actions")
    assert error.line is not None and error.line.file.endswith("test_refusals.py")


def test_operators_of_numpy_arrays_and_tensors() -> None:
    @wb.program
    def example() -> Any:
        x = wb.uniform(1.0, 2.0, shape=2)
        a = np.array([1.0, 2.0])
        y = (a + x, np.float64(2.0) * x, a @ x, 2.0 ** (a / x), wb.cast(a < x, float))
        return {"x": x, **{f"y{n}": v for n, v in enumerate(y)}}

    found = Reference(example()).outputs()
    x, a = found["x"], np.array([1.0, 2.0])
    for n, y in enumerate([a + x, 2.0 * x, a @ x, 2.0 ** (a / x), a < x]):
        np.testing.assert_allclose(found[f"y{n}"], y)


def test_names_are_those_of_the_users_variables() -> None:
    def body() -> Any:
        noise = wb.normal(over=(b, t))
        last = noise[b, t - 1]
        level = wb.cast(noise, int)
        return last & level

    assert refused(body).message == (
        "last[b, t]: float() and level[b, t]: int32(): expected booleans, found float and int32"
    )


def test_gather_along_a_dim_called_x() -> None:
    @wb.program
    def example(X: int = 3) -> Any:
        x = wb.dim(x=X)
        noise = wb.uniform(over=x)
        return {"noise": noise, "turned": wb.gather(noise, x=2 - wb.index(x))}

    found = Reference(example()).outputs()
    assert found["turned"].tolist() == found["noise"].tolist()[::-1]


def test_gather_from_what_is_computed_of_indices_alone() -> None:
    @wb.program
    def example(X: int = 3) -> Any:
        x = wb.dim(x=X)
        squares = wb.cast(wb.index(x), float) * wb.index(x) + 0.5
        return {"y": wb.gather(squares, x=2 - wb.index(x))}

    assert Reference(example()).outputs()["y"].tolist() == [4.5, 1.5, 0.5]


def test_expression_used_as_condition_is_python() -> None:
    assert isinstance(t, Expression) and (t == t) is True
