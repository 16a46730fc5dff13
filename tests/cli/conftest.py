"""The command in this process, and a user's file."""

from pathlib import Path

import pytest

from tests.cli.calling import USERS_FILE, Call, Done
from workbench.cli import main


@pytest.fixture
def workbench(capsys: pytest.CaptureFixture[str]) -> Call:
    """The command in this process."""

    def call(*words: str | Path) -> Done:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture
def users_file(tmp_path: Path) -> Path:
    """A user's file with one template."""
    path = tmp_path / "mine.py"
    path.write_text(USERS_FILE, encoding="utf-8")
    return path
