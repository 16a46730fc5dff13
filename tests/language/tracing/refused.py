"""A program around one wrong thing, and the error that it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.polyhedral.expression import size, variable

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
