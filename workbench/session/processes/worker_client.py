"""A client of the worker process: orders go in, results come back on another thread.

The arguments of orders travel once. When the process dies, the order that it was busy with fails
and a new process gets the others. A process that is busy with a dropped order is ended.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.session.processes.orders import (
    Drop,
    Finished,
    ForgetVariants,
    Grown,
    GrownResult,
    Hasten,
    Order,
    PartResult,
    Rest,
    Started,
    VariantRef,
    new_variant,
)
from workbench.session.processes.pipe import Child
from workbench.session.protocol.failures import sentence
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant

MODULE = "workbench.session.processes.worker"

URGENCY: Mapping[str, int] = {
    "apply": 0, "replay": 0, "anew": 1, "trace": 0, "recorded": 4,
    "follow": 0, "report": 1,
    "snapshot": 0, "preview": 1, "why": 1, "reason": 1, "value": 1, "domain": 1, "play": 1,
    "code": 2,
    "kernels": 2, "kernel": 2, "cost": 2, "runs": 2, "memory": 2, "moves": 3, "sweep": 3,
    "price": 4, "prepare": 5,
}  # fmt: skip
"""The urgency of tasks and parts: the lower, the sooner. Work for a click comes first, lists
last."""
LATER = 3
"""The urgency from which on work rests during a measurement, since it would spoil the times."""

GRACE = 10.0
"""Seconds that the process may go on with an order that was dropped."""


@dataclass(frozen=True)
class Job:
    """An order and its listener. `came` is called with each result, `ended` once, with an error if
    there is one. `variants` are those in the arguments and those that the order made.
    """

    number: int
    task: str
    arguments: tuple[Any, ...]
    urgency: int
    came: Callable[[Any], None]
    ended: Callable[[ErrorView | None], None]
    variants: dict[str, Variant] = field(default_factory=dict)


class WorkerClient:
    """A client that gives orders to a worker process. The first order starts it, or `warm`. It is
    `behind` if nobody waits for its work alone.
    """

    def __init__(self, behind: bool = False) -> None:
        self._behind = behind
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._child: Child | None = None
        self._jobs: dict[int, Job] = {}
        self._times: Counter[str] = Counter()  # how often either side told of each variant
        self._busy: int | None = None
        self._dropped: int | None = None  # the dropped order that it still works on
        self._resting = 0

    @property
    def pid(self) -> int | None:
        """The number of the worker process, None where there is none."""
        return None if self._child is None else self._child.pid

    def warm(self) -> None:
        """Start the process, so that the first order need not wait for it."""
        with self._lock:
            self._started()

    def order(
        self,
        task: str,
        *arguments: Any,
        came: Callable[[Any], None],
        ended: Callable[[ErrorView | None], None],
        urgency: str = "",
    ) -> int:
        """Order work and return its number; variants are passed as they are. `urgency` is a key of
        `URGENCY`, the task's unless given. Raises WorkbenchError where something cannot be pickled.
        """
        with self._lock:
            wanted = URGENCY[urgency or task]
            job = Job(next(self._numbers), task, arguments, wanted, came, ended)
            self._give(job)
            self._jobs[job.number] = job
            return job.number

    def tell(self, variant: Variant) -> None:
        """Tell the worker of a variant, if it does not know it. Raises NotSentError."""
        with self._lock:
            self._tell(self._started(), variant)

    def drop(self, number: int) -> None:
        """Withdraw an order; nothing more of it is heard. A process that does not let go of it is
        ended, as other orders would wait behind it for ever.
        """
        with self._lock:
            if not self._jobs.pop(number, None) or self._child is None:
                return
            self._child.send(Drop(number))
            if self._busy == number:
                self._expect_end(number)

    def forget(self, keys: Iterable[str]) -> None:
        """Forget variants that nobody will ask about; if somebody does, they travel again."""
        with self._lock:
            times = {key: self._times.pop(key) for key in keys if key in self._times}
            if times and self._child is not None:
                self._child.send(ForgetVariants(times))

    def hasten(self, number: int, urgency: str) -> None:
        """Make an order at least as urgent as that."""
        with self._lock:
            job, wanted = self._jobs.get(number), URGENCY[urgency]
            if job is not None and wanted < job.urgency and self._child is not None:
                self._jobs[number] = replace(job, urgency=wanted)
                self._child.send(Hasten(number, wanted))

    def rest(self, resting: bool) -> None:
        """Let lists rest, or no longer. Every call with True needs one with False."""
        with self._lock:
            self._resting += 1 if resting else -1
            if self._child is not None:
                self._child.send(Rest(self._resting > 0))

    def stop(self) -> None:
        """End the process and forget all orders."""
        with self._lock:
            child, self._child = self._child, None
            self._jobs.clear()
        if child is not None:
            child.stop()

    def _started(self) -> Child:
        if self._child is None:
            self._times.clear()
            self._busy = self._dropped = None
            self._child = Child(MODULE, self._hear, self._died, self._behind)
            self._child.send(Rest(self._resting > 0))
        return self._child

    def _give(self, job: Job) -> None:
        child = self._started()
        arguments = tuple(
            self._ref(child, job, argument) if isinstance(argument, Variant) else argument
            for argument in job.arguments
        )
        child.send(Order(job.number, job.task, arguments, job.urgency))

    def _ref(self, child: Child, job: Job, variant: Variant) -> VariantRef:
        """Return a reference to a variant; tell the worker of the variant first, if it does not
        know it.
        """
        self._tell(child, variant)
        job.variants[variant.key] = variant
        return VariantRef(variant.key)

    def _tell(self, child: Child, variant: Variant) -> None:
        for one in variant.lineage:
            if one.key not in self._times:
                child.send(new_variant(one))
                self._times[one.key] += 1

    def _expect_end(self, number: int) -> None:
        """End the process if it goes on with a dropped order; another process gets the rest."""
        child, self._dropped = self._child, number

        def end() -> None:
            with self._lock:
                if child is not None and child is self._child and self._dropped == number:
                    child.kill()

        late = threading.Timer(GRACE, end)
        late.daemon = True
        late.start()

    # -- what comes back, on the reader's thread ---------------------------------------------------

    def _hear(self, message: Started | PartResult | GrownResult | Finished) -> None:
        with self._lock:
            if isinstance(message, Started):
                self._busy, self._dropped = message.number, None
                if message.number not in self._jobs:
                    self._expect_end(message.number)
                return
            job = self._jobs.get(message.number)
            if job is None:
                self._hear_dropped(message)
                return
            if isinstance(message, Finished):
                del self._jobs[job.number]
            if isinstance(message, GrownResult):
                result: Any = self._grown(job, message)
            elif isinstance(message, PartResult):
                result = message.value
        if isinstance(message, Finished):
            job.ended(message.error)
        else:
            job.came(result)

    def _grown(self, job: Job, message: GrownResult) -> Grown:
        """Return the new variants as objects of this side."""
        for new in message.variants:
            job.variants[new.key] = new.variant(job.variants)
            self._times[new.key] += 1
        return Grown(tuple(job.variants[new.key] for new in message.variants), message.entry)

    def _hear_dropped(self, message: PartResult | GrownResult | Finished) -> None:
        """Let the worker forget what it made for a dropped order, since nobody asks about it."""
        if isinstance(message, GrownResult) and self._child is not None:
            self._child.send(ForgetVariants({new.key: 1 for new in message.variants}))
        elif isinstance(message, Finished) and message.number == self._dropped:
            self._dropped = None

    def _died(self, reason: str) -> None:
        """Give the remaining orders to a new process, except the one that the old process was busy
        with: that would end the new one too.
        """
        with self._lock:
            self._child = None
            failed = [job for job in self._jobs.values() if self._busy in (None, job.number)]
            for job in failed:
                del self._jobs[job.number]
            for job in self._jobs.values():
                self._give(job)
        said = f"The process that computes what the workbench shows is gone ({reason})."
        for job in failed:
            job.ended(sentence(f"{said} Ask again, and a new one will try."))
