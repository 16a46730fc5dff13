import tempfile
from pathlib import Path

import pytest

from workbench.errors import SourceLine, WorkbenchError
from workbench.session.protocol.failures import error_view

FILE = Path(tempfile.gettempdir(), "ipykernel_12", "345.py")  # what ipykernel calls a cell
IN_A_CELL = SourceLine(str(FILE), 8, "    raise ValueError(3)")


@pytest.mark.parametrize("error", [ValueError("three"), WorkbenchError("three")])
def test_an_error_of_a_cell_names_the_cell_as_statements_do(error: Exception) -> None:
    line = error_view(error, IN_A_CELL).line
    assert line is not None
    assert (line.file, line.number, line.text) == ("cell", 8, IN_A_CELL.text)
    assert line.place == "cell, line 8"


def test_what_was_no_sentence_keeps_its_trace() -> None:
    view = error_view(ValueError("three"))
    assert view.sentence == "ValueError: three"
    assert "ValueError: three" in view.trace
    assert error_view(WorkbenchError("three")).trace == ""
