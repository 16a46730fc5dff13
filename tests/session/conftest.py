"""Workbenches with their worker process, one for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import leaky_sum
from tests.session.shown import Shown
from workbench.session.sessions import Sessions


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
