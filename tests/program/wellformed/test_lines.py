"""Errors point at the line that reads an element, also where a later statement computes with it."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.errors import ProgramError, RunError, WorkbenchError
from workbench.transforms import Vectorize
from workbench.variants.variant import variant


def line_of(error: WorkbenchError) -> str:
    assert error.line is not None
    return error.line.text


def test_a_read_beyond_an_array_is_blamed_on_the_line_that_has_the_index() -> None:
    @wb.program
    def late(B: int = 4, T: int = 8) -> dict[str, Any]:
        b, t = wb.dims(b=B, t=T)
        r = wb.uniform(over=(b, t))
        later = r[b, t + 1]
        return {"y": (later * 2.0).sum(over=t)}

    with pytest.raises(ProgramError) as refused:
        late()
    assert line_of(refused.value) == "later = r[b, t + 1]"


def test_a_read_of_what_nothing_defines_is_blamed_on_the_line_that_has_the_index() -> None:
    @wb.program
    def holes(T: int = 8) -> dict[str, Any]:
        (t,) = wb.dims(t=T)
        x = wb.recurrent("x", (), over=t)
        x[0] = 1.0
        x[t + 3] = 2.0
        before = x[t + 1]
        return {"y": (before + 1.0).sum(over=t)}

    with pytest.raises(ProgramError) as refused:
        holes()
    assert line_of(refused.value) == "before = x[t + 1]"


def test_an_element_at_its_own_place_is_blamed_on_the_statement() -> None:
    @wb.program
    def empty(T: int = 8) -> dict[str, Any]:
        (t,) = wb.dims(t=T)
        x = wb.recurrent("x", (), over=t)
        x[0] = 1.0
        return {"y": x * 2.0}

    with pytest.raises(ProgramError) as refused:
        empty()
    assert line_of(refused.value) == 'return {"y": x * 2.0}'


@wb.program
def looked_up(B: int = 4, N: int = 8) -> dict[str, Any]:
    """Numbers of which some are beyond the table."""
    b, n = wb.dims(b=B, n=N)
    x = wb.uniform(over=n)
    place = wb.cast(wb.uniform(over=b) * 80.0, int)
    found = wb.gather(x, n=place)
    return {"y": found * 2.0, "z": found + 1.0}


@pytest.mark.parametrize("backend", ["numpy", "native", "reference"])
def test_an_index_beyond_an_array_is_blamed_on_the_line_that_has_it(backend: str) -> None:
    chosen = variant(looked_up())
    if backend != "reference":
        chosen = chosen.apply(Vectorize("b"))
    with pytest.raises(WorkbenchError) as refused:
        if backend == "reference":
            wb.value(chosen, "y", b=0)
        else:
            wb.run(chosen, backend=backend)
    assert isinstance(refused.value, (ProgramError, RunError))
    assert line_of(refused.value) == "found = wb.gather(x, n=place)"


def test_lines_of_reads_outlive_steps() -> None:
    chosen = variant(looked_up()).apply(Vectorize("b"))
    reads = [r for s in chosen.program.statements for r in s.reads if r.array == "x"]
    assert {r.line.text for r in reads if r.line} == {"found = wb.gather(x, n=place)"}
