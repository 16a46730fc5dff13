"""Folders of a user: by the platform's custom, or as the environment says."""

from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.folders import CACHE_VARIABLE, cache_directory, users_folder

VARIABLES = (CACHE_VARIABLE, "XDG_CACHE_HOME", "XDG_DATA_HOME")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names none of the folders, on Linux."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return monkeypatch


def test_folders_are_in_the_home_unless_named(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("HOME", str(tmp_path))
    assert cache_directory() == tmp_path / ".cache" / "workbench"
    assert users_folder() == tmp_path / ".local" / "share" / "workbench"
    for name in VARIABLES:
        bare.setenv(name, str(tmp_path / name))
    assert cache_directory() == tmp_path / CACHE_VARIABLE
    assert users_folder() == tmp_path / "XDG_DATA_HOME" / "workbench"


def test_user_without_a_home_is_told_what_to_name(bare: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    bare.setattr(Path, "home", unknown)
    for folder in (cache_directory, users_folder):
        with pytest.raises(WorkbenchError, match="no home directory; name one in HOME, or"):
            folder()
    bare.setenv(CACHE_VARIABLE, "/caches")
    assert cache_directory() == Path("/caches")
    bare.setenv("XDG_DATA_HOME", "/data")
    assert users_folder() == Path("/data/workbench")
