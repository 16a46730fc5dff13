"""Calibrating from a workbench: predictions are others then, whoever shows them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.session.listening import Listener
from tests.session.shown import MEASURE, Shown
from workbench.backends import backends
from workbench.planning.machine.calibrated import file_of, machine
from workbench.session.protocol.messages import Done, Failed, PredictedAnew

CALIBRATE: dict[str, Any] = {"type": "calibrate", "backend": "numpy"}
RUN: dict[str, Any] = {"sizes": {}, "backend": "numpy", "dtype": "float32"}


@pytest.fixture(scope="module", autouse=True)
def _own_constants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps what these tests measure apart from what others predict with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_CACHE", str(tmp_path_factory.mktemp("constants")))
        yield


@pytest.fixture(autouse=True)
def _none_yet() -> None:
    """Forgets what the test before measured."""
    file_of("numpy").unlink(missing_ok=True)


def test_a_calibration_that_is_stopped_leaves_nothing_and_one_thing_runs_at_a_time(
    shown: Shown,
) -> None:
    number = shown.view.say(**CALIBRATE)
    state = shown.view.state(lambda s: s.measuring is not None)
    assert state.measuring is not None and state.measuring.what == "calibration"
    busy = shown.view.ask(**MEASURE, variants=[shown.root])
    assert isinstance(busy, Failed)
    assert busy.error.sentence == "a calibration is under way; stop it or wait for its end"
    assert isinstance(shown.view.ask(type="cancel"), Done)
    shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert shown.view.newest.measuring is None
    assert not any(isinstance(message, PredictedAnew) for message in shown.view.heard)
    assert not machine("numpy").calibrated


def test_a_process_that_dies_is_reported(shown: Shown) -> None:
    number = shown.view.say(**CALIBRATE)
    shown.view.state(lambda s: s.measuring is not None)
    assert shown.session.under_way._client is not None
    os.kill(shown.session.under_way._client._child.pid, signal.SIGKILL)
    failed = shown.view.until(lambda m: m if getattr(m, "id", 0) == number else None)
    assert isinstance(failed, Failed)
    assert failed.error.sentence.startswith("The process that calibrated is gone: it was ended by ")


def test_a_missing_backend_is_told(shown: Shown) -> None:
    missing = next(name for name, reason in backends().items() if reason is not None)
    failed = shown.view.ask(type="calibrate", backend=missing)
    assert isinstance(failed, Failed)
    assert str(backends()[missing]) in failed.error.sentence


def test_a_calibration_changes_predictions_for_every_view(shown: Shown) -> None:
    other = Listener(shown.view.sessions, shown.view.workbench)
    before = shown.view.want("cost", shown.root, **RUN)
    assert before["note"].startswith("uncalibrated")
    assert isinstance(shown.view.ask(**CALIBRATE), Done)
    told = [m for view in (shown.view, other) for m in view.heard if isinstance(m, PredictedAnew)]
    assert len(told) == 2 and "cost" in told[0].parts
    after = shown.view.want("cost", shown.root, **RUN)
    assert after["note"] == "" and after["seconds"] != before["seconds"]
    kept = [p for p in shown.session.capsule().parts if p.part == "cost" and p.arguments == RUN]
    assert [part.value["note"] for part in kept] == [""]
