"""Worker processes behind one door.

Work for a click goes to the first process at once, which interrupts its lists for it. Lists, and
what is prepared before anybody asks, wait here: a process that has done what it was given gets the
most urgent, and of equal urgency rather what no other process remembers more of. All but the first
are behind the machine's other processes: a browser that draws would wait for their lists.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from workbench.processor import usable_cores
from workbench.session.processes.worker_client import LATER, URGENCY, WorkerClient
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant

MOST = 2
"""The most processes: each takes 150 MB with a program like PPO."""


Sort = tuple[str, str]


@dataclass(frozen=True)
class _Waiting:
    """An order that waits for a process. `sort` is a variant's key and what is done with it."""

    number: int
    sort: Sort
    urgency: str
    give: Callable[[WorkerClient, str], int]


class Workers:
    """Clients of as many worker processes as there are cores, and no more than `MOST`."""

    def __init__(self, count: int | None = None) -> None:
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        count = min(MOST, usable_cores()) if count is None else count
        self._clients = [WorkerClient(behind=place > 0) for place in range(count)]
        self._waiting: dict[int, _Waiting] = {}
        self._given: dict[int, tuple[WorkerClient, int]] = {}
        self._busy: dict[int, int] = {}  # the order that a process was given out of those that wait
        self._sorts: list[set[Sort]] = [set() for _ in self._clients]

    @property
    def pid(self) -> int | None:
        """The number of the first process, None where there is none."""
        return self._clients[0].pid

    def warm(self) -> None:
        """Start the processes, so that the first orders need not wait for them."""
        for client in self._clients:
            client.warm()

    def order(
        self,
        task: str,
        *arguments: Any,
        came: Callable[[Any], None],
        ended: Callable[[ErrorView | None], None],
        urgency: str = "",
        sort: str = "",
    ) -> int:
        """Order work and return its number, as `WorkerClient.order`. `sort` is a word for what a
        process remembers of such work on the variant among the arguments.
        """
        number, wanted = next(self._numbers), urgency or task

        def give(client: WorkerClient, urgency: str) -> int:
            return client.order(task, *arguments, came=came, ended=finished, urgency=urgency)

        def finished(error: ErrorView | None) -> None:
            self._let_go(number)
            ended(error)

        with self._lock:
            if URGENCY[wanted] < LATER:
                first = self._clients[0]
                self._given[number] = first, give(first, wanted)
            else:
                variants = [one for one in arguments if isinstance(one, Variant)]
                for variant in variants:
                    self._clients[0].tell(variant)  # what cannot be sent is refused here and now
                key = variants[0].key if variants else ""
                self._waiting[number] = _Waiting(number, (key, sort), wanted, give)
                self._give_out()
        return number

    def drop(self, number: int) -> None:
        """Withdraw an order; nothing more of it is heard."""
        with self._lock:
            self._waiting.pop(number, None)
            given = self._given.get(number)
            if given is not None:
                client, inner = given
                client.drop(inner)
                self._let_go(number)

    def forget(self, keys: Iterable[str]) -> None:
        """Forget variants that nobody will ask about; if somebody does, they travel again."""
        gone = set(keys)
        with self._lock:
            for client, sorts in zip(self._clients, self._sorts, strict=True):
                client.forget(gone)
                sorts.difference_update([sort for sort in sorts if sort[0] in gone])

    def hasten(self, number: int, urgency: str) -> None:
        """Make an order at least as urgent as that."""
        with self._lock:
            given, one = self._given.get(number), self._waiting.get(number)
            if given is not None:
                client, inner = given
                client.hasten(inner, urgency)
            elif one is not None and URGENCY[urgency] < LATER:
                first = self._clients[0]
                self._given[number] = first, self._waiting.pop(number).give(first, urgency)
            elif one is not None and URGENCY[urgency] < URGENCY[one.urgency]:
                self._waiting[number] = replace(one, urgency=urgency)

    def rest(self, resting: bool) -> None:
        """Let lists rest, or no longer. Every call with True needs one with False."""
        for client in self._clients:
            client.rest(resting)

    def stop(self) -> None:
        """End the processes and forget all orders."""
        with self._lock:
            for orders in (self._waiting, self._given, self._busy):
                orders.clear()
            for client in self._clients:
                client.stop()

    def _give_out(self) -> None:
        """Give waiting orders to processes that have none; the first has other work too, so it is
        the last to be given any.
        """
        for place in reversed(range(len(self._clients))):
            if place in self._busy or not self._waiting:
                continue
            one = min(self._waiting.values(), key=lambda one: self._rank(place, one))
            del self._waiting[one.number]
            client = self._clients[place]
            self._busy[place] = one.number
            self._sorts[place].add(one.sort)
            self._given[one.number] = client, one.give(client, one.urgency)

    def _rank(self, place: int, one: _Waiting) -> tuple[int, bool, int]:
        """Rank a waiting order for a process; the least comes first, of equals the newest."""
        elsewhere = one.sort not in self._sorts[place] and any(
            one.sort in sorts for sorts in self._sorts
        )
        return URGENCY[one.urgency], elsewhere, -one.number

    def _let_go(self, number: int) -> None:
        """Forget an order that has ended, and give its process another."""
        with self._lock:
            self._given.pop(number, None)
            for place, busy in list(self._busy.items()):
                if busy == number:
                    del self._busy[place]
            self._give_out()
