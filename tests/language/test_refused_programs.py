"""Functions that are no program, and what is only possible inside of one."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.language.refused import T, refused, t
from workbench import environments, nn
from workbench.errors import WorkbenchError


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
    assert error.line is not None and error.line.file.endswith("test_refused_programs.py")


def test_traceback_of_an_error_shows_the_users_frames() -> None:
    frames = list(traceback.walk_tb(refused(lambda: wb.uniform() + "a").__traceback__))
    shown = [f.f_code.co_name for f, _ in frames if not f.f_locals.get("__tracebackhide__")]
    assert shown == ["refused", "example", "<lambda>"]
    assert len(frames) > len(shown) + 2
