"""The worker process.

Work is taken by urgency, and of equal urgency the newest first. Lists rest while a measurement
runs, and long work goes behind short work. Work with results in batches makes way for other work
between two of them. Variants that the other side knows by a key stay here under it.

When there is nothing to do, the garbage collector freezes all objects, and thaws them when a
variant is next let go. Searching a million remembered values for garbage takes most of a second,
which would fall into a click's work.
"""

from __future__ import annotations

import gc
import os
import queue
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from workbench.language.tracing.trace import line_of
from workbench.session.processes import worker_tasks
from workbench.session.processes.orders import (
    Drop,
    Finished,
    ForgetVariants,
    Grown,
    GrownResult,
    Hasten,
    NewVariant,
    Order,
    PartResult,
    Rest,
    Started,
    VariantRef,
    new_variant,
)
from workbench.session.processes.pipe import Parent
from workbench.session.processes.worker_client import LATER
from workbench.session.protocol.failures import error_view
from workbench.variants.variant import Variant

LONG = 8.0
"""Processor seconds of work on an order after which all others come first."""

SELDOM = 50_000, 20, 100
"""When cyclic garbage is collected: Python's own thresholds (700, 10, 10) are reached thousands of
times in a list of prices, whose objects nearly all end without it.
"""


class Worker:
    """The worker, which takes orders from a pipe and works on them."""

    def __init__(self, pipe: Parent) -> None:
        self._pipe = pipe
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._orders: dict[int, Order] = {}
        self._running: dict[int, Iterator[Any]] = {}
        self._variants: dict[str, Variant] = {}
        self._times: Counter[str] = Counter()
        self._resting = False
        self._spent: dict[int, float] = {}

    def run(self) -> None:
        """Work until the other end is gone."""
        gc.set_threshold(*SELDOM)
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            while not self._ready() or not self._inbox.empty():
                if self._inbox.empty():
                    gc.freeze()
                self._take(self._inbox.get())
            self._advance(min(self._ready(), key=self._rank).number)

    def _rank(self, order: Order) -> tuple[bool, int, int]:
        """Rank an order; the least comes first. Work that has taken long goes behind all that has
        not.
        """
        return self._spent.get(order.number, 0.0) > LONG, order.urgency, -order.number

    def _ready(self) -> list[Order]:
        """Return the orders that may be worked on."""
        orders = self._orders.values()
        return [order for order in orders if not self._resting or order.urgency < LATER]

    def _listen(self) -> None:
        """Receive messages. An unreadable one ends the process: it may be of a module that is newer
        or changed, and a new process finds that.
        """
        code = 1
        try:
            for message in self._pipe:
                self._inbox.put(message)
            code = 0
        except Exception:  # an imported user's module may raise anything
            traceback.print_exc()
        os._exit(code)  # even amid isl's work: nobody wants it any more

    def _take(self, message: Any) -> None:
        match message:
            case NewVariant():
                self._know(message.key, message.variant(self._variants))
            case ForgetVariants():
                self._forget(message.times)
            case Rest():
                self._resting = message.resting
            case Drop():
                self._end(message.number)
                self._pipe.send(Finished(message.number, None))
            case Hasten():
                if message.number in self._orders:
                    order = self._orders[message.number]
                    self._orders[message.number] = replace(order, urgency=message.urgency)
            case Order():
                arguments = tuple(
                    self._variants[one.key] if isinstance(one, VariantRef) else one
                    for one in message.arguments
                )
                self._orders[message.number] = replace(message, arguments=arguments)

    def _advance(self, number: int) -> None:
        """Work on an order until its next result."""
        self._pipe.send(Started(number))
        started = time.thread_time()
        try:
            if number not in self._running:
                order = self._orders[number]
                self._running[number] = worker_tasks.TASKS[order.task](*order.arguments)
            value = next(self._running[number])
            taken = time.thread_time() - started
            self._spent[number] = self._spent.get(number, 0.0) + taken
            if isinstance(value, Grown):
                self._tell(number, value)
            else:
                self._pipe.send(PartResult(number, value))
        except StopIteration:
            self._end(number)
            self._pipe.send(Finished(number, None))
        except Exception as error:  # a user's class may raise anything; the next order goes on
            self._end(number)
            self._pipe.send(Finished(number, error_view(error, line_of(error))))

    def _tell(self, number: int, grown: Grown) -> None:
        """Send new variants; the other side may name them from now on."""
        new = tuple(map(new_variant, grown.variants))
        self._pipe.send(GrownResult(number, new, grown.entry))
        for variant in grown.variants:
            self._know(variant.key, variant)

    def _know(self, key: str, variant: Variant) -> None:
        """Keep a variant that one side has told the other of."""
        self._variants.setdefault(key, variant)
        self._times[key] += 1

    def _forget(self, times: Mapping[str, int]) -> None:
        """Let go of variants, except those that the other side is yet to hear of again."""
        self._times.subtract(times)
        for key in times:
            if self._times[key] <= 0:
                del self._times[key]
                self._variants.pop(key, None)
        gc.unfreeze()

    def _end(self, number: int) -> None:
        self._orders.pop(number, None)
        self._running.pop(number, None)
        self._spent.pop(number, None)


def main() -> None:
    """Work until the other end is gone."""
    Worker(Parent()).run()
