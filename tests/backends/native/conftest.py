"""Compilers for tests, that of this machine or a script that passes for one; folders."""

import os
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.backends.native.building.pretending import ANSWERS, FakeCompiler, script
from workbench.backends.compiling import cache
from workbench.backends.native.building.compilers import Compiler, find
from workbench.errors import UnavailableError


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, empty at the beginning; the cache is in the test's home."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("CC", raising=False)
    cache.temporary_folder.cache_clear()
    yield folder
    cache.temporary_folder.cache_clear()


@pytest.fixture
def compiler() -> Compiler:
    """The C compiler of this machine. Without one the test is skipped; in CI it fails."""
    try:
        return find(level=1)
    except UnavailableError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(error.message, pytrace=False)
        pytest.skip(error.message)


@pytest.fixture
def zig(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    """The compiler of the package ziglang, where it is installed: it is a dependency of nothing."""
    if find_spec("ziglang") is None:
        pytest.skip("the package ziglang is not installed")
    monkeypatch.setenv("PATH", "")
    return find()


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCompiler:
    """Make a script the compiler: it answers like gcc, and compiles as the text says."""

    def made(text: str) -> Compiler:
        monkeypatch.setenv("CC", str(script(tmp_path / "pretended", ANSWERS + text)))
        return find()

    return made
