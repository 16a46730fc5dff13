"""`workbench lab`."""

import sys
from pathlib import Path

import pytest

from tests.cli.calling import Call
from workbench.cli.commands import lab


def test_lab_opens_the_notebooks(
    workbench: Call, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(lab.os, "execv", lambda path, words: calls.append(words))
    workbench("lab", "--no-browser")
    assert calls[0][:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--notebook-dir={repository / 'notebooks'}" in calls[0]
    assert calls[0][-1] == "--no-browser"


def test_lab_without_jupyterlab_says_what_to_install(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    done = workbench("lab")
    assert done.code == 1
    assert "pip install jupyterlab" in done.err
