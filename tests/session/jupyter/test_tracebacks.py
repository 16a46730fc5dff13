"""What a cell shows of an error that its code causes."""

from __future__ import annotations

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

PROGRAM = """\
import workbench as wb
from workbench.errors import WorkbenchError
from tests.programs import leaky_sum
variant = wb.variant(leaky_sum())
"""


@pytest.fixture
def shell() -> InteractiveShell:
    found = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    found.run_cell(PROGRAM)
    return found


def shown(shell: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str) -> list[str]:
    """The lines of a cell's error, without colours."""
    capsys.readouterr()
    shell.run_cell(cell)
    return re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).rstrip().splitlines()


def test_an_error_shows_the_users_lines_and_none_of_ours(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = "def small():\n    return wb.run(variant, sizes={'T': 0}, backend='numpy')\n\nsmall()\n"
    first, *lines = shown(shell, capsys, cell)
    assert first.startswith("SizeError: ") and "T" in first
    assert lines[-2:] == [
        "  in: small()    (cell, line 4)",
        "  in: return wb.run(variant, sizes={'T': 0}, backend='numpy')    (cell, line 2)",
    ]
    assert not any("workbench/" in line or "IPython" in line for line in lines)


def test_the_line_of_a_program_stands_once(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = """\
def looped(T=3):
    t, = wb.dims(t=T)
    x = wb.recurrent("x", over=t)
    x[t] = x[t + 1]
    return {"x": x}
wb.variant(wb.program(looped)())
"""
    lines = shown(shell, capsys, cell)
    assert sum("x[t] = x[t + 1]" in line for line in lines) == 1
    assert any("wb.variant(wb.program(looped)())" in line for line in lines)


def test_an_error_of_the_users_own_comes_with_its_traceback(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = """\
def careless():
    try:
        return {}["key"]
    except KeyError as error:
        raise WorkbenchError("the object failed") from error
careless()
"""
    lines = shown(shell, capsys, cell)
    assert "KeyError: 'key'" in lines
    assert lines.index("KeyError: 'key'") < lines.index("WorkbenchError: the object failed")


def test_lines_are_counted_as_the_notebook_counts_them(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """IPython leaves out empty lines at the begin of a cell before it numbers the others."""
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    cell = (
        "\n  \ndef small():\n    return wb.run(variant, sizes={'T': 0}, backend='numpy')\nsmall()\n"
    )
    capsys.readouterr()
    shell.run_cell(cell, store_history=True)
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert "small()    (cell 1, line 5)" in lines[-2]
    assert "(cell 1, line 4)" in lines[-1]
    program = "\n\nfrom workbench.algorithms import ppo\n\n@wb.program\ndef f(T=3):\n" + (
        '    t = wb.dim(t=T)\n    return {"x": wb.uniform(over=t)}\nmade = f()\n'
    )
    shell.run_cell(program, store_history=True)
    (statement,) = shell.user_ns["made"].statements
    assert statement.line is not None
    assert statement.line.place == "cell 2, line 8"
    assert statement.line.text == 'return {"x": wb.uniform(over=t)}'
