"""Functions that are no program, and what is only possible inside of one."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.language.tracing.refused import T, refused, t
from workbench import environments, nn
from workbench.algorithms import reinforce
from workbench.errors import ProgramError, WorkbenchError
from workbench.language.tracing.trace import line_in


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


def test_line_is_the_users_where_compiled_parts_of_a_package_ask_for_a_number() -> None:
    @wb.program
    def example(B: Any = 2) -> dict[str, Any]:
        return {"x": np.random.default_rng().normal(size=B)}

    with pytest.raises(ProgramError) as error:
        example()
    assert error.value.message.startswith("B has no value before the program runs")
    assert error.value.line is not None and "default_rng" in error.value.line.text


def shown(error: BaseException) -> list[str]:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [f.f_code.co_name for f in frames if not f.f_locals.get("__tracebackhide__")]


def test_traceback_of_an_error_shows_the_users_frames() -> None:
    error = refused(lambda: wb.uniform() + "a")
    assert shown(error) == ["refused", "example", "<lambda>"]
    assert len(list(traceback.walk_tb(error.__traceback__))) > 5


def raised(body: Callable[[], Any]) -> BaseException:
    """What a program raises whose function does."""

    @wb.program
    def example() -> dict[str, Any]:
        return {"y": body()}

    with pytest.raises(Exception) as error:
        example()
    return error.value


def test_an_error_of_the_users_own_code_shows_the_users_frames() -> None:
    error = raised(lambda: undefined)  # type: ignore[name-defined]  # noqa: F821
    assert isinstance(error, NameError)
    assert shown(error) == ["raised", "example", "<lambda>"]
    assert len(list(traceback.walk_tb(error.__traceback__))) > 4


def test_an_error_of_the_workbenchs_own_code_shows_where_it_is() -> None:
    error = raised(lambda: line_in([], 1))  # type: ignore[arg-type]
    assert not isinstance(error, WorkbenchError)
    names = shown(error)
    assert names[:4] == ["raised", "example", "<lambda>", "line_in"]


@pytest.mark.parametrize(
    "arguments",
    [{"estimator": "x"}, {"environment": "x"}, {"T": 0}, {"nothing": 1}, {"hidden": (-1,)}],
)
def test_what_a_library_template_is_given_wrongly_stands_on_the_line_of_the_call(
    arguments: Any,
) -> None:
    with pytest.raises(WorkbenchError) as error:
        reinforce(**arguments)
    assert error.value.line is not None
    assert error.value.line.text == "reinforce(**arguments)"
    assert "  at: reinforce(**arguments)    (test_refused_programs.py, line " in str(error.value)
    names = shown(error.value)
    assert len(names) == 1 and names[0].startswith("test_what_a_library_template")


def test_what_the_users_own_environment_does_wrongly_stands_on_its_line() -> None:
    class Broken(environments.CartPole):
        def observe(self, state: Any) -> Any:
            return state + "x"

    with pytest.raises(WorkbenchError) as error:
        reinforce(environment=Broken())
    assert error.value.line is not None
    assert error.value.line.text.startswith('return state + "x"')


def test_a_library_template_that_nobody_but_a_package_called_names_no_line() -> None:
    with ThreadPoolExecutor() as threads, pytest.raises(WorkbenchError) as error:
        threads.submit(reinforce, estimator="x").result()
    assert error.value.line is None
    assert str(error.value) == error.value.message
