"""Measuring from a workbench: progress, rows that grow, what is kept when it is stopped or dies."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.measure.rounds.made import measurement
from tests.programs import leaky_sum
from tests.session.shown import MEASURE, VECTORIZE, Shown
from workbench.backends import backends
from workbench.session.protocol.messages import Done, Failed, Running
from workbench.session.protocol.state import State
from workbench.session.requests.sessions import Sessions


def test_measuring_shows_progress_and_appends_to_the_store(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    done = shown.view.ask(**MEASURE, variants=[shown.root, key])
    assert isinstance(done, Done), done
    started = shown.view.state(lambda s: s.measuring is not None)
    assert started.measuring is not None
    assert started.measuring.variants == (shown.root, key)
    state = shown.view.state(lambda s: s.measuring is None and len(s.measurements) == 2)
    first, second = state.measurements
    assert (first.variant, second.variant) == (shown.root, key)
    assert first.group == second.group
    assert (first.outcome, first.recorded, len(first.samples)) == ("passed", "", 5)
    assert second.ratio is not None
    assert [m.key for m in shown.store.read()] == [shown.root, key]


def test_what_is_in_the_store_is_shown_where_it_is_of_the_program(
    sessions: Sessions, tmp_path: Path
) -> None:
    measured = wb.compare([leaky_sum()], repeats=1, progress=False, backend="numpy")
    other = wb.compare([leaky_sum(B=5)], repeats=1, progress=False, backend="numpy")
    store = wb.store(tmp_path / "measured.jsonl")
    store.append(measured)
    store.append(other)
    shown = Shown(sessions, tmp_path, leaky_sum())
    state = shown.view.state(lambda s: any(m.recorded == store.path.name for m in s.measurements))
    (view,) = (m for m in state.measurements if m.recorded == store.path.name)
    assert view.variant == measured[0].measurement.key
    assert view.device == measured[0].measurement.device


def test_what_a_gpu_measured_is_shown_where_there_is_none(
    sessions: Sessions, tmp_path: Path
) -> None:
    """A file that another machine wrote; one of its lines is of another program."""
    root = wb.variant(leaky_sum())
    vectorized = root.apply(wb.transforms.Vectorize("b"))
    on_gpu = {
        "program": "leaky_sum", "backend": "cuda", "device": "NVIDIA H200", "comparison": "there",
        "date": "2026-03-02T10:00:00+00:00", "sizes": {"B": 3, "T": 5},
    }  # fmt: skip
    store = wb.store(tmp_path / "measured.jsonl")
    store.append(
        [
            measurement(0.4, 0.4, key=root.key, planned=5, **on_gpu),
            replace(
                measurement(0.1, 0.1, key=vectorized.key, planned=5, **on_gpu),
                steps=tuple(vectorized.to_json()),
            ),
            measurement(0.3, **on_gpu | {"program": "another"}),
        ]
    )
    shown = Shown(sessions, tmp_path, leaky_sum())
    state = shown.view.state(lambda s: len(s.measurements) > 0)
    assert {m.recorded for m in state.measurements} == {store.path.name}
    assert [(m.device, m.date, m.backend, m.variant) for m in state.measurements] == [
        ("NVIDIA H200", "2026-03-02T10:00:00+00:00", "cuda", key)
        for key in (root.key, vectorized.key)
    ]
    assert state.measurements[1].difference == "÷ 4"
    assert state.measurements[1].last_steps is not None
    (cuda,) = (b for b in state.backends if b.name == "cuda")
    failed = shown.view.ask(**MEASURE | {"backend": "cuda"}, variants=[shown.root])
    assert isinstance(failed, Failed)
    assert cuda.reason
    assert cuda.reason in failed.error.sentence


ENDLESS = MEASURE | {"repeats": 10_000_000, "force": True}


def rounds(shown: Shown, least: int = 1) -> State:
    """The first state of it in which so many rounds of what is measured are finished."""
    return shown.view.state(
        lambda s: s.measuring is not None and any(len(m.samples) >= least for m in s.measurements)
    )


def test_rows_grow_while_variants_are_measured(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    shown.view.say(**ENDLESS, variants=[shown.root, key])
    first = rounds(shown)
    assert first.measuring is not None
    assert {m.group for m in first.measurements} == {first.measuring.group}
    assert [m.variant for m in first.measurements] == [shown.root, key]
    (taken,) = {len(m.samples) for m in first.measurements}
    later = rounds(shown, taken + 1)
    for before, after in zip(first.measurements, later.measurements, strict=True):
        assert (after.id, after.planned) == (before.id, 10_000_000)
        assert after.samples[:taken] == before.samples
        assert after.curves == before.curves
    shown.view.ask(type="cancel")
    shown.view.state(lambda s: s.measuring is None and s.revision > later.revision)


def test_a_stopped_measurement_keeps_its_finished_rounds_and_the_next_one_runs(
    shown: Shown,
) -> None:
    number = shown.view.say(**ENDLESS, variants=[shown.root])
    rounds(shown)
    shown.view.until(lambda m: m if isinstance(m, Running) and not m.over else None)
    busy = shown.view.ask(**MEASURE, variants=[shown.root])
    assert isinstance(busy, Failed)
    assert "a measurement is under way" in busy.error.sentence
    assert isinstance(shown.view.ask(type="cancel"), Done)
    stopped = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(stopped, Done)
    state = shown.view.newest
    assert state.measuring is None
    (kept,) = state.measurements
    (written,) = shown.store.read()
    assert kept.samples == written.samples
    assert written.unfinished == f"{len(written.samples)} of 10000000 rounds"
    assert written.timeline
    *_, last = (m for m in shown.view.heard if isinstance(m, Running))
    assert last.over
    assert isinstance(shown.view.ask(**MEASURE, variants=[shown.root]), Done)
    assert [m.unfinished for m in shown.store.read()] == [written.unfinished, ""]


def test_a_measurement_that_is_stopped_at_once_keeps_nothing(shown: Shown) -> None:
    number = shown.view.say(**ENDLESS, variants=[shown.root])
    assert isinstance(shown.view.ask(type="cancel"), Done)
    stopped = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(stopped, Done)  # who stops it knows, and it is no failure
    assert (shown.view.newest.measuring, shown.view.newest.measurements) == (None, ())
    assert len(shown.store.read()) == 0


@pytest.mark.parametrize("ends", ["cancelled", "dies"])
def test_the_check_is_told_before_the_first_round_and_goes_where_none_follows(
    shown: Shown, ends: str
) -> None:
    long = ENDLESS | {"sizes": {"B": 2, "T": 2500}}
    number = shown.view.say(**long, variants=[shown.root])
    state = shown.view.state(lambda s: s.measuring is not None and len(s.measurements) > 0)
    (checked,) = state.measurements
    assert (checked.outcome, checked.samples, checked.median) == ("passed", (), None)
    if ends == "dies":
        os.kill(shown.pid_under_way(), signal.SIGKILL)
    else:
        assert isinstance(shown.view.ask(type="cancel"), Done)
    stopped = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(stopped, Failed if ends == "dies" else Done)
    assert (shown.view.newest.measuring, shown.view.newest.measurements) == (None, ())
    assert len(shown.store.read()) == 0


def test_a_measuring_process_that_dies_leaves_what_it_told(shown: Shown) -> None:
    key = shown.apply(shown.root, VECTORIZE)
    number = shown.view.say(**ENDLESS, variants=[shown.root, key])
    rounds(shown)
    os.kill(shown.pid_under_way(), signal.SIGKILL)
    died = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(died, Failed)
    assert died.error.sentence == (
        "The process that measured is gone: it was ended by SIGKILL, as the system does when "
        "memory runs out."
    )
    state = shown.view.newest
    assert state.measuring is None
    assert [m.samples for m in shown.store.read()] == [m.samples for m in state.measurements]
    assert [m.variant for m in state.measurements] == [shown.root, key]
    assert all(0 < len(m.samples) < m.planned for m in state.measurements)


def test_a_process_that_does_not_answer_is_ended_and_what_it_told_is_kept(shown: Shown) -> None:
    number = shown.view.say(**ENDLESS, variants=[shown.root])
    rounds(shown)
    pid = shown.pid_under_way()
    os.kill(pid, signal.SIGSTOP)
    shown.view.ask(type="cancel")
    shown.view.ask(type="cancel")  # by somebody impatient
    stopped = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(stopped, Done)
    (kept,) = shown.view.newest.measurements
    (written,) = shown.store.read()
    assert kept.samples == written.samples
    assert 0 < len(written.samples) < written.planned


def test_what_cannot_be_written_down_is_said_and_shown_all_the_same(
    sessions: Sessions, tmp_path: Path
) -> None:
    (tmp_path / "measured.jsonl").mkdir()
    shown = Shown(sessions, tmp_path, leaky_sum())
    failed = shown.view.ask(**MEASURE, variants=[shown.root])
    assert isinstance(failed, Failed)
    assert "measured.jsonl cannot be written" in failed.error.sentence
    (kept,) = shown.view.newest.measurements
    assert len(kept.samples) == 5


def test_lists_wait_while_a_measurement_runs_but_clicks_do_not(shown: Shown) -> None:
    shown.view.say(**ENDLESS, variants=[shown.root])
    shown.view.state(lambda s: s.measuring is not None)
    given = {"sizes": {"T": 9}, "backend": "numpy", "dtype": "float32"}
    # Not all moves: those of the shown variant are begun before anybody asks for them.
    about = {"statements": ["x"]}
    moves = shown.view.say(type="want", part="moves", variant=shown.root, arguments=about)
    shown.apply(shown.root, VECTORIZE)
    assert shown.view.want("cost", shown.root, **given)["seconds"] > 0
    assert [m for m in shown.view.heard if getattr(m, "id", 0) == moves] == []
    shown.view.ask(type="cancel")
    shown.view.until(
        lambda m: m if getattr(m, "id", 0) == moves and getattr(m, "done", False) else None
    )


def test_a_measurement_on_a_missing_backend_says_why(shown: Shown) -> None:
    missing = next(name for name, reason in backends().items() if reason is not None)
    failed = shown.view.ask(**MEASURE | {"backend": missing}, variants=[shown.root])
    assert isinstance(failed, Failed)
    assert missing in failed.error.sentence
    assert shown.view.newest.measuring is None
