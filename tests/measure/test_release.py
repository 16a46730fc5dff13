"""The workbench's version is that of the distribution `rl-workbench`, whatever else is there."""

import importlib
import json
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from workbench.measure.rounds.process import DISTRIBUTION, release


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed distributions, before all others."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def install(folder: Path, name: str, version: str) -> None:
    """What pip writes down of a distribution."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    text = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")
    importlib.invalidate_caches()


def test_release_is_our_distributions_and_not_that_of_another_called_workbench(
    installed: Path,
) -> None:
    before = release()
    install(installed, "workbench", "77.1")
    assert release() == before
    install(installed, "rl-workbench", "88.2")
    assert release() == "88.2"


def test_release_is_not_known_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    assert release() is None


def test_all_files_name_the_same_distribution(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION == "rl-workbench"
    extras = project["optional-dependencies"]
    named = [Requirement(text) for texts in extras.values() for text in texts]
    assert {each.name for each in named if each.extras & extras.keys()} == {DISTRIBUTION}
    note = repository / "workbench" / "session" / "static" / "install.json"
    assert json.loads(note.read_text(encoding="utf-8"))["packageName"] == DISTRIBUTION
