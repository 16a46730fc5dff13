"""Orders that several worker processes share, with processes that are played by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.programs import leaky_sum
from workbench.session.processes import workers
from workbench.session.processes.pipe import NotSentError
from workbench.session.processes.worker_client import WorkerClient
from workbench.session.processes.workers import Workers
from workbench.session.protocol.failures import sentence
from workbench.session.protocol.state import ErrorView
from workbench.transforms import Vectorize
from workbench.variants.variant import Variant

ROOT = wb.variant(leaky_sum())
NEXT = ROOT.apply(Vectorize("b"))


class Played(WorkerClient):
    """A client whose process does nothing until it is told to."""

    def __init__(self, behind: bool = False) -> None:
        super().__init__(behind)
        self.open: dict[int, tuple[Any, Callable[[ErrorView | None], None]]] = {}
        self.urgencies: dict[Any, str] = {}
        self.known: list[str] = []
        self.unsendable = False

    def order(self, task: str, *arguments: Any, came: Any, ended: Any, urgency: str = "") -> int:
        number = 100 * (len(self.urgencies) + 1)
        self.open[number] = arguments[-1], ended
        self.urgencies[arguments[-1]] = urgency
        return number

    def tell(self, variant: Variant) -> None:
        if self.unsendable:
            raise NotSentError("it has a lock")
        self.known.append(variant.key)

    def drop(self, number: int) -> None:
        self.open.pop(number, None)

    def forget(self, keys: Any) -> None:
        self.known = [key for key in self.known if key not in keys]

    def hasten(self, number: int, urgency: str) -> None:
        self.urgencies[self.open[number][0]] = urgency

    def stop(self) -> None:
        self.open.clear()

    def works_on(self) -> list[Any]:
        return [what for what, _ in self.open.values()]

    def end(self, error: ErrorView | None = None) -> None:
        """Ends the oldest of its orders."""
        _, ended = self.open.pop(min(self.open))
        ended(error)


Team = tuple[Workers, Played, Played]


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> Team:
    """Two processes."""
    monkeypatch.setattr(workers, "WorkerClient", Played)
    found = Workers(2)
    first, second = found._clients
    assert isinstance(first, Played) and isinstance(second, Played)
    return found, first, second


def ask(
    work: Workers, what: str, sort: str = "", variant: Variant = ROOT, urgency: str = "price"
) -> int:
    return work.order(
        "part", variant, what, came=print, ended=print, urgency=urgency, sort=sort or what
    )


def test_what_somebody_waits_for_is_for_the_first_process_at_once(team: Team) -> None:
    work, first, second = team
    for name in "abc":
        ask(work, name, urgency="code")
    assert first.works_on() == ["a", "b", "c"] and second.works_on() == []


def test_of_what_can_wait_a_process_has_one_order_and_then_the_most_urgent_newest(
    team: Team,
) -> None:
    work, first, second = team
    for name, urgency in [("a", "price"), ("b", "price"), ("c", "price"), ("d", "moves")]:
        ask(work, name, urgency=urgency)
    ask(work, "e")
    assert (first.works_on(), second.works_on()) == (["b"], ["a"])
    for expected in ("d", "e", "c"):
        second.end()
        assert second.works_on() == [expected]
    second.end()
    assert (first.works_on(), second.works_on()) == (["b"], [])


def test_a_process_goes_on_with_what_it_knows(team: Team) -> None:
    work, first, second = team
    for name, kind in [("a", "Tile"), ("b", "Fuse"), ("c", "Tile"), ("d", "Fuse"), ("e", "Fuse")]:
        ask(work, name, kind)
    ask(work, "f", "Tile", variant=NEXT)  # of another variant nobody knows anything
    first.end()
    assert (first.works_on(), second.works_on()) == (["f"], ["a"])
    second.end()
    assert second.works_on() == ["c"]
    second.end()
    assert second.works_on() == ["e"]  # rather the other's than nothing
    work.forget([ROOT.key])
    ask(work, "g", "Tile")
    first.end()
    assert first.works_on() == ["g"]  # nobody remembers it now: the newest


def test_what_waits_can_be_hastened_and_dropped(team: Team) -> None:
    work, first, second = team
    ask(work, "a")
    ask(work, "b")
    waits, gone = ask(work, "c", urgency="prepare"), ask(work, "d")
    ask(work, "e")
    work.hasten(waits, "moves")
    work.hasten(waits, "price")  # never less urgent
    work.drop(gone)
    second.end()
    assert second.works_on() == ["c"] and second.urgencies["c"] == "moves"
    work.drop(waits)
    assert second.works_on() == ["e"]
    second.end()
    assert (first.works_on(), second.works_on()) == (["b"], [])


def test_what_is_wanted_after_all_goes_to_the_first_process_at_once(team: Team) -> None:
    work, first, second = team
    ask(work, "a")
    ask(work, "b")
    wanted = ask(work, "c", urgency="prepare")
    assert first.works_on() == ["b"]
    work.hasten(wanted, "code")
    assert first.works_on() == ["b", "c"] and first.urgencies["c"] == "code"
    second.end()
    assert second.works_on() == []


def test_what_is_being_worked_on_is_hastened_there(team: Team) -> None:
    work, _, second = team
    work.hasten(ask(work, "a", urgency="prepare"), "moves")
    assert second.urgencies["a"] == "moves"


def test_an_end_is_told_once_with_its_error(team: Team) -> None:
    work, _, second = team
    heard: list[ErrorView | None] = []
    failed = sentence("it is gone")
    work.order("part", ROOT, "a", came=print, ended=heard.append, urgency="price")
    ask(work, "b")
    ask(work, "c")
    second.end(failed)
    assert heard == [failed] and second.works_on() == ["c"]


def test_a_variant_that_cannot_be_sent_is_refused_at_once(team: Team) -> None:
    work, first, second = team
    first.unsendable = True
    with pytest.raises(NotSentError, match="a lock"):
        ask(work, "a")
    first.unsendable = False
    assert ask(work, "b") and second.works_on() == ["b"]


def test_nothing_is_given_out_after_the_end(team: Team) -> None:
    work, first, second = team
    for name in "abcd":
        ask(work, name)
    work.stop()
    assert first.works_on() == second.works_on() == []
    ask(work, "e")
    assert second.works_on() == ["e"]


def test_one_core_has_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 1)
    assert len(Workers()._clients) == 1
    monkeypatch.setattr(workers, "usable_cores", lambda: 64)
    assert len(Workers()._clients) == workers.MOST


def test_all_but_the_process_for_clicks_are_behind_the_browser(team: Team) -> None:
    _, first, second = team
    assert (first._behind, second._behind) == (False, True)
