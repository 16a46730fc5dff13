"""The errors of a compiler that failed: its own words, the statement whose code it means, and the
file that it was given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.backends.native.c_units import Unit
from workbench.backends.native.compilers import Compiler
from workbench.backends.native.processes import Ended
from workbench.errors import CompilerError

SHOWN = 8
"""The lines of a compiler's output that a message repeats."""
_ERROR = re.compile(r"\berror\b")


def compiling_failed(
    compiler: Compiler, unit: Unit, ended: Ended, source: Path, timeout: float
) -> CompilerError:
    """Return the error of a unit that was not compiled. `source` is its file, kept."""
    line = _line_of_error(unit, ended.output)
    statement = None if line is None else unit.statement_at(line)
    what = unit.file if statement is None else f"{unit.file}, in the code of {statement}"
    words = _shown(_from_error(_lines(ended.output)))
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


def _line_of_error(unit: Unit, output: str) -> int | None:
    """Return the unit's line of the first error, else the first that is mentioned, as one is above
    an error in a header.
    """
    place = rf"(?:^|[\s/\\]){re.escape(unit.file)}:(\d+)(?::\d+)?[:,]"
    pattern = re.compile(rf"{place}[^\n]*?{_ERROR.pattern}", re.MULTILINE)
    found = pattern.search(output) or re.search(place, output, re.MULTILINE)
    return None if found is None else int(found[1])
