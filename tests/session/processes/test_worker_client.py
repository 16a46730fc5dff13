"""The worker process as seen from outside: what becomes of orders that go wrong or are dropped."""

from __future__ import annotations

import gc
import importlib
import queue
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.session.processes.orders import NewVariant, TemplateSource
from workbench.session.processes.worker_client import WorkerClient
from workbench.session.protocol.state import ErrorView
from workbench.variants.variant import Variant

PATIENCE = 120.0
ROOT = wb.variant(leaky_sum())
LATER = """
import threading
from dataclasses import replace
from tests.programs import leaky_sum

def traced():
    return leaky_sum()

def broken():
    return replace(leaky_sum(), description=threading.Lock())
"""


class Asked:
    """An order, with what came of it and how it ended."""

    def __init__(self, work: WorkerClient, task: str, *arguments: Any, urgency: str = "") -> None:
        self.came: list[Any] = []
        self._end: queue.Queue[ErrorView | None] = queue.Queue()
        work.order(task, *arguments, came=self.came.append, ended=self._end.put, urgency=urgency)

    def ended(self) -> ErrorView | None:
        return self._end.get(timeout=PATIENCE)


def picture(work: WorkerClient) -> ErrorView | None:
    return Asked(work, "part", ROOT, "snapshot", {}, urgency="snapshot").ended()


@pytest.fixture
def work() -> Iterator[WorkerClient]:
    found = WorkerClient()
    yield found
    found.stop()


@pytest.fixture
def module(work: WorkerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that is found only since the worker runs."""
    assert picture(work) is None
    (tmp_path / "defined_later.py").write_text(LATER)
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("defined_later")


def test_what_is_in_a_module_that_the_worker_cannot_find_is_asked_of_a_new_one(
    work: WorkerClient, module: Any
) -> None:
    before = work.pid
    asked = Asked(work, "trace", TemplateSource(module.traced, {}, {}, {}))
    assert asked.ended() is None
    ((made, variant),) = asked.came
    assert isinstance(made, NewVariant)
    assert variant == ROOT
    assert work.pid != before


def test_a_result_that_cannot_be_given_on_is_an_error_of_its_order(
    work: WorkerClient, module: Any
) -> None:
    assert Asked(work, "trace", TemplateSource(module.traced, {}, {}, {})).ended() is None
    before = work.pid
    error = Asked(work, "trace", TemplateSource(module.broken, {}, {}, {})).ended()
    assert error is not None
    assert "cannot be given to another process: cannot pickle" in error.sentence
    assert work.pid == before


def test_what_a_dropped_order_made_is_let_go(work: WorkerClient) -> None:
    begun, go_on = threading.Event(), threading.Event()
    made: list[weakref.ref[Variant]] = []

    def came(pair: tuple[NewVariant, Variant]) -> None:
        made.append(weakref.ref(pair[1]))
        begun.set()
        go_on.wait(PATIENCE)  # the others come when it is dropped already

    arguments = (ROOT, ROOT.key, "time", None, {})
    number = work.order("automatic", *arguments, came=came, ended=lambda error: None)
    assert begun.wait(PATIENCE)
    work.drop(number)
    go_on.set()
    assert picture(work) is None  # so that all the others were heard
    gc.collect()
    assert [one() for one in made] == [None]
