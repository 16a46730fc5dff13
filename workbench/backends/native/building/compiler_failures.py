"""The errors of a compiler that failed: its own words, the statement whose code it means, and the
file that it was given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import Compiler
from workbench.backends.native.building.processes import Ended
from workbench.errors import CompilerError

SHOWN = 8
"""The lines of a compiler's output that a message repeats."""
NAMED = 3
"""The statements of a unit that a message names."""
_INCLUDED = re.compile(r"In file included from |\s+from ")
_ERROR = re.compile(r"\berror\b")


def compiling_failed(
    compiler: Compiler, unit: Unit, ended: Ended, source: Path, timeout: float
) -> CompilerError:
    """Return the error of a unit that was not compiled. `source` is its file, kept."""
    lines = _lines(ended.output)
    statement = _statement(unit, lines)
    what = f"{unit.file}{_code_of(unit, statement)}"
    words = _shown(_from_error(lines))
    message = f"{compiler} {_how(ended, what, timeout)}{words}\nkept in {source}"
    return CompilerError(message, ended.output, source, statement)


def linking_failed(
    compiler: Compiler, units: Sequence[Unit], ended: Ended, sources: Path, timeout: float
) -> CompilerError:
    """Return the error of units that were compiled and not linked. `sources` is their folder."""
    what = f"linking {', '.join(unit.file for unit in units)}"
    message = (
        f"{compiler} {_how(ended, what, timeout)}{_shown(_lines(ended.output))}\nkept in {sources}"
    )
    return CompilerError(message, ended.output, sources)


def _how(ended: Ended, what: str, timeout: float) -> str:
    if ended.code is None:
        return f"was stopped after {timeout:g} s at {what}"
    if ended.signal is not None:
        return f"crashed ({ended.signal}) at {what}"
    if ended.ok:
        return f"reported no error and wrote no file at {what}"
    return f"failed at {what}"


def _lines(output: str) -> list[str]:
    return [line.rstrip() for line in output.splitlines() if line.strip()]


def _from_error(lines: list[str]) -> list[str]:
    """Return the lines from the first error on, or all where none says so."""
    first = (n for n, line in enumerate(lines) if _ERROR.search(line))
    return lines[next(first, 0) :]


def _shown(lines: list[str]) -> str:
    """Return the first lines, indented, with the number of those that are left out."""
    left = len(lines) - SHOWN
    more = [f"… ({left} more lines)"] if left > 0 else []
    return "".join(f"\n  {line}" for line in [*lines[:SHOWN], *more])


def _statement(unit: Unit, lines: list[str]) -> str | None:
    """Return the statement of the unit's line of the first error. Where an error is in a header, it
    is that of a line mentioned above or below it: one that includes the header or uses a macro.
    """
    place = re.compile(rf"(?:^|[\s/\\]){re.escape(unit.file)}:(\d+)(?::\d+)?[:,]")
    mentions = (match for line in _around_error(lines) if (match := place.search(line)))
    statements = (unit.statement_at(int(match[1])) for match in mentions)
    return next((s for s in statements if s is not None), None)


def _around_error(lines: list[str]) -> list[str]:
    """Return the lines from the first error on, with those above that say what includes its file;
    where none says that it is an error, all but warnings.
    """
    first = next((n for n, line in enumerate(lines) if _ERROR.search(line)), None)
    if first is None:
        return [line for line in lines if "warning" not in line]
    while first and _INCLUDED.match(lines[first - 1]):
        first -= 1
    return lines[first:]


def _code_of(unit: Unit, statement: str | None) -> str:
    """Return what follows a unit's name: the statement, else those that it has the code of."""
    if statement is not None:
        return f", in the code of {statement}"
    if not unit.statements:
        return ""
    left = len(unit.statements) - NAMED
    more = f" and {left} more" if left > 0 else ""
    return f", which has the code of {', '.join(unit.statements[:NAMED])}{more}"
