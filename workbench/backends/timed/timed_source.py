"""Generated source with a timer behind the lines of each statement's instance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from workbench.backends.arrays.source import SourceText, source_lines
from workbench.lowering.loop_program import LoopProgram
from workbench.names import lengthened

TIMERS = "timers"
"""The function of the generated source that has all timers and nothing else, so many times."""
STEP = "step()"
GIVEN = ("clock", "ticks", "calls", "made")
"""What timers are given in the table of functions."""
BEGINS = "begins"
"""The function in the table that is called with the number and the value of each iteration, where
these are logged.
"""
_LOOP = re.compile(r" *for (\w+) in range\(.*\):$")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class TimedSource:
    """Source with timers, and the statements by the timers' numbers.

    Its table of functions has `clock`, which returns nanoseconds, and lists by number: `ticks` of
    that clock, `calls` of the statement's instances, and how many timers were `made`.
    """

    text: str
    statements: tuple[str, ...]


def timed_source(program: LoopProgram, iterations: bool = False) -> TimedSource:
    """Return the source of a loop program with timers. With `iterations` it tells of each one too:
    loops are numbered in text order.
    """
    lines = source_lines(program)
    numbers: dict[str, int] = {}
    for line in lines:
        if line.statement is not None:
            numbers.setdefault(line.statement, len(numbers))
    return TimedSource(_Timing(lines, numbers, iterations).text(), tuple(numbers))


class _Timing:
    def __init__(
        self, lines: Sequence[SourceText], numbers: dict[str, int], iterations: bool
    ) -> None:
        self.lines = lines
        self.numbers = numbers
        words = {word for line in lines for word in _WORD.findall(line.text)}
        given = (*GIVEN, BEGINS) if iterations else GIVEN
        self.given = {name: lengthened(name, words) for name in given}
        self.now, self.last = (lengthened(name, words) for name in ("now", "last"))

    def text(self) -> str:
        """Return all lines, and behind them the function that only times."""
        clock = self.given["clock"]
        begin = [f'    {own} = functions["{name}"]' for name, own in self.given.items()]
        begin.append(f"    {self.last} = {clock}()")
        head = next(k for k, line in enumerate(self.lines) if line.text.startswith("def ")) + 1
        body = [line.text for line in self.lines[:head]] + begin + list(self._timed(head))
        timers = [
            "",
            "",
            f"def {TIMERS}(functions, times):",
            *begin,
            "    for _ in range(times):",
            *(f"        {self._timer(number, 1)}" for number in self.numbers.values()),
        ]
        return "\n".join([*body, *timers, ""])

    def _timed(self, head: int) -> Iterator[str]:
        """Yield the lines of the body, with a timer behind each group of one statement."""
        statement, begun, indent = "", 0, ""
        loops = count()
        for line in self.lines[head:]:
            own = line.text[: len(line.text) - len(line.text.lstrip())]
            control = line.text.endswith(":") and line.statement is None
            step = line.text.strip() == STEP
            other = line.statement is not None and line.statement != statement
            if statement and (control or step or other or own != indent):
                yield indent + self._timer(self.numbers[statement], begun)
                statement, begun = "", 0
            yield line.text
            if BEGINS in self.given and (loop := _LOOP.match(line.text)):
                yield f"{own}    {self.given[BEGINS]}({next(loops)}, {loop[1]})"
                yield f"{own}    {self.last} = {self.given['clock']}()"
            if step:
                yield f"{own}{self.last} = {self.given['clock']}()"
            if line.statement is not None:
                statement, indent = line.statement, own
                begun += line.begins
        if statement:
            yield indent + self._timer(self.numbers[statement], begun)

    def _timer(self, number: int, begun: int) -> str:
        now, last, given = self.now, self.last, self.given
        counted = f"{given['calls']}[{number}] += {begun}; " if begun else ""
        return (
            f"{now} = {given['clock']}(); {given['ticks']}[{number}] += {now} - {last}; "
            f"{given['made']}[{number}] += 1; {counted}{last} = {now}"
        )
