"""Steps on two streams: copies between the spaces run beside all else, and each waits for what it
has to.

A step waits for the last one of the other stream that touches the same memory, where one of both
writes it, unless its stream has waited for that or for a later one. The copies begin behind all
that came before, and what comes next waits for them: so the steps can be a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.backends.cuda.driver import Driver
from workbench.backends.cuda.launching import OfDevice, Transfer
from workbench.codegen.cuda.memory.memory_parts import Touched

BEGIN = -1
"""The number of what comes before all steps."""


@dataclass(frozen=True)
class TwoStreams:
    """Steps in order. `waits` has for a step the number of the one that it waits for; `last` is the
    last copy, if what comes next has to wait for it.
    """

    steps: Sequence[OfDevice]
    waits: dict[int, int]
    last: int | None

    @classmethod
    def of(cls, steps: Sequence[OfDevice]) -> TwoStreams:
        """Find what each step waits for."""
        streams = _Stream(), _Stream()
        waits: dict[int, int] = {}
        for number, step in enumerate(steps):
            copies = isinstance(step, Transfer)
            own, other = streams[copies], streams[not copies]
            awaited = own.awaits(step.touched, other)
            if awaited is None and copies and not own.begun:
                awaited = BEGIN
            if awaited is not None:
                waits[number] = own.awaited = awaited
            own.begun.append((number, step.touched))
        compute, copying = streams
        last = copying.begun[-1][0] if copying.begun else BEGIN
        return cls(steps, waits, last if last > compute.awaited else None)

    def ask(self, driver: Driver, do: Callable[[OfDevice], None]) -> None:
        """Ask a driver for all steps, which `do` asks it for one by one."""
        needed = {*self.waits.values(), self.last}
        events: dict[int, Any] = {}
        if BEGIN in needed:
            events[BEGIN] = driver.event()
        for number, step in enumerate(self.steps):
            copies = isinstance(step, Transfer)
            if number in self.waits:
                driver.follow(events[self.waits[number]], beside=copies)
            do(step)
            if number in needed:
                events[number] = driver.event(beside=copies)
        if self.last is not None:
            driver.follow(events[self.last])


@dataclass
class _Stream:
    """The steps of a stream so far, and the number of the one of the other that it waited for
    last.
    """

    begun: list[tuple[int, Iterable[Touched]]] = field(default_factory=list)
    awaited: int = BEGIN

    def awaits(self, touched: Iterable[Touched], other: _Stream) -> int | None:
        """Return the step of another stream that must be done before what touches some memory."""
        for number, theirs in reversed(other.begun):
            if number <= self.awaited:
                return None
            if any(_meet(one, another) for one in touched for another in theirs):
                return number
        return None


def _meet(one: Touched, other: Touched) -> bool:
    """Tell whether two steps that touch memory must keep their order."""
    return (one.written or other.written) and one.begin < other.end and other.begin < one.end
