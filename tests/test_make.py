"""What `make` says on a machine that lacks something. PATH has a shell only, so nothing happens."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MAKE = shutil.which("make")
pytestmark = pytest.mark.skipif(MAKE is None, reason="no make")


@pytest.fixture
def bare(tmp_path: Path, repository: Path) -> Path:
    """A folder with the Makefile and a `bin` that has a shell, but no Python, dot or Chromium."""
    shutil.copy(repository / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "bin").mkdir()
    for name in ("sh", "id", "echo", "rm"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / "bin" / name).symlink_to(program)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert MAKE is not None
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))
    }
    kept.pop("PYTHON", None)
    kept.pop("CHROMIUM", None)
    return subprocess.run(
        [MAKE, "-C", str(folder), *arguments],
        env={**kept, "PATH": str(folder / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )


def add_program(folder: Path, name: str, script: str) -> None:
    path = folder / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_lab_refused_when_no_python_works(bare: Path) -> None:
    add_program(bare, "python3.13", "exit 127")  # the shim of a version manager
    add_program(bare, "python3", "exit 1")  # too old
    done = make(bare, "lab")
    assert done.returncode != 0
    assert "No Python 3.11 or newer works here" in done.stderr


def test_lab_refused_when_the_named_python_fails(bare: Path) -> None:
    add_program(bare, "python3.11", "exit 0")
    assert "No Python 3.11 or newer works here" in make(bare, "lab", "PYTHON=python9").stderr


def test_lab_refused_when_python_lacks_venv(bare: Path) -> None:
    script = 'case "$2" in *ensurepip*) exit 1;; *print*) echo python3.12-venv;; esac'
    add_program(bare, "python3.12", script)
    done = make(bare, "lab")
    assert done.returncode != 0
    assert "python3.12 has no venv module" in done.stderr
    assert "python3.12-venv" in done.stderr


@pytest.mark.parametrize(("target", "package"), [("dot", "graphviz"), ("chromium", "chromium")])
def test_missing_program_is_named_and_make_goes_on(bare: Path, target: str, package: str) -> None:
    done = make(bare, target)
    assert done.returncode == 0
    assert f"(package {package})" in done.stdout


def test_present_program_is_not_mentioned(bare: Path) -> None:
    add_program(bare, "dot", "exit 0")
    assert "Graphviz" not in make(bare, "dot").stdout


def test_what_each_part_of_the_tests_took_is_said_at_the_end(bare: Path) -> None:
    for name in ("awk", "date", "grep", "tr"):
        program = shutil.which(name)
        assert program is not None
        (bare / "bin" / name).symlink_to(program)
    (bare / "tests").mkdir()
    folder = bare / ".venv" / "bin"
    folder.mkdir(parents=True)
    busy = "n=0; while [ $n -lt 300000 ]; do n=$((n + 1)); done"
    for name, script in {"python": ":", "ruff": ":", "mypy": busy}.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    for stamp in ("dev", "lab"):
        (bare / ".venv" / f".installed-{stamp}").touch()
    done = make(bare, "test")
    assert done.returncode == 0, done.stderr
    said = re.findall(r"^(\S+) +(\d+) s of CPU in +\d+ s$", done.stdout, re.MULTILINE)
    parts = ["installed-dev", "lint", "unit", "property", "notebooks", "browser", "together"]
    assert [name for name, _ in said] == parts
    *each, together = (int(seconds) for _, seconds in said)
    assert sum(each) == together


def test_the_first_part_that_fails_is_the_last(bare: Path) -> None:
    folder = bare / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "ruff").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    for name in ("python", "ruff"):
        (folder / name).touch()
        (folder / name).chmod(0o755)
    for program in ("date",):
        (bare / "bin" / program).symlink_to(str(shutil.which(program)))
    for stamp in ("dev", "lab"):
        (bare / ".venv" / f".installed-{stamp}").touch()
    done = make(bare, "test")
    assert done.returncode != 0
    assert "together" not in done.stdout
