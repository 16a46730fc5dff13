"""Calls in the spelling of another library, which Python refuses: what there is stands beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from workbench import nn
from workbench.errors import ProgramError

CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "keyword": (
        lambda x: x.sum(dim=0),
        "Tensor.sum() got an unexpected keyword argument 'dim'; expected "
        "Tensor.sum(over=None, axis=None, keepdims=False)",
    ),
    "keyword_of_a_function": (
        lambda x: wb.softmax(x, dim=-1),
        "softmax() got an unexpected keyword argument 'dim'; expected softmax(x, axis=None)",
    ),
    "keyword_of_a_class": (
        lambda x: wb.Categorical(probs=x),
        "Categorical() got an unexpected keyword argument 'probs'; expected "
        "Categorical(logits, mask=None)",
    ),
    "missing": (
        lambda x: wb.where(x > 0),
        "where() missing 2 required positional arguments: 'x' and 'y'; expected "
        "where(condition, x, y)",
    ),
    "too_many": (
        lambda x: nn.linear("a", 2, 3, 4, 5, 6),
        "linear() takes",
    ),
    "attribute": (
        lambda x: wb.Categorical(x).log_prob(0),
        "a Categorical has no attribute log_prob; did you mean log_probability?",
    ),
}


def refused(body: Callable[[Any], Any]) -> BaseException:
    @wb.program
    def example() -> dict[str, Any]:
        return {"y": body(wb.uniform(shape=3))}

    with pytest.raises((ProgramError, TypeError, AttributeError)) as error:
        example()
    return error.value


@pytest.mark.parametrize("name", CALLS)
def test_refused_call_says_what_is_expected(name: str) -> None:
    body, sentence = CALLS[name]
    error = refused(body)
    assert isinstance(error, ProgramError)
    assert error.message.startswith(sentence)
    assert error.line is not None and error.line.file.endswith("test_misused.py")


@pytest.mark.parametrize(
    "body",
    [
        lambda x: len(5),  # type: ignore[arg-type]
        lambda x: (lambda y: y)(1, 2),  # type: ignore[call-arg]
        lambda x: "text".missing,  # type: ignore[attr-defined]
    ],
    ids=["number", "own function", "text"],
)
def test_an_error_about_something_else_stays(body: Callable[[Any], Any]) -> None:
    assert not isinstance(refused(body), ProgramError)
