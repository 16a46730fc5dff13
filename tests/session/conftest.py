"""Workbenches with their worker processes, the same for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import numpy_by_default
from tests.programs import leaky_sum
from tests.session.shown import Shown
from workbench.session.processes.workers import Workers
from workbench.session.requests.sessions import Sessions


@pytest.fixture(scope="package", autouse=True)
def _views_begin_with_numpy() -> Iterator[None]:
    """Makes NumPy the default backend."""
    with numpy_by_default():
        yield


class Lasting(Workers):
    """Workers that are still there when the workbenches that they worked for are closed."""

    def stop(self) -> None:
        """Let go of what they asked for; the next ones go on with the processes."""
        for number in (*self._waiting, *self._given):
            self.drop(number)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Workers for many notebooks, one after the other."""
    found = Lasting()
    yield found
    Workers.stop(found)


@pytest.fixture
def lasting(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives those workers to all workbenches that are made."""
    monkeypatch.setattr("workbench.session.requests.sessions.Workers", lambda: workers)


@pytest.fixture(scope="module")
def shared() -> Iterator[Sessions]:
    """Workbenches with a worker that many tests use."""
    sessions = Sessions()
    yield sessions
    sessions.close()


@pytest.fixture
def sessions(shared: Sessions) -> Sessions:
    """None shown yet."""
    for session in shared.all():
        shared.forget(session.name)
    for view in shared.untraced:
        shared.mended(view)
    return shared


@pytest.fixture
def shown(sessions: Sessions, tmp_path: Path) -> Iterator[Shown]:
    found = Shown(sessions, tmp_path, leaky_sum())
    yield found
    sessions.disconnect(found.view.hear)
