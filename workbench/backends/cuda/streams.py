"""Steps on three streams: copies to the host and copies to the device run beside all else and
beside each other, and each step waits for what it has to.

A step waits for the last one of another stream that touches the same memory, where one of both
writes it, unless its stream has waited for that, or for one that had. The copies of each way begin
behind all that came before, and what comes next waits for them: so the steps can be a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench.backends.cuda.driver import Driver, Stream
from workbench.backends.cuda.launching import OfDevice, Transfer
from workbench.codegen.cuda.memory.memory_parts import Touched

BEGIN = -1
"""The number of what comes before all steps."""
NEVER = -2
"""That of the last step of a stream of which nothing is done."""

Done: TypeAlias = Mapping[Stream, int]
"""The last step of each stream that is done."""


@dataclass(frozen=True)
class OnStreams:
    """Steps in order. `waits` has for a step the numbers of those that it waits for; `last` are the
    last copies, as far as what comes next has to wait for them.
    """

    steps: Sequence[OfDevice]
    waits: Mapping[int, tuple[int, ...]]
    last: tuple[int, ...]

    @classmethod
    def of(cls, steps: Sequence[OfDevice]) -> OnStreams:
        """Find what each step waits for."""
        order = _Order(steps)
        for number in range(len(steps)):
            order.add(number)
        return cls(steps, order.waits, order.last())

    def ask(self, driver: Driver, do: Callable[[OfDevice], None]) -> None:
        """Ask a driver for all steps, which `do` asks it for one by one."""
        needed = {*self.last}.union(*self.waits.values())
        events: dict[int, Any] = {}
        if BEGIN in needed:
            events[BEGIN] = driver.event()
        for number, step in enumerate(self.steps):
            stream = stream_of(step)
            for awaited in self.waits.get(number, ()):
                driver.follow(events[awaited], stream)
            do(step)
            if number in needed:
                events[number] = driver.event(stream)
        for number in self.last:
            driver.follow(events[number])


def stream_of(step: OfDevice) -> Stream:
    """Return the stream of a step."""
    if not isinstance(step, Transfer):
        return Stream.KERNELS
    return Stream.TO_HOST if step.to_host else Stream.TO_DEVICE


class _Order:
    """The order of steps so far: those of each stream, and what is done behind each of them."""

    def __init__(self, steps: Sequence[OfDevice]) -> None:
        self.steps = steps
        self.begun: dict[Stream, list[int]] = {stream: [] for stream in Stream}
        self.waits: dict[int, tuple[int, ...]] = {}
        nothing = dict.fromkeys(Stream, NEVER)
        before = nothing | {Stream.KERNELS: BEGIN}
        self._behind: dict[int, Done] = {BEGIN: before}
        """The last steps of all streams that are done when a step is."""
        self._done: dict[Stream, Done] = dict.fromkeys(Stream, nothing)
        """The same when the last step of a stream is."""
        self._done[Stream.KERNELS] = before

    def add(self, number: int) -> None:
        """Let a step wait for what it has to."""
        stream, touched = stream_of(self.steps[number]), self.steps[number].touched
        done = self._done[stream]
        awaited = [
            self._last_that_meets(touched, other, done[other])
            for other in Stream
            if other is not stream
        ]
        waits, done = self._to_wait_for([BEGIN, *awaited], done)
        if waits:
            self.waits[number] = waits
        self._behind[number] = self._done[stream] = {**done, stream: number}
        self.begun[stream].append(number)

    def last(self) -> tuple[int, ...]:
        """Return the last copies, as far as the kernels' stream has not waited for them."""
        copies = [self.begun[stream] for stream in Stream if stream is not Stream.KERNELS]
        waits, _ = self._to_wait_for([c[-1] for c in copies if c], self._done[Stream.KERNELS])
        return waits

    def _last_that_meets(self, touched: Iterable[Touched], other: Stream, done: int) -> int:
        """Return the last step of another stream that must be done before what touches some memory:
        NEVER where that is none.
        """
        for number in reversed(self.begun[other]):
            if number <= done:
                break
            theirs = self.steps[number].touched
            if any(_meet(one, another) for one in touched for another in theirs):
                return number
        return NEVER

    def _to_wait_for(self, awaited: Sequence[int], done: Done) -> tuple[tuple[int, ...], Done]:
        """Return which of some steps are to be waited for, where others are done, and what is done
        then. Later ones may have waited for earlier ones.
        """
        waits: list[int] = []
        for number in sorted(awaited, reverse=True):
            if number == NEVER or number <= done[self._stream(number)]:
                continue
            waits.append(number)
            behind = self._behind[number]
            done = {stream: max(done[stream], behind[stream]) for stream in Stream}
        return tuple(waits), done

    def _stream(self, number: int) -> Stream:
        return Stream.KERNELS if number == BEGIN else stream_of(self.steps[number])


def _meet(one: Touched, other: Touched) -> bool:
    """Tell whether two steps that touch memory must keep their order."""
    return (one.written or other.written) and one.begin < other.end and other.begin < one.end
