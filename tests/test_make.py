"""What `make` says on a machine that lacks something. PATH has a shell only, so nothing happens."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

MAKE = shutil.which("make")
REPOSITORY = Path(__file__).parents[1]
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


@pytest.mark.parametrize(
    ("target", "package"), [("dot", "graphviz"), ("chromium", "chromium"), ("compiler", "gcc")]
)
def test_missing_program_is_named_and_make_goes_on(bare: Path, target: str, package: str) -> None:
    done = make(bare, target)
    assert done.returncode == 0
    assert f"(package {package})" in done.stdout


def test_present_program_is_not_mentioned(bare: Path) -> None:
    add_program(bare, "dot", "exit 0")
    assert "Graphviz" not in make(bare, "dot").stdout


def test_set_up_and_then_each_part_of_the_tests_is_made(bare: Path) -> None:
    date = shutil.which("date")
    assert date is not None
    (bare / "bin" / "date").symlink_to(date)
    (bare / ".venv" / "bin").mkdir(parents=True)
    add_program(bare, "../.venv/bin/python", 'echo "$@"')
    for stamp in ("dev", "lab"):
        (bare / ".venv" / f".installed-{stamp}").touch()
    done = make(bare, "test")
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^-m tests.taken \d+ \S*make lint unit property notebooks browser$",
        done.stdout,
        re.MULTILINE,
    )


BUSY = "import time\nwhile time.process_time() < 2: pass"
LEAVING = f"""\
#!{sys.executable}
import subprocess, sys
if sys.argv[-1] == "wrong":
    sys.exit(5)
subprocess.Popen([sys.executable, "-c", {BUSY!r}])
"""


def taken(folder: Path, *targets: str) -> subprocess.CompletedProcess[str]:
    program = folder / "make"
    program.write_text(LEAVING, encoding="utf-8")
    program.chmod(0o755)
    words = [str(time.time() - 7.0), str(program), *targets]
    set_up = f"{sys.executable} -c '{BUSY}'"
    command = shlex.join([sys.executable, "-m", "tests.taken", *words])
    return subprocess.run(
        ["sh", "-c", f"{set_up}; exec {command}"], cwd=REPOSITORY, capture_output=True, text=True
    )


@pytest.mark.skipif(sys.platform != "linux", reason="no processes are adopted here")
def test_what_was_taken_is_said_of_processes_too_that_were_left_behind(tmp_path: Path) -> None:
    done = taken(tmp_path, "first", "second")
    said = re.findall(r"^(\S+) +(\d+) s of CPU in +(\d+) s$", done.stdout, re.MULTILINE)
    assert [name for name, _, _ in said] == ["set-up", "first", "second", "together"]
    taken_by = {name: int(cpu) for name, cpu, _ in said}
    each = [taken_by[name] for name in ("set-up", "first", "second")]
    assert all(2 <= seconds <= 3 for seconds in each)
    assert abs(taken_by["together"] - sum(each)) <= 1
    assert int(said[0][2]) >= 7


def test_the_first_part_that_fails_is_the_last(tmp_path: Path) -> None:
    done = taken(tmp_path, "wrong", "first")
    assert (done.returncode, done.stdout) == (5, "")
