"""The position of a running program, read from outside while it runs.

A thread looks some twenty times a second at the frame of the generated function: its line gives the
statement, its locals the loop variables. The generated source knows nothing of it, and a program
without a sampler pays nothing.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from workbench.backends.arrays.compiled import GENERATED, CompiledArrays
from workbench.backends.arrays.source import SourceText, source_lines
from workbench.measure import run
from workbench.variants.variant import Variant

SAMPLE = 1 / 20
"""Seconds between two looks."""
REPORT = 0.25
"""Seconds between two reports."""
MOST_SOURCES = 16
"""The most sources whose parsed lines are kept."""

MEASURE = str(Path(run.__file__).parent)
"""The folder of the modules that run variants."""

_LOOP = re.compile(r"( *)for (\w+) in (range\(.*\)):$")
_NAMES = {"__builtins__": {"range": range, "min": min, "max": max}}


@dataclass(frozen=True)
class RunPosition:
    """The position of a program, as in `messages.Running`. `variant` is "" where a program runs
    alone.
    """

    program: str
    variant: str
    shares: Mapping[str, float]
    now: tuple[str, ...]
    loops: tuple[tuple[str, int, int], ...]
    seconds: float
    over: bool


PositionListener = Callable[[RunPosition, Variant | None], None]
"""A listener to a program's position and its variant, None where it runs alone."""


@dataclass(frozen=True)
class _Loop:
    """A loop in the generated source: how deep it is, its variable and its range."""

    indent: int
    variable: str
    values: CodeType


@dataclass(frozen=True)
class _Source:
    """A generated source by line, from 1: the statement and the loops around."""

    statements: list[str | None]
    loops: list[tuple[_Loop, ...]]


@dataclass
class _Seen:
    """A program that was seen running, how often on each line, and whether that was reported. Its
    source is read only when there is something to report.
    """

    compiled: CompiledArrays
    code: CodeType
    since: float
    variant: Variant | None = None
    source: _Source | None = None
    lines: Counter[int] = field(default_factory=Counter)
    now: set[int] = field(default_factory=set)
    is_told: bool = False

    def look(self, line: int) -> None:
        """Count a sample at a line."""
        self.lines[line] += 1
        self.now.add(line)

    def place(self, line: int, known: Mapping[str, Any], over: bool) -> RunPosition:
        """Return its position, with the shares of all samples so far."""
        assert self.source is not None
        of = self.source.statements
        counts: Counter[str] = Counter()
        for at, count in self.lines.items():
            if (statement := of[at - 1]) is not None:
                counts[statement] += count
        total = counts.total()
        now = {of[at - 1] for at in self.now}
        self.now = set()
        return RunPosition(
            program=self.compiled.program.name,
            variant="" if self.variant is None else self.variant.key,
            shares={name: count / total for name, count in counts.items()},
            now=() if over else tuple(sorted(name for name in now if name is not None)),
            loops=() if over else tuple(_counted(self.source.loops[line - 1], known)),
            seconds=time.monotonic() - self.since,
            over=over,
        )


class Sampler:
    """A thread that looks at the main thread from `start` to `stop`, or as long as its block lasts.

    `seen` is called on the sampler's thread, at most once in `REPORT` seconds while a program runs
    and once when it is over.
    """

    def __init__(self, seen: PositionListener) -> None:
        self._seen = seen
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._sources: dict[CodeType, _Source] = {}

    def start(self) -> None:
        """Begin to look."""
        self.stop()
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="workbench sampler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; a running program is reported as over."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Sampler:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def _run(self) -> None:
        programs: dict[CodeType, _Seen] = {}
        running: _Seen | None = None
        last = reported = time.monotonic()
        while not self._stop.wait(SAMPLE):
            frame = _generated(sys._current_frames().get(threading.main_thread().ident or 0))
            now = time.monotonic()
            if frame is None:
                if running is not None and now - last >= REPORT:
                    self._end(running)
                    running = None
                continue
            if running is None:
                reported = now  # a short run is not worth a report
            if running is None or frame.f_code is not running.code:
                if running is not None:
                    self._end(running)
                running = _found(frame, programs)
            if running is None:
                continue
            last, line = now, frame.f_lineno
            running.look(line)
            if now - reported >= REPORT:
                reported = now
                self._read(running)
                running.is_told = True
                self._seen(running.place(line, frame.f_locals, over=False), running.variant)
        if running is not None:
            self._end(running)

    def _end(self, running: _Seen) -> None:
        """Report its end, if its run was reported."""
        if running.is_told:
            running.is_told = False
            self._seen(running.place(1, {}, over=True), running.variant)

    def _read(self, running: _Seen) -> None:
        """Read the generated lines, and find the variant."""
        if running.source is not None:
            return
        code = running.code
        if code not in self._sources:
            checks = running.compiled.checks_finite(code)
            source = source_lines(running.compiled.loop_program, checks)
            while len(self._sources) >= MOST_SOURCES:
                del self._sources[next(iter(self._sources))]
            self._sources[code] = _lines(source)
        running.source = self._sources[code]


def _found(frame: FrameType, programs: dict[CodeType, _Seen]) -> _Seen | None:
    """Return the program that runs in the frame of a generated function; the function's caller
    knows it.
    """
    if frame.f_code not in programs:
        caller = frame.f_back
        compiled = None if caller is None else caller.f_locals.get("self")
        if not isinstance(compiled, CompiledArrays):
            return None
        programs[frame.f_code] = _Seen(compiled, frame.f_code, time.monotonic(), _variant(caller))
    return programs[frame.f_code]


def _generated(frame: FrameType | None) -> FrameType | None:
    """Find the generated function among a frame and its callers."""
    while frame is not None and not frame.f_code.co_filename.startswith(GENERATED):
        frame = frame.f_back
    return frame


def _variant(frame: FrameType | None) -> Variant | None:
    """Find the variant that is run or measured. Its program does not tell, since it may return more
    than the variant does.
    """
    while frame is not None:
        if frame.f_code.co_filename.startswith(MEASURE):
            for value in frame.f_locals.values():
                variant = value if isinstance(value, Variant) else getattr(value, "variant", None)
                if isinstance(variant, Variant):
                    return variant
        frame = frame.f_back
    return None


def _lines(source: Sequence[SourceText]) -> _Source:
    """Return the statement and the loops of each line."""
    around: list[_Loop] = []
    statements, loops = [], []
    for line in source:
        text = line.text
        indent = len(text) - len(text.lstrip())
        if text.strip():
            around = [loop for loop in around if loop.indent < indent]
        statements.append(line.statement)
        loops.append(tuple(around))
        if heading := _LOOP.match(text):
            values = compile(heading[3], "<range>", "eval")
            around.append(_Loop(indent, heading[2], values))
    return _Source(statements, loops)


def _counted(loops: Iterable[_Loop], known: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield each loop's variable, the number of its values that are done, and their total."""
    for loop in loops:
        value = known.get(loop.variable)
        if value is None:
            return
        values: range = eval(loop.values, _NAMES, dict(known))
        if value in values:
            yield loop.variable, values.index(value), len(values)
