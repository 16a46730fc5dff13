"""The search for the automatic recipe: told while it lasts, stopped at once, taken whole."""

from __future__ import annotations

import os
import signal
import time

import pytest

import workbench as wb
from tests.programs import leaky_sum
from tests.session.shown import MEASURE, Shown
from workbench.algorithms import ppo
from workbench.session.picture.snapshot import snapshot
from workbench.session.processes.searching import searcher
from workbench.session.processes.searching.searcher import SearchOrder, Telling, searched
from workbench.session.protocol.messages import Done, Failed
from workbench.session.requests.sessions import Sessions

OPTIMIZE = {
    "type": "optimize", "objective": "memory", "capacity": None, "backend": "numpy", "sizes": {},
    "lengths": {}, "dtype": "float32",
}  # fmt: skip
SOON = 0.5
"""The seconds in which a search has to end."""


@pytest.fixture
def large(sessions: Sessions, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """A program whose recipe takes a while to find."""
    return Shown(sessions, tmp_path_factory.mktemp("large"), ppo(hidden=(8,)))


def test_a_search_tells_what_it_tries_and_is_stopped_at_once(large: Shown) -> None:
    view = large.view
    number = view.say(**OPTIMIZE, variant=large.root)
    state = view.state(lambda s: s.measuring is not None and s.measuring.done > 1)
    assert state.measuring is not None
    assert (state.measuring.what, state.measuring.total) == ("search", 0)
    busy = view.ask(**MEASURE, variants=[large.root])
    assert isinstance(busy, Failed)
    assert busy.error.sentence == "a search is under way; stop it or wait for its end"
    assert large.session.under_way._client is not None
    process = large.session.under_way._client._child._process
    started = time.monotonic()
    assert isinstance(view.ask(type="cancel"), Done)
    done = view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    process.wait()
    assert time.monotonic() - started < SOON
    assert isinstance(done, Done) and done.variant is None
    assert view.newest.measuring is None
    assert [one.key for one in view.newest.variants] == [large.root]


def test_a_recipe_comes_whole_under_its_name_with_its_picture(shown: Shown) -> None:
    done = shown.view.ask(**OPTIMIZE, variant=shown.root)
    best = wb.optimize(leaky_sum(), "memory", backend="numpy")
    assert isinstance(done, Done) and done.variant == best.key
    state = shown.view.newest
    assert len(state.variants) == 1 + len(best.steps)
    assert [v.because for v in shown.session.tree.shown.lineage[1:]] == [
        v.because for v in best.lineage[1:]
    ]
    assert [v.name for v in state.variants if v.named] == ["automatic, memory"]
    assert shown.session.kept.picture(best) == snapshot(best.program)


def test_without_a_step_or_a_plan_that_fits_the_reason_is_told() -> None:
    root = wb.variant(leaky_sum())
    best = wb.optimize(root, backend="numpy")

    def error(start: wb.Variant, capacity: int | None) -> str:
        order = SearchOrder(start, "time", capacity, "numpy", {}, "float32")
        found = searched(order, lambda *stage: None)
        assert found.made == () and found.error is not None
        return found.error.sentence

    assert error(best, None) == searcher.NO_STEP
    assert "does not fit into 1 B" in error(root, 1)


def test_a_process_that_dies_is_reported(large: Shown) -> None:
    number = large.view.say(**OPTIMIZE, variant=large.root)
    large.view.state(lambda s: s.measuring is not None)
    assert large.session.under_way._client is not None
    os.kill(large.session.under_way._client._child.pid, signal.SIGKILL)
    failed = large.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(failed, Failed)
    assert failed.error.sentence.startswith("The process that looked for steps is gone: it was en")


def test_progress_counts_every_plan_and_is_told_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[str, int, int]] = []
    times = iter([1.0, 1.01, 1.1, 1.5])
    monkeypatch.setattr(searcher.time, "monotonic", lambda: next(times))
    telling = Telling(lambda *stage: told.append(stage))
    for so_far in ("", "2 s and 8 MB", "1 s and 8 MB", "1 s and 5 MB"):
        telling("Simplify()", so_far)
    assert told == [("Simplify()", 1, 0), ("1 s and 5 MB so far; trying Simplify()", 4, 0)]


def test_the_name_of_a_recipe_tells_its_aim() -> None:
    root = wb.variant(leaky_sum())
    order = SearchOrder(root, "time", 8_000_000, "numpy", {}, "float32")
    assert order.name == "automatic, time within 8 MB"
