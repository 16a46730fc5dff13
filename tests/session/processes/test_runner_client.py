"""Running from a workbench: curves while it runs, what is kept when it is stopped or dies, what
cannot be sent to another process.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.programs import leaky_sum
from tests.session.shown import MEASURE, VECTORIZE, Shown
from workbench.errors import RunError
from workbench.session.outputs.page import state_file
from workbench.session.processes.measuring import runner_client
from workbench.session.processes.measuring.runner import RunOrder, ran
from workbench.session.protocol.messages import Done, Failed, Running
from workbench.session.protocol.state import State
from workbench.session.requests.sessions import Sessions
from workbench.session.state.run_progress import run_view
from workbench.session.state.saved_tree import saved_tree

RUN: dict[str, Any] = {
    "type": "run", "backend": "numpy", "sizes": {}, "seed": 3, "dtype": "float32", "here": False,
}  # fmt: skip
LONG = RUN | {"sizes": {"B": 2000, "T": 4000}}


@pytest.fixture
def ignoring_interrupts() -> Iterator[None]:
    """Ignores SIGINT, as a Jupyter kernel does between cells: its processes begin so."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def begun(shown: Shown) -> State:
    """The first state in which some iterations are done."""
    return shown.view.state(lambda s: any(0 < run.completed < run.total for run in s.runs))


def ended(shown: Shown, number: int) -> Done | Failed:
    return shown.view.until(
        lambda m: m if isinstance(m, Done | Failed) and m.id == number else None
    )


def test_a_run_is_in_the_state_and_its_result_in_python(shown: Shown) -> None:
    done = shown.view.ask(**RUN, variant=shown.root)
    assert isinstance(done, Done), done
    started = shown.view.state(lambda s: s.measuring is not None)
    assert started.measuring is not None
    assert (started.measuring.what, started.measuring.variants) == ("run", (shown.root,))
    state = shown.view.newest
    (run,) = state.runs
    assert state.measuring is None
    assert started.measuring.group == run.id
    assert (run.variant, run.backend, run.label) == (shown.root, "numpy", "as written")
    assert (run.completed, run.total, run.sizes) == (3, 3, {"B": 3, "T": 5})
    assert [curve.name for curve in run.curves] == ["s", "last"]
    result = shown.session.result
    assert result is not None
    expected = wb.run(shown.session.tree.shown, "numpy", seed=3, progress=False)
    assert all(np.array_equal(result[name], expected[name]) for name in expected)
    assert len(shown.store.read()) == 0


def test_curves_grow_while_it_runs_and_one_runs_at_a_time(shown: Shown) -> None:
    number = shown.view.say(**LONG, variant=shown.root)
    first = begun(shown)
    (run,) = first.runs
    assert first.measuring is not None
    assert (first.measuring.stage, first.measuring.done) == ("running", run.completed)
    later = shown.view.state(lambda s: any(r.completed > run.completed for r in s.runs))
    grown = later.runs[0].curves[0]
    assert len(grown.values) * grown.every > len(run.curves[0].values) * run.curves[0].every
    for busy in (
        shown.view.ask(**RUN, variant=shown.root),
        shown.view.ask(**MEASURE, variants=[shown.root]),
    ):
        assert isinstance(busy, Failed)
        assert busy.error.sentence == "a run is under way; stop it or wait for its end"
    shown.view.until(lambda m: m if isinstance(m, Running) and m.variant == shown.root else None)
    shown.view.ask(type="cancel")
    ended(shown, number)


def test_a_stopped_run_ends_soon_and_keeps_its_finished_iterations(
    shown: Shown, ignoring_interrupts: None
) -> None:
    number = shown.view.say(**LONG, variant=shown.root)
    begun(shown)
    asked = time.monotonic()
    assert isinstance(shown.view.ask(type="cancel"), Done)
    shown.view.state(lambda s: s.measuring is None and bool(s.runs))
    assert time.monotonic() - asked < runner_client.PATIENCE / 2  # beside other work
    result = shown.session.under_way.last_result()
    assert isinstance(ended(shown, number), Done)
    state = shown.view.newest
    (run,) = state.runs
    assert (state.measuring, state.unrun) == (None, None)
    assert result is not None and result.interrupted
    assert (run.completed, run.total) == (result.completed, 2000)
    assert len(result["s"]) == result.completed > 0
    few = min(result.completed, 3)
    same = wb.run(
        shown.session.tree.shown, "numpy", sizes={"B": few, "T": 4000}, seed=3, progress=False
    )
    assert np.array_equal(result["s"][:few], same["s"])
    assert isinstance(shown.view.ask(**RUN, variant=shown.root), Done)


def test_one_that_does_not_stop_in_time_is_ended_and_its_curves_are_kept(shown: Shown) -> None:
    number = shown.view.say(**LONG, variant=shown.root)
    begun(shown)
    assert shown.session.under_way._client is not None
    os.kill(shown.pid_under_way(), signal.SIGSTOP)
    asked = time.monotonic()
    shown.view.ask(type="cancel")
    shown.view.state(lambda s: s.measuring is None and bool(s.runs))
    assert time.monotonic() - asked < runner_client.PATIENCE / 2
    assert isinstance(shown.view.ask(**RUN | {"seed": 4}, variant=shown.root), Done)
    ended(shown, number)
    state = shown.view.newest
    assert state.measuring is None
    assert state.unrun is None
    run = next(run for run in state.runs if run.seed == 3)
    assert run.failed == runner_client.NOT_IN_TIME
    assert 0 < run.completed < run.total and run.curves
    assert shown.session.result is not None
    assert shown.session.result.seed == 4


def test_a_run_that_is_stopped_before_it_begins_leaves_nothing(shown: Shown) -> None:
    number = shown.view.say(**LONG, variant=shown.root)
    shown.view.ask(type="cancel")
    ended(shown, number)
    state = shown.view.newest
    assert (state.measuring, state.runs, state.unrun) == (None, (), None)


def test_why_there_is_no_run_is_told_until_there_is_one(shown: Shown) -> None:
    failed = shown.view.ask(**RUN | {"sizes": {"Q": 3}}, variant=shown.root)
    assert isinstance(failed, Failed)
    assert "unknown size 'Q'" in failed.error.sentence
    assert isinstance(shown.view.ask(**RUN | {"backend": "gpu"}, variant=shown.root), Done)
    refused = shown.view.newest.unrun
    assert refused is not None and not refused.not_sent
    assert "unknown backend 'gpu'" in refused.error.sentence
    assert isinstance(shown.view.ask(**RUN, variant=shown.root), Done)
    assert shown.view.newest.unrun is None


def test_a_running_process_that_dies_is_reported(shown: Shown) -> None:
    number = shown.view.say(**LONG, variant=shown.root)
    begun(shown)
    assert shown.session.under_way._client is not None
    os.kill(shown.pid_under_way(), signal.SIGKILL)
    ended(shown, number)
    (run,) = shown.view.newest.runs
    assert run.failed.startswith("The process that ran it is gone: it was ended by ")
    assert shown.view.newest.unrun is None


@wb.program
def failing(I: int = 30) -> dict[str, Any]:
    """A matrix that becomes singular at i=20."""
    i = wb.dim(i=I)
    s = wb.recurrent("s", (2, 2), over=i)
    s[0] = np.diag([20.0, 1.0])
    s[i + 1] = s - np.diag([1.0, 0.0])
    x = wb.solve(s, np.ones(2))
    return {"x": x[0], "s": s[..., 0, 0]}


def test_a_run_that_fails_says_why_how_far_it_came_and_with_what(
    sessions: Sessions, tmp_path: Path
) -> None:
    shown = Shown(sessions, tmp_path, failing())
    assert isinstance(shown.view.ask(**RUN, variant=shown.root), Done)
    state = shown.view.newest
    (run,) = state.runs
    assert "singular" in run.failed and "i=20" in run.failed
    assert (run.completed, run.total) == (20, 30)
    assert {len(curve.values) for curve in run.curves} == {20}
    assert (state.result, state.unrun, shown.session.result) == ("", None, None)
    assert saved_tree(state_file(shown.session.capsule())).runs == (run,)  # after a restart too
    shown.view.ask(**RUN | {"sizes": {"I": 9}}, variant=shown.root)
    assert shown.view.newest.result == shown.view.newest.runs[-1].id
    assert shown.session.under_way.last_result() is shown.session.result is not None


def test_a_run_goes_on_as_that_of_the_program_before_where_that_is_changed(shown: Shown) -> None:
    assert isinstance(shown.view.ask(**RUN, variant=shown.root), Done)
    number = shown.view.say(**LONG, variant=shown.root)
    begun(shown)
    shown.session.redefine(wb.variant(leaky_sum(B=4)))
    state = shown.view.state(lambda s: s.root != shown.root and s.measuring is not None)
    (run,) = state.runs
    assert state.measuring is not None and state.measuring.group == run.id
    assert (run.variant, run.label, state.result) == (shown.root, "as written", "")
    grown = shown.view.state(
        lambda s: s.root != shown.root and any(r.completed > run.completed for r in s.runs)
    )
    assert [each.id for each in grown.runs] == [run.id]
    shown.view.ask(type="cancel")
    ended(shown, number)
    state = shown.view.newest
    (kept,) = state.runs
    assert kept.id == run.id and 0 < kept.completed < kept.total and not kept.failed
    assert shown.session.under_way.last_result() is None  # it is of another program
    assert state.result == ""
    assert isinstance(shown.view.ask(**RUN, variant=state.root), Done)
    assert shown.session.under_way.last_result() is shown.session.result is not None
    assert shown.view.newest.result == shown.view.newest.runs[-1].id


def test_runs_go_with_their_variants_and_are_saved_and_loaded(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    for variant in (shown.root, key, shown.root):
        assert isinstance(shown.view.ask(**RUN, variant=variant), Done)
    state = shown.view.newest
    assert [run.variant for run in state.runs] == [key, shown.root]  # the same run counts once
    saved = saved_tree(state_file(shown.session.capsule()))
    assert saved.runs == state.runs
    shown.session.change(lambda values: values.replanted(values.tree))
    assert shown.session.state().runs == ()
    shown.session.load(saved)
    shown.session.load(saved)
    assert shown.session.state().runs == state.runs
    shown.view.ask(type="remove", variant=key)
    assert [run.variant for run in shown.view.newest.runs] == [shown.root]


def test_what_cannot_be_sent_is_asked_about_and_runs_here(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Shown(sessions, tmp_path, leaky_sum())
    variant = shown.session.tree.shown
    object.__setattr__(variant, "lock", threading.Lock())
    assert isinstance(shown.view.ask(**RUN, variant=shown.root), Done)
    refused = shown.view.newest.unrun
    assert refused is not None and refused.not_sent and not refused.too_long
    assert refused.error.sentence.startswith("this cannot be given to another process: ")
    assert shown.view.newest.measuring is None
    assert isinstance(shown.view.ask(**RUN | {"here": True}, variant=shown.root), Done)
    (run,) = shown.view.newest.runs
    assert (run.completed, shown.view.newest.unrun) == (3, None)
    assert shown.session.result is not None

    number = shown.view.say(**LONG | {"here": True}, variant=shown.root)
    shown.view.state(lambda s: any(0 < r.completed < r.total == 2000 for r in s.runs))
    shown.view.ask(type="cancel")
    ended(shown, number)
    assert shown.session.result.interrupted
    assert 0 < len(shown.session.result["s"]) == shown.session.result.completed


def test_a_run_made_in_a_cell_is_described_as_one_made_here(shown: Shown) -> None:
    variant = shown.session.tree.shown.apply(wb.transforms.Vectorize("b"))
    result = wb.run(variant, "numpy", seed=3, progress=False)
    shown.session.take_run(result)
    (run,) = shown.view.newest.runs
    assert variant.key in shown.session.tree.variants
    assert run == run_view(result)
    shown.view.ask(**RUN, variant=variant.key)
    (again,) = shown.view.newest.runs
    assert again.id == run.id


def test_what_runs_out_of_its_range_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RunError("an index is outside its range")

    monkeypatch.setattr("workbench.session.processes.measuring.runner.run", fails)
    made = ran(RunOrder(wb.variant(leaky_sum()), "numpy", {}, 0, "float32", None), print)
    assert made.result is None
    assert made.error is not None
    assert made.error.sentence == "an index is outside its range"
