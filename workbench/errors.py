"""Errors a user can cause: what the user wrote, what was expected, and the line it stands on."""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import shlex
import shutil
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parent
_LIBRARY = os.path.dirname(contextlib.__file__)
_NOTEBOOKS = re.compile(r"[/\\](IPython|ipykernel|nbclient)[/\\]")


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's program: the file (or notebook cell), its number and its text.

    `cell` is the execution count of the cell that it was traced in, None where that is not known.
    """

    file: str
    number: int
    text: str
    cell: int | None = None

    def __str__(self) -> str:
        return f"{self.text.strip()}    ({self.place})"

    @property
    def place(self) -> str:
        """The place as text for the user: `cell 3, line 26`."""
        return f"{self.origin}, line {self.number}"

    @property
    def origin(self) -> str:
        """The file or the cell that it is of: `cell 3`."""
        return self.short_file if self.cell is None else f"{self.short_file} {self.cell}"

    @property
    def short_file(self) -> str:
        """The file's last component; a notebook cell reads as `cell`."""
        if self.file.startswith("<ipython") or "ipykernel_" in self.file:
            return "cell"
        return self.file.replace("\\", "/").rsplit("/", 1)[-1]


class Cell(NamedTuple):
    """A cell by its number, the execution count. IPython leaves out `above` empty lines in front
    of all others before it numbers those.
    """

    number: int
    above: int = 0


CELLS: dict[str, Cell] = {}
"""Cells that another process ran, by their files."""


def cell_of(file: str) -> Cell | None:
    """Return the cell that IPython calls by the name of a file; None for a file."""
    shell = _shell()
    counts = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return _cell(file, counts[file]) if file in counts else CELLS.get(file)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


@lru_cache(maxsize=4096)
def _cell(file: str, count: int) -> Cell:
    history = getattr(getattr(_shell(), "history_manager", None), "input_hist_raw", [])
    lines = history[count].splitlines() if count < len(history) else []
    above = sum(1 for _ in takewhile(lambda line: not line.strip(), lines))
    first = linecache.getline(file, 1).strip()  # a cell that ran silently is in no history
    return Cell(count, above if lines[above:] and lines[above].strip() == first else 0)


def line_in(file: str, number: int, text: str | None = None) -> SourceLine:
    """Return a line of a file, or of a cell as IPython calls and numbers it; its text unless one is
    given.
    """
    cell = cell_of(file)
    text = (linecache.getline(file, number) if text is None else text).strip()
    if cell is None:
        return SourceLine(file, number, text)
    return SourceLine(file, number + cell.above, text, cell.number)


class WorkbenchError(Exception):
    """The base of every error that a user's input can cause.

    `message` is one or more sentences, `line` the user's line where one is known.
    """

    def __init__(self, message: str, line: SourceLine | None = None) -> None:
        self.message = message
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        return self.message if self.line is None else f"{self.message}\n  at: {self.line}"

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: the error first, then the user's lines that led to
        it. What is between them is ours. An error of the user's code that caused it comes before.
        """
        cause = self.__cause__
        foreign = cause is not None and not isinstance(cause, WorkbenchError)
        before = traceback.format_exception(cause) if foreign else []
        called = [line for line in _user_lines(self.__traceback__) if line != self.line]
        return [
            *(line.rstrip("\n") for line in before),
            f"\x1b[31m{type(self).__name__}\x1b[0m: {self}",
            *(f"  in: {line}" for line in called),
        ]


class ProgramError(WorkbenchError):
    """Equations that are not a program: undefined instance, overlap, cycle, shape or type."""


class CycleError(ProgramError):
    """A cycle of instances: each needs the next, and the last the first.

    `instances` are their texts (`x[t=0]`) with their lines, at the least `sizes` that have them.
    """

    def __init__(
        self,
        message: str,
        instances: Sequence[tuple[str, SourceLine | None]],
        sizes: Mapping[str, int],
    ) -> None:
        self.instances = tuple(instances)
        self.sizes = sizes
        super().__init__(message, instances[0][1])


class TooComplexError(ProgramError):
    """A question about sets and relations that took more work than is allowed for it."""


class SizeError(WorkbenchError):
    """A size that is not positive, or a derived size that does not divide."""


class RunError(WorkbenchError):
    """A run that could not go on: not finite, out of memory, an index outside its range."""


class TooLongError(WorkbenchError):
    """A request that would take too long, predicted before it is begun: the `reason`, and how it is
    made all the same in Python.
    """

    def __init__(self, reason: str, way_out: str) -> None:
        self.reason = reason
        super().__init__(f"{reason}; {way_out}")


class OutOfMemoryError(RunError):
    """A request for more memory than there is.

    `space` is where, `arrays` are those that it was for and those that hold most of it there.
    `room` are the bytes that there were for all, None where nobody knows.
    """

    def __init__(
        self, message: str, space: str, arrays: Iterable[str] = (), room: int | None = None
    ) -> None:
        self.space = space
        self.arrays = tuple(arrays)
        self.room = room
        super().__init__(message)


class CompilerError(WorkbenchError):
    """A compiler that failed, crashed or took too long.

    `output` is what it printed, `source` the file that it was given, still there, and `statement`
    the one whose code it speaks of, where it names a line. `line` is that statement's.
    """

    def __init__(
        self,
        message: str,
        output: str = "",
        source: Path | None = None,
        statement: str | None = None,
    ) -> None:
        self.output = output
        self.source = source
        self.statement = statement
        super().__init__(message)


class UnavailableError(WorkbenchError):
    """A backend or an optional package that is not available; the message says why."""


def nearest(name: str, known: Iterable[str], kind: str = "names") -> str:
    """Return the hint for an unknown name: "did you mean T? (sizes: B, T)".

    Of many known names it lists those that are close or have the name as a part ("action" of
    "policy.action"), else the first.
    """
    listed = list(dict.fromkeys(known))
    if not listed:
        return f"there are no {kind}"
    close = _close(name, listed)
    many = len(listed) > 12
    shown = ", ".join(listed[:8] if many else listed)
    more = f", … ({len(listed)} in all)" if many else ""
    if not close:
        return f"the {kind} are {shown}{more}" if len(listed) > 1 else f"the only one is {shown}"
    if many:
        *first, last = close[:3]
        return f"did you mean {' or '.join([*([', '.join(first)] if first else []), last])}?"
    return f"did you mean {close[0]}? ({kind}: {shown})"


def installing(requirement: str) -> str:
    """Return the command that installs a package where this Python looks for packages."""
    python = sys.executable or "python"
    with contextlib.suppress(ValueError):  # it is not under the current folder
        python = str(Path(python).relative_to(Path.cwd()))
    found = shutil.which("python")
    if found is not None and Path(found) == Path(sys.executable):
        python = "python"
    return f"{shlex.quote(python)} -m pip install {shlex.quote(requirement)}"


def _close(name: str, listed: list[str]) -> list[str]:
    """Return the known names spelled like the name, then those of which it or they are a part.

    One letter is not like another.
    """
    folded = {_bare(n): n for n in listed}
    wanted = _bare(name)
    alike = [*folded] if len(wanted) > 1 else [wanted] if wanted in folded else []
    matches = get_close_matches(wanted, alike, n=3, cutoff=0.6)
    best = max((_likeness(wanted, c) for c in matches), default=0.0)
    close = [folded[c] for c in matches if _likeness(wanted, c) >= best - 0.15]
    meant = {wanted, *map(_bare, close)}
    parts = [n for n in listed if meant & set(re.split(r"[.\[]", _bare(n)))]
    loose = [folded[c] for c in get_close_matches(wanted, alike, n=1, cutoff=0.5)]
    return list(dict.fromkeys([*close, *parts])) or loose


def _bare(name: str) -> str:
    """Return a name in small letters, an option's without its dashes."""
    return name.casefold().lstrip("-")


def _likeness(first: str, second: str) -> float:
    """Return the share that two texts have in common, as `get_close_matches` computes it."""
    return SequenceMatcher(None, second, first).ratio()


def is_own_file(file: str) -> bool:
    """Tell whether a file is the workbench's."""
    return file.startswith(str(PACKAGE))


def is_library(file: str) -> bool:
    """Tell whether Python itself brought the file, as `functools` calls a cached property, or it
    was compiled into a package, as parts of NumPy are.
    """
    return os.path.dirname(file) == _LIBRARY or file.endswith((".pyx", ".pxd", ".pxi"))


def _user_lines(found: TracebackType | None) -> Iterator[SourceLine]:
    """Yield the lines of a traceback that are the user's, the outermost first."""
    for frame in traceback.extract_tb(found):
        if not _is_between(frame.filename) and not _NOTEBOOKS.search(frame.filename):
            yield line_in(frame.filename, frame.lineno or 0)


def warn(message: str) -> None:
    """Warn, at the line that called the workbench."""
    level = 1
    caller: FrameType | None = sys._getframe()
    while caller is not None and _is_between(caller.f_code.co_filename):
        level, caller = level + 1, caller.f_back
    warnings.warn(message, stacklevel=level)


def _is_between(file: str) -> bool:
    return is_own_file(file) or is_library(file)
