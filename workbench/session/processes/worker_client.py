"""The worker process as seen from outside: orders go in, results come back on another thread.

What an order is about travels once. When the process dies, the order that it was busy with fails
and the others are given to a new one.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.program.values import Program
from workbench.session.processes.orders import NewVariant, VariantRef
from workbench.session.processes.pipe import Child
from workbench.session.protocol.failures import sentence
from workbench.session.protocol.state import ErrorView
from workbench.transforms.step.transform import Transform
from workbench.variants.variant import Variant

MODULE = "workbench.session.processes.worker"

URGENCY: Mapping[str, int] = {
    "apply": 0, "replay": 0, "automatic": 1, "anew": 1, "trace": 0, "recorded": 4,
    "snapshot": 0, "preview": 1, "why": 1, "value": 1, "domain": 1, "code": 2, "cost": 2,
    "runs": 2, "memory": 2, "moves": 3, "sweep": 3, "price": 4, "prepare": 5,
}  # fmt: skip
"""Tasks and parts: the lower, the sooner. What a click waits for comes first, lists come last."""
LATER = 3
"""The urgency from which on work rests while a measurement runs, whose times it would spoil."""


# -- what passes -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Define:
    """A variant by its key; its parent was defined before."""

    key: str
    parent: str | None
    program: Program
    step: Transform | None
    notes: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Stands:
    """A key for a variant that the worker made: which of an order's."""

    key: str
    number: int
    position: int


@dataclass(frozen=True)
class ForgetVariants:
    """Variants that are asked about no more."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Order:
    """Work to do; variants among the arguments are `Known`."""

    number: int
    task: str
    arguments: tuple[Any, ...]
    urgency: int


@dataclass(frozen=True)
class Hasten:
    """An order has become more urgent."""

    number: int
    urgency: int


@dataclass(frozen=True)
class Rest:
    """What nobody waits for rests from now on, or no longer."""

    resting: bool


@dataclass(frozen=True)
class Drop:
    """An order is wanted no more."""

    number: int


@dataclass(frozen=True)
class Started:
    """The worker is busy with an order now."""

    number: int


@dataclass(frozen=True)
class PartResult:
    """A result of an order."""

    number: int
    value: Any


@dataclass(frozen=True)
class Finished:
    """An order is done, or has failed."""

    number: int
    error: ErrorView | None


# -- the other end ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """An order and who waits for it. `came` is called with each result, with `(Made, Variant)`
    where that is a variant, and `ended` once, with an error if there is one.
    """

    number: int
    task: str
    arguments: tuple[Any, ...]
    urgency: int
    came: Callable[[Any], None]
    ended: Callable[[ErrorView | None], None]


class WorkerClient:
    """Gives orders to a worker process, which is started with the first of them or by `warm`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._child: Child | None = None
        self._sent: set[str] = set()
        self._jobs: dict[int, Job] = {}
        self._made: dict[int, list[Variant]] = {}
        self._busy: int | None = None
        self._resting = 0

    @property
    def pid(self) -> int | None:
        """The number of the worker process, null where there is none."""
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

    def drop(self, number: int) -> None:
        """An order is wanted no more; nothing of it is heard after that."""
        with self._lock:
            self._made.pop(number, None)
            if self._jobs.pop(number, None) and self._child is not None:
                self._child.send(Drop(number))

    def forget(self, keys: Iterable[str]) -> None:
        """Variants will be asked about no more; if they are all the same, they travel again."""
        with self._lock:
            known = tuple(key for key in keys if key in self._sent)
            self._sent.difference_update(known)
            if known and self._child is not None:
                self._child.send(ForgetVariants(known))

    def hasten(self, number: int, urgency: str) -> None:
        """An order is at least as urgent as that."""
        with self._lock:
            job, wanted = self._jobs.get(number), URGENCY[urgency]
            if job is not None and wanted < job.urgency and self._child is not None:
                self._jobs[number] = replace(job, urgency=wanted)
                self._child.send(Hasten(number, wanted))

    def rest(self, resting: bool) -> None:
        """Let lists wait, or no longer: as often as the one as the other."""
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
            self._sent.clear()
            self._made.clear()
            self._busy = None
            self._child = Child(MODULE, self._hear, self._died)
            self._child.send(Rest(self._resting > 0))
        return self._child

    def _give(self, job: Job) -> None:
        child = self._started()
        arguments = tuple(
            self._known(child, argument) if isinstance(argument, Variant) else argument
            for argument in job.arguments
        )
        child.send(Order(job.number, job.task, arguments, job.urgency))

    def _known(self, child: Child, variant: Variant) -> VariantRef:
        """A variant by its key, sent before if it was not."""
        for one in variant.lineage:
            if one.key not in self._sent:
                parent = None if one.parent is None else one.parent.key
                child.send(Define(one.key, parent, one.program, one.step, one.notes, one.why))
                self._sent.add(one.key)
        return VariantRef(variant.key)

    # -- what comes back, on the reader's thread ---------------------------------------------------

    def _hear(self, message: Started | PartResult | Finished) -> None:
        with self._lock:
            if isinstance(message, Started):
                self._busy = message.number
                return
            job = self._jobs.get(message.number)
            if job is None:
                return  # it was dropped
            if isinstance(message, Finished):
                del self._jobs[job.number]
                self._made.pop(job.number, None)
            elif isinstance(value := message.value, NewVariant):
                value = value, self._variant(job, value)
        if isinstance(message, Finished):
            job.ended(message.error)
        else:
            job.came(value)

    def _variant(self, job: Job, made: NewVariant) -> Variant:
        """The variant that was made, on the objects of this side; the worker knows it by its key
        from now on. Called under the lock.
        """
        own = self._made.setdefault(job.number, [])
        above: Variant | None = None
        if isinstance(made.base, int):
            above = own[made.base]
        elif made.base is not None:
            given = [one for one in job.arguments if isinstance(one, Variant)]
            above = next(one for one in given if one.key == made.base)
        variant = Variant(made.program, above, made.step, made.notes, made.why)
        if self._child is not None:
            self._child.send(Stands(variant.key, job.number, len(own)))
            self._sent.add(variant.key)
        own.append(variant)
        return variant

    def _died(self, reason: str) -> None:
        """Give what is left to a new process, but not what the old one was busy with: that would
        end the new one too.
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
