"""`workbench doctor`: what works here."""

import errno
import os
import re
from pathlib import Path

import pytest

from tests.cli.calling import Call
from workbench.backends.compiling import cache
from workbench.cli.commands import doctor
from workbench.planning.recipe import plan_files

pytestmark = [pytest.mark.usefixtures("default_backend"), pytest.mark.nothing_compiled]


def keep(size: int) -> None:
    """Put a library into the cache."""
    made = Path.home() / "made"
    made.write_bytes(b"x" * size)
    cache.store(cache.LIBRARIES, "key.so", made)


def test_doctor_is_content_here(workbench: Call) -> None:
    done = workbench("doctor")
    assert done.code == 0
    lines = done.out.splitlines()
    assert {line.split()[0] for line in lines} <= {"ok", "missing"}
    assert any(line.startswith("ok") and "numpy backend" in line for line in lines)


def test_doctor_fails_when_something_required_is_missing(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "REQUIRED", ("numpy", "no-such-package"))
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    done = workbench("doctor")
    assert done.code == 1
    assert "MISSING  no-such-package" in done.out
    assert "pip install no-such-package" in done.out
    assert "install Graphviz" in done.out


def test_doctor_names_the_compiler_and_the_cache_of_compiled_code(workbench: Call) -> None:
    keep(300)
    lines = workbench("doctor").out.splitlines()
    (compiler,) = (line for line in lines if "C compiler" in line)
    assert re.search(r"  ((gcc|clang|zig) [0-9.]+ \(/.+\)|.* -m pip install ziglang)$", compiler)
    assert f"ok       compiled code   300 B in {cache.folder()}" in lines


def test_doctor_names_the_cache_of_recipes(workbench: Call) -> None:
    (plan_files.folder() / "key").mkdir(parents=True)
    (plan_files.folder() / "key" / "0.json").write_text("plan", encoding="utf-8")
    line = f"ok       recipes         4 B in {plan_files.folder()}"
    assert line in workbench("doctor").out.splitlines()


LOST = (
    "what is compiled anew is lost when its process ends; name another directory in WORKBENCH_CACHE"
)


def test_doctor_says_that_the_cache_of_compiled_code_is_a_file(
    workbench: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "file"))
    done = workbench("doctor")
    assert done.code == 0
    said = f"missing  compiled code   0 B in {cache.folder()}, which cannot be written "
    assert f"{said}(Not a directory): {LOST}" in done.out.splitlines()
    said = f"missing  recipes         0 B in {plan_files.folder()}, which cannot be written "
    lost = "a recipe is made anew in each process; name another directory in WORKBENCH_CACHE"
    assert f"{said}(Not a directory): {lost}" in done.out.splitlines()


@pytest.mark.parametrize("reason", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_doctor_says_that_the_cache_of_compiled_code_cannot_be_written(
    workbench: Call, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    keep(300)

    def refused(*arguments: object, **named: object) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(cache.tempfile, "TemporaryFile", refused)
    said = f"missing  compiled code   300 B in {cache.folder()}, which cannot be written "
    assert f"{said}({os.strerror(reason)}): {LOST}" in workbench("doctor").out.splitlines()


def test_doctor_makes_no_folder_to_see_whether_it_can(
    workbench: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "not" / "there"))
    line = f"ok       compiled code   0 B in {cache.folder()}"
    assert line in workbench("doctor").out.splitlines()
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_why_there_is_no_compiler(
    workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-cc")
    done = workbench("doctor")
    assert done.code == 0
    assert "missing  C compiler      CC=no-such-cc names a program that is not there" in done.out


def test_doctor_clears_compiled_code_and_recipes_and_nothing_else(workbench: Call) -> None:
    keep(1200)
    (plan_files.folder() / "key").mkdir(parents=True)
    (plan_files.folder() / "key" / "0.json").write_text("plan", encoding="utf-8")
    measured = cache.folder().parent / "numpy-machine.json"
    measured.touch()
    done = workbench("doctor", "--clear")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"removed 1.2 kB of compiled code from {cache.folder()}\n"
        f"removed 4 B of recipes from {plan_files.folder()}\n"
    )
    assert [*cache.folder().parent.iterdir()] == [measured]
    assert workbench("doctor", "--clear").out.startswith("removed 0 B of compiled code")
