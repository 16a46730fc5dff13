"""The worker process as seen from outside: what becomes of orders that go wrong or are dropped."""

from __future__ import annotations

import gc
import importlib
import queue
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.session.processes import pipe, worker_client
from workbench.session.processes.orders import (
    Finished,
    ForgetVariants,
    Grown,
    GrownResult,
    NewVariant,
    Order,
    ReplayOrder,
    Started,
    TemplateSource,
    VariantRef,
    new_variant,
)
from workbench.session.processes.worker_client import MODULE, WorkerClient
from workbench.session.protocol.state import ErrorView
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant

PATIENCE = 120.0
ROOT = wb.variant(leaky_sum())
AFTER = ROOT.apply(Vectorize("b")).apply(Vectorize("t"))
LATER = """
import threading
from dataclasses import replace
from tests.programs import leaky_sum

def traced():
    return leaky_sum()

def broken():
    program = leaky_sum()
    return replace(program, equations=replace(program.equations, description=threading.Lock()))
"""


class Asked:
    """An order, with what came of it and how it ended."""

    def __init__(self, work: WorkerClient, task: str, *arguments: Any, urgency: str = "") -> None:
        self.came: list[Any] = []
        self._end: queue.Queue[ErrorView | None] = queue.Queue()
        work.order(task, *arguments, came=self.came.append, ended=self._end.put, urgency=urgency)

    def ended(self) -> ErrorView | None:
        return self._end.get(timeout=PATIENCE)


def picture(work: WorkerClient, variant: Variant = ROOT) -> ErrorView | None:
    return Asked(work, "part", variant, "snapshot", {}, urgency="snapshot").ended()


class Process:
    """A worker process that is played by hand."""

    def __init__(self, module: str, heard: Any, ended: Any, behind: bool) -> None:
        self.say, self.sent, self.killed = heard, list[Any](), threading.Event()

    def send(self, message: Any) -> None:
        self.sent.append(message)

    def kill(self) -> None:
        self.killed.set()


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """The processes that are started from now on."""
    processes: list[Process] = []

    def start(*arguments: Any) -> Process:
        processes.append(Process(*arguments))
        return processes[-1]

    monkeypatch.setattr(worker_client, "Child", start)
    return processes


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
    assert asked.came == [Grown((ROOT,))]
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

    def came(grown: Grown) -> None:
        made.extend(map(weakref.ref, grown.variants))
        begun.set()
        go_on.wait(PATIENCE)  # the others come when it is dropped already

    entries = [ReplayOrder(name, "old", Vectorize(name).to_json()) for name in ("b", "t")]
    number = work.order("anew", ROOT, "old", entries, came=came, ended=lambda error: None)
    assert begun.wait(PATIENCE)
    work.drop(number)
    go_on.set()
    assert picture(work) is None  # so that all the others were heard
    gc.collect()
    assert [one() for one in made] == [None]


def test_a_variant_that_the_worker_made_is_known_to_it_by_its_key(
    work: WorkerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    send = pipe.Child.send

    def listened(child: pipe.Child, message: Any) -> None:
        if isinstance(message, NewVariant):
            told.append(message.key)
        send(child, message)

    monkeypatch.setattr(pipe.Child, "send", listened)
    asked = Asked(work, "replay", ROOT, AFTER, False)
    assert asked.ended() is None
    grown, _ = asked.came
    assert [one.key for one in grown.variants] == [one.key for one in AFTER.lineage[1:]]
    assert grown.variants[0].parent is ROOT
    before = list(told)
    assert picture(work, grown.variants[-1]) is None
    assert told == before
    work.forget([AFTER.key])
    assert picture(work, grown.variants[-1]) is None
    assert told == [*before, AFTER.key]


def test_a_variant_that_is_forgotten_while_it_is_made_again_stays_known() -> None:
    """Sends to a worker what a client sends that forgets a variant and only then hears of it."""
    ended = queue.Queue[Finished | str]()
    assert AFTER.step is not None and AFTER.parent is not None
    key, picture = AFTER.key, ("part", (VariantRef(AFTER.key), "snapshot", {}), 0)

    def hear(message: Any) -> None:
        if isinstance(message, GrownResult):
            assert [one.key for one in message.variants] == [key]
            child.send(ForgetVariants({key: 1}))
            child.send(Order(2, *picture))
        elif isinstance(message, Finished):
            ended.put(message)

    child = pipe.Child(MODULE, hear, ended.put)
    try:
        for one in AFTER.lineage:
            child.send(new_variant(one))
        step = AFTER.step.to_json()
        child.send(Order(1, "apply", (VariantRef(AFTER.parent.key), step), 0))
        assert {ended.get(timeout=PATIENCE) for _ in range(2)} == {
            Finished(1, None),
            Finished(2, None),
        }
        child.send(ForgetVariants({key: 1}))
        child.send(Order(3, *picture))
        assert key in str(ended.get(timeout=PATIENCE))  # now it is gone
    finally:
        child.stop()


def nothing(result: object) -> None:
    """A part that nobody waits for."""


def test_what_was_made_for_a_dropped_order_is_forgotten_by_the_worker(
    played: list[Process],
) -> None:
    work = WorkerClient()
    step = Vectorize("b").to_json()
    number = work.order("apply", ROOT, step, came=nothing, ended=nothing)
    work.drop(number)
    played[0].say(GrownResult(number, (new_variant(AFTER.lineage[1]),), ""))
    assert played[0].sent[-1] == ForgetVariants({AFTER.lineage[1].key: 1})


def test_a_worker_that_does_not_let_go_of_a_dropped_order_is_ended(
    work: WorkerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_client, "GRACE", 0.1)
    begun = tmp_path / "begun"

    def endless() -> None:
        begun.touch()
        time.sleep(2 * PATIENCE)

    assert picture(work) is None
    before = work.pid
    source = TemplateSource(endless, {}, {}, {})  # type: ignore[arg-type]
    number = work.order("trace", source, came=nothing, ended=nothing)
    until = time.monotonic() + PATIENCE
    while not begun.exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    asked = Asked(work, "part", AFTER, "snapshot", {}, urgency="snapshot")
    work.drop(number)
    assert asked.ended() is None
    assert work.pid != before


@pytest.mark.parametrize("what", ["busy", "just begun", "done", "elsewhere"])
def test_only_a_worker_that_is_busy_with_what_was_dropped_is_ended(
    played: list[Process], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(worker_client, "GRACE", 0.1)
    work = WorkerClient()
    numbers = [
        work.order("part", ROOT, "code", {}, came=nothing, ended=nothing, urgency="code")
        for _ in range(2)
    ]
    (process,) = played
    if what != "just begun":
        process.say(Started(numbers[1] if what == "elsewhere" else numbers[0]))
    work.drop(numbers[0])
    if what == "just begun":  # it was on its way to say so
        process.say(Started(numbers[0]))
    if what == "done":
        process.say(Finished(numbers[0], None))
    assert process.killed.wait(0.5) == (what in ("busy", "just begun"))
