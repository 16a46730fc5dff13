from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.by_hand import B, T, b, call, equations, k, read, statement, t, value
from workbench.backends.reference.evaluator import Reference
from workbench.backends.reference.explain import explain, number_text
from workbench.backends.reference.explain import value as value_of
from workbench.errors import ProgramError
from workbench.language.template.root_schedule import scheduled
from workbench.program.values import Alias, Program

BOX = {"b": (0, B), "t": (0, T)}


def returns() -> Program:
    discounted = call("multiply", call("power", 0.5, value(k - t)), read("gain", b, k))
    gain = call("cast", call("add", value(b), 1), dtype="float")
    written = equations(
        statement("gain", [b, t], gain, BOX),
        statement("g", [b, t], discounted, BOX, {"k": (t, T)}),
        sizes={"B": 2, "T": 20},
        dims={"b": B, "t": T},
        aliases=(Alias("to_go", "g", ("b", "t"), (b, t)),),
    )
    return scheduled(written)


def test_value_with_its_equation_line_and_inputs() -> None:
    found = value_of(returns(), "to_go", b=1, t=17)
    assert found.value == 3.5
    assert found.coordinates == {"b": 1, "t": 17}
    assert found.statement is not None and found.statement.array == "g"
    assert found.line is not None and found.line.number == 1
    assert [(x.array, x.coordinates["t"], float(x.value)) for x in found.inputs] == [
        ("gain", 17, 2.0),
        ("gain", 18, 2.0),
        ("gain", 19, 2.0),
    ]
    assert repr(found) == (
        "to_go[b=1, t=17] = 3.5\n"
        "  g[b, t] = sum(k in t..T-1) 0.5 ** (k - t) * gain[b, k]\n"
        "  at: g[b, t] = ...    (model.py, line 1)\n"
        "from\n"
        "  gain[b=1, t=17] = 2\n"
        "  gain[b=1, t=18] = 2\n"
        "  gain[b=1, t=19] = 2"
    )


def test_value_that_is_written_one_step_on() -> None:
    @wb.program
    def example(T: int = 4) -> dict[str, Any]:
        t = wb.dim(t=T)
        s = wb.recurrent("state", (), over=t)
        s[0] = 1.0
        following = s * 3.0
        s[t + 1] = following
        return {"last": s[T]}

    found = value_of(example(), "following", t=2)
    assert found.value == 27 and found.coordinates == {"t": 2} and found.element == {"t": 3}
    assert repr(found).splitlines()[:2] == [
        "following[t=2] = 27",
        "  state[t + 1] = state[t] * 3.0",
    ]
    assert value_of(example(), "state", t=2).value == 9


def test_long_reductions_are_shortened() -> None:
    text = repr(value_of(returns(), "g", b=0, t=0))
    assert "  gain[b=0, t=3] = 1\n  … 14 more\n  gain[b=0, t=18] = 1\n" in text


def test_value_at_other_sizes() -> None:
    assert value_of(returns(), "g", b=0, t=0, sizes={"T": 1}).value == 1


def test_value_of_a_given_element_has_no_equation() -> None:
    reference = Reference(returns().equations, given={"gain": lambda at: 8.0})
    found = explain(reference, "gain", {"b": 0, "t": 0})
    assert repr(found) == "gain[b=0, t=0] = 8" and found.statement is None
    assert explain(reference, "g", {"b": 0, "t": 19}).value == 8


def test_numbers_are_short() -> None:
    assert number_text(np.array(1 / 3)) == "0.3333"
    assert number_text(np.array([True, False])) == "[True, False]"
    assert number_text(np.array([[1.0, 2.5]])) == "[[1, 2.5]]"
    assert number_text(np.arange(20.0).reshape(4, 5)) == "4x5 entries from 0 to 19, mean 9.5"
    assert number_text(np.array(7, np.int32)) == "7"


def test_value_refused_when_a_coordinate_is_missing_or_unknown() -> None:
    with pytest.raises(ProgramError, match="to_go has the dimensions b, t: say where along t"):
        value_of(returns(), "to_go", b=0)
    with pytest.raises(ProgramError, match="no dimension 'T': did you mean t"):
        value_of(returns(), "to_go", b=0, T=0)


@pytest.mark.parametrize("at", [0.5, True, "0", None])
def test_value_refused_at_what_is_not_an_integer(at: Any) -> None:
    with pytest.raises(ProgramError) as refused:
        value_of(returns(), "gain", b=at, t=0)
    assert refused.value.message == f"gain at b={at!r}: a coordinate is an integer"
    assert value_of(returns(), "gain", b=np.int64(1), t=0).value == 2


def test_value_of_a_variant_and_at_a_mapping() -> None:
    varied = wb.variant(returns())
    assert value_of(varied, "gain", {"b": 1, "t": 0}).value == 2
    assert value_of(varied, "gain", {"b": 1}, t=0).value == 2


def test_value_of_an_array_over_a_dim_called_seed() -> None:
    @wb.program
    def example(S: int = 3) -> dict[str, Any]:
        seed = wb.dim(seed=S)
        return {"y": wb.index(seed) * 2}

    assert value_of(example(), "y", {"seed": 2}, seed=5).value == 4
    with pytest.raises(ProgramError) as refused:
        value_of(example(), "y", seed=2)
    assert refused.value.message == (
        "y has the dimensions seed: say where along seed, in a mapping: "
        'wb.value(program, "y", {"seed": …})'
    )


def test_value_refused_when_the_name_is_unknown() -> None:
    with pytest.raises(ProgramError, match=r"unknown array 'to_goo': did you mean to_go\?"):
        value_of(returns(), "to_goo", b=0, t=0)
    with pytest.raises(ProgramError, match=r"gain has elements t=0\.\.19 only, asked for t=20"):
        value_of(returns(), "gain", b=0, t=20)


def test_an_output_is_what_a_run_returns_under_its_name() -> None:
    """A value that a recurrence holds one step on is called as it is in the outputs."""

    @wb.program
    def example(B: int = 1, T: int = 4) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        s = wb.recurrent("s", (), over=(b, t))
        s[b, 0] = 0.0
        following = s + 1.0
        s[b, t + 1] = following
        wb.until(following > 2.5, over=t)
        return {"s": s, "following": following}

    program = example()
    found = wb.run(program, backend="numpy", progress=False)["following"]
    for step in range(4):
        at_step = wb.value(program, "following", b=0, t=step).value
        np.testing.assert_array_equal(at_step, np.asarray(found)[0, step])
