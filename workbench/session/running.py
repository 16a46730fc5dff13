"""Where a running program is, read from outside while it runs.

A thread looks a few dozen times a second at the frame of the generated function: its line tells the
statement, its locals the loop variables. The generated source knows nothing of it, and a program
that is not looked at pays nothing.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from workbench.backends.arrays import GENERATED, CompiledArrays
from workbench.backends.source import SourceText, source_lines
from workbench.program.values import Program
from workbench.variants.variant import Variant

SAMPLE = 1 / 40
"""Seconds between two looks."""
REPORT = 0.25
"""Seconds between two reports."""

Variants = Callable[[], Sequence[Variant]]

_LOOP = re.compile(r"( *)for (\w+) in (range\(.*\)):$")
_NAMES = {"__builtins__": {"range": range, "min": min, "max": max}}


@dataclass(frozen=True)
class Place:
    """Where a program is, as in `messages.Running`. `variant` is "" where no known one runs."""

    program: str
    variant: str
    shares: Mapping[str, float]
    now: tuple[str, ...]
    loops: tuple[tuple[str, int, int], ...]
    seconds: float
    over: bool


@dataclass(frozen=True)
class _Loop:
    """A loop in the generated source: how deep it is, its variable and its range."""

    indent: int
    variable: str
    values: CodeType


@dataclass
class _Seen:
    """A program that was seen running. `statements` and `loops` are by line, from 1."""

    program: str
    variant: str
    statements: list[str | None]
    loops: list[tuple[_Loop, ...]]
    since: float
    counts: Counter[str] = field(default_factory=Counter)
    now: set[str] = field(default_factory=set)
    reported: bool = False

    def look(self, line: int) -> None:
        """Count the statement of a line."""
        statement = self.statements[line - 1]
        if statement is not None:
            self.counts[statement] += 1
            self.now.add(statement)

    def place(self, line: int, known: Mapping[str, Any], over: bool) -> Place:
        """Where it is, with the shares of all samples so far."""
        now, self.now, self.reported = tuple(sorted(self.now)), set(), not over
        total = sum(self.counts.values())
        return Place(
            program=self.program,
            variant=self.variant,
            shares={name: count / total for name, count in self.counts.items()},
            now=() if over else now,
            loops=tuple(_counted(self.loops[line - 1], known)),
            seconds=time.monotonic() - self.since,
            over=over,
        )


class Sampler:
    """Looks at the main thread from `start` to `stop`, or as long as its block lasts. `variants`
    gives those that are known by a key.

    `seen` is called on the sampler's thread, at most once in `REPORT` seconds while a program runs
    and once when it is over.
    """

    def __init__(self, seen: Callable[[Place], None], variants: Variants) -> None:
        self._seen, self._variants = seen, variants
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        self.stop()
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="workbench sampler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; what runs is reported as over."""
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
        seen = reported = time.monotonic()
        while not self._stop.wait(SAMPLE):
            frame = _generated(sys._current_frames().get(threading.main_thread().ident or 0))
            found = None if frame is None else self._known(frame, programs)
            now = time.monotonic()
            if frame is None or found is None:
                if running is not None and running.reported and now - seen >= REPORT:
                    self._seen(running.place(1, {}, over=True))
                    running = None
                continue
            if running is None:
                reported = now  # what is soon over is not worth a report
            running, seen, line = found, now, frame.f_lineno
            running.look(line)
            if now - reported >= REPORT:
                reported = now
                self._seen(running.place(line, frame.f_locals, over=False))
        if running is not None and running.reported:
            self._seen(running.place(1, {}, over=True))

    def _known(self, frame: FrameType, programs: dict[CodeType, _Seen]) -> _Seen | None:
        """What runs in the frame, with what is known of its source."""
        caller = frame.f_back
        compiled = None if caller is None else caller.f_locals.get("self")
        if not isinstance(compiled, CompiledArrays):
            return None
        code = frame.f_code
        if code not in programs:
            own = _lines(source_lines(compiled.loop_program, compiled.checks_finite(code)))
            key = _key(compiled.program, self._variants())
            programs[code] = _Seen(compiled.program.name, key, *own, time.monotonic())
        return programs[code]


def _generated(frame: FrameType | None) -> FrameType | None:
    """The generated function among a frame and its callers."""
    while frame is not None and not frame.f_code.co_filename.startswith(GENERATED):
        frame = frame.f_back
    return frame


def _key(program: Program, variants: Sequence[Variant]) -> str:
    """The variant that runs: it itself, or with its schedule where a run also returns what it
    carries; "" where it is none of them.
    """
    itself = [one.key for one in variants if one.program is program]
    alike = [one.key for one in variants if one.program.schedule is program.schedule]
    return next(iter([*itself, *alike]), "")


def _lines(source: Sequence[SourceText]) -> tuple[list[str | None], list[tuple[_Loop, ...]]]:
    """The statement and the loops of each line."""
    around: list[_Loop] = []
    statements, loops = [], []
    for text, statement in source:
        indent = len(text) - len(text.lstrip())
        if text.strip():
            around = [loop for loop in around if loop.indent < indent]
        statements.append(statement)
        loops.append(tuple(around))
        if found := _LOOP.match(text):
            values = compile(found[3], "<range>", "eval")
            around.append(_Loop(indent, found[2], values))
    return statements, loops


def _counted(loops: Iterable[_Loop], known: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Each loop's variable, how many of its values are done, and how many there are."""
    for loop in loops:
        value = known.get(loop.variable)
        if value is None:
            return
        values: range = eval(loop.values, _NAMES, dict(known))
        if value in values:
            yield loop.variable, values.index(value), len(values)
