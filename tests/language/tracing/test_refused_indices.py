"""Indices, ranges and comparisons of dims that a user can get wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.tracing.refused import B, T, b, recurrent, refused, t
from workbench import environments, nn
from workbench.backends.reference.evaluator import Reference
from workbench.errors import ProgramError, RunError, WorkbenchError
from workbench.polyhedral.expression import variable


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


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        (t, "[t] of x[b, t]: float() would be at b = t"),
        (T - 1 - t, "[T - t - 1] of x[b, t]: float() would be at b = T - t - 1"),
        (slice(t, T), "[t:T] of x[b, t]: float() would be a range of b"),
    ],
)
def test_an_index_in_another_place_than_its_dim(index: Any, sentence: str) -> None:
    """Where both dims have one size it would be the diagonal, without a word."""

    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=T, t=T)
        x = wb.uniform(over=(b, t))
        return {"y": x[index] * 1.0}

    with pytest.raises(ProgramError) as error:
        example()
    written = sentence[1 : sentence.index("]")]
    assert error.value.message == (
        f"{sentence}, for each t: indices are in the order of its dims; write [b, t], or "
        f"[{written}, t] where that is meant"
    )
    assert error.value.line is not None and error.value.line.text == 'return {"y": x[index] * 1.0}'


def test_a_piece_in_another_place_than_its_dim() -> None:
    def body() -> Any:
        s = recurrent(over=(b, t))
        s[b, 0] = 0.0
        s[t + 1] = s + 1.0
        return s

    error = refused(body)
    assert error.message == (
        "[t + 1] of s would be at b = t + 1, for each t: indices are in the order of its dims; "
        "write [b, t], or [t + 1, t] where that is meant"
    )


def test_read_of_what_has_another_name_in_the_program() -> None:
    """The refusal says which line computes it, since the user never wrote `critic.output`."""

    def body() -> Any:
        critic = nn.mlp("critic", 1, (2,), 1)
        value = critic(nn.parameters(critic), wb.uniform(over=(b, t), shape=1))[..., 0]
        return value[b, t + 2] * 2.0

    error = refused(body)
    sentence, _, written = error.message.partition("; critic.output is computed by ")
    assert sentence.endswith("but critic.output has elements t=0..0 only")
    assert written.startswith("value = critic(nn.parameters(critic), wb.uniform(")
    assert "(test_refused_indices.py, line " in written


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
    "true_quotient": (
        lambda x: x[b, t / 2],
        "t / 2 is no whole number: an index is divided by //, as in t // 2; as a number of the "
        "program, wb.index(t) / 2",
    ),
    "true_quotient_of_a_number": (
        lambda x: x[b, 2.0 / (t + 1)],
        "2.0 / (t + 1) is no whole number; as a number of the program, 2.0 / wb.index(t + 1)",
    ),
    "true_quotient_of_sizes": (
        lambda x: x * (1 / T),
        "1 / T is no whole number: an index is divided by //, as in 1 // T; as a number of the "
        "program, 1 / wb.index(T)",
    ),
    "data": (
        lambda x: x[b, wb.index(t)],
        "the index wb.index(t) for t depends on data; use wb.gather(x, t=…), or for a table that "
        "is looked up and written at such indices inner axes: table[..., s, a]",
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
        "the index 0.5 for b of (x[b, t + 1:T] + 1.0): float() is not an affine expression of dims",
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
    assert error.line is not None and error.line.file.endswith("test_refused_indices.py")


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
        Reference(example().equations).array("y")


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
        "t == 0 has no value before the program runs, when Python asks for it: compare "
        "wb.index(t) == 0, and choose by wb.where",
    ),
    "where_of_names": (
        lambda: wb.where(t == b, 1.0, 0.0),
        "where of the Python value False; to compare a dim, write wb.index(t) == 0",
    ),
    "and": (
        lambda: (wb.index(t) > 1) & (t == T),
        "logical_and of the Python value False; to compare a dim, write wb.index(t) == 0",
    ),
    "times": (
        lambda: wb.index(t) * (t != T),
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
    assert error.line is not None and error.line.file.endswith("test_refused_indices.py")


@pytest.mark.parametrize(("shift", "row", "at"), [(-1, -1, 0), (0, 3, 3)])
def test_row_that_is_not_there_is_refused_when_it_happens(shift: int, row: int, at: int) -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.uniform(shape=3)
        y = x[wb.index(t) + shift]
        return {"y": y}

    with pytest.raises(WorkbenchError) as error:
        Reference(example().equations).array("y")
    shifted = "t + -1" if shift else "t"
    assert error.value.message == (
        f"take(x, {shifted}) at t={at} (T=4) has the index {row}, outside 0 to 2 of axis 0"
    )


def test_integer_in_first_place_of_an_unnamed_expression_refused() -> None:
    for key, instead in ((0, "[..., 0] for an inner axis, "), (np.int64(-1), "[..., -1] for")):
        said = refused(lambda key=key: (wb.uniform(shape=1, over=(b, t)) * 2.0)[key]).message
        assert said.startswith(
            f"[{key}] of an expression that varies over b, t would read it at b = {key}; "
            f"write {instead}"
        )
        assert said.endswith("[b, t] for each b, or give it a name first")
    said = refused(lambda: wb.exp(wb.uniform(over=b))[0]).message
    assert said == (
        "[0] of an expression that varies over b would read it at b = 0; write [b] for each b, or "
        "give it a name first"
    )


def by_hand(x: Any) -> Any:
    hidden = wb.tanh(x * 2.0)
    return hidden


@pytest.mark.parametrize("made", ["mlp", "function"])
def test_integer_in_first_place_of_what_a_function_named_refused(made: str) -> None:
    """The name that a value has inside of the function that made it is not the reader's."""

    @wb.program
    def example(B: int = 2, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(shape=3, over=(b, t))
        theta = nn.parameters(critic := nn.mlp("critic", 3, (2,), 1))
        value = critic(theta, x)[0] if made == "mlp" else by_hand(x)[0]
        return {"y": value}

    with pytest.raises(ProgramError, match=r"^\[0\] of an expression that varies over b, t would"):
        example()


def test_integer_in_first_place_of_what_has_a_name() -> None:
    @wb.program
    def example(B: int = 2, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        value = wb.uniform(shape=1, over=(b, t)) * 2.0
        state = wb.recurrent("state", (), over=t)
        state[t] = value[0, t, 0]
        return {"y": value[0], "z": state[0], "inner": wb.exp(value)[..., 0]}

    y = Reference(example().equations).outputs()
    assert y["y"].shape == (4, 1) and y["inner"].shape == (2, 4)


def test_shape_names_the_line_that_made_it() -> None:
    @wb.program
    def example(B: int = 2, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        theta = nn.parameters(critic := nn.mlp("critic", 3, (2,), 1))
        value = critic(theta, wb.uniform(shape=3, over=(b, t)))
        error = (value - 1.0) ** 2
        target = wb.recurrent("target", (), over=(b, t))
        target[b, t] = error + 2.0
        return {"y": target}

    with pytest.raises(ProgramError) as refusal:
        example()
    first, line = refusal.value.message.split(", made by ")
    assert first == "target[b, t] has shape (), but the value has shape (1,)"
    assert line.startswith("value = critic(theta, wb.uniform(shape=3, over=(b, t)))")
    assert refusal.value.line is not None
    assert refusal.value.line.text == "target[b, t] = error + 2.0"


def test_gradient_of_a_vector_names_the_line_that_made_it() -> None:
    @wb.program
    def vector(B: int = 2) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.uniform(shape=(1,), over=b)
        loss = (x * 2.0).sum(over=b)
        return {"gradient": wb.gradient(loss, x)}

    with pytest.raises(ProgramError) as refusal:
        vector()
    first, line = refusal.value.message.split(", made by ")
    assert first == "gradient of loss[]: float(1,); expected a float scalar"
    assert "x = wb.uniform(shape=(1,), over=b)" in line


@pytest.mark.parametrize("key", ["pair", "range", "float"])
def test_permutation_refused_when_its_index_is_no_position(key: str) -> None:
    @wb.program
    def ordered(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        order = wb.permutation(T, over=b)
        keys = {"pair": (b, t), "range": slice(0, 2), "float": wb.uniform(over=t)}
        return {"order": order[keys[key]]}

    with pytest.raises(ProgramError, match=r"one index|expected integers"):
        ordered()


def test_message_says_where_a_value_without_a_name_was_written() -> None:
    @wb.program
    def rows(B: int = 2, T: int = 3) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        x = wb.uniform(over=(b, t))
        y = (x * 2.0)[b + 1, t].sum(over=(b, t))
        return {"y": y}

    with pytest.raises(ProgramError) as refusal:
        rows()
    assert refusal.value.message == (
        "[b + 1, t] of a value in `y = (x * 2.0)[b + 1, t].sum(over=(b, t))` is read at b=0, t=0 "
        "(B=1, T=1), but there are elements b=0..0 only"
    )


def test_message_of_a_gather_says_where_a_value_without_a_name_was_written() -> None:
    @wb.program
    def rows(B: int = 2) -> dict[str, Any]:
        b = wb.dim(b=B)
        x = wb.uniform(over=b)
        y = wb.gather(x * 2.0, b=wb.cast(x, int) + B)
        return {"y": y}

    with pytest.raises(RunError) as refusal:
        wb.run(rows(), backend="numpy", progress=False)
    said = (
        "a value in `y = wb.gather(x * 2.0, b=wb.cast(x, int) + B)` is indexed at b = 2, outside 0 "
    )
    assert refusal.value.message.startswith(said)


def test_what_is_right_at_the_sizes_given_alone_is_said_to_be_so() -> None:
    """Two agents, of which any number may be asked for later."""

    @wb.program
    def agents(N: int = 2, T: int = 3) -> dict[str, Any]:
        n, t = wb.dims(n=N, t=T)
        seen = wb.normal(over=(n, t))
        return {"both": seen[0, t] + seen[1, t]}

    @wb.program
    def ends(T: int = 1) -> dict[str, Any]:
        t = wb.dim(t=T)
        x = wb.recurrent("x", (), over=t)
        x[0] = 0.0
        x[T] = 1.0
        return {"y": x[t + 1] - x[t]}

    hint = "; a program is one for all sizes from 1 on, not for those given alone"
    with pytest.raises(ProgramError) as refused:
        agents()
    assert refused.value.message == (
        "seen[1, t] is read at t=0 (N=1, T=1), but seen has elements n=0..0 only" + hint
    )
    with pytest.raises(ProgramError, match=f"nothing defines x at t=1{hint}"):
        ends()
    with pytest.raises(ProgramError) as refused:
        agents(N=1)
    assert hint not in refused.value.message
