"""The cache of compiled code: bounded, whole files only, a temporary folder where it cannot be."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.backends.native.building.pretending import cached_files
from tests.backends.native.building.small_units import HEADERS, UNITS, call
from workbench.backends.compiling import cache
from workbench.backends.compiling.cache import FAILED, IN_USE, LIBRARIES, OBJECTS
from workbench.backends.native.building.build import build
from workbench.backends.native.building.compilers import Compiler
from workbench.errors import WorkbenchError
from workbench.folders import cache_directory

pytestmark = pytest.mark.nothing_compiled

KEEPING = """
from pathlib import Path
from workbench.backends.compiling import cache
made = Path("made")
made.write_text("text")
path, note = cache.store(cache.LIBRARIES, "a.so", made)
print(path)
print(cache.keep_sources("key", {"a.c": ""}) if @ else "")
assert path.exists() and note
"""


def put(kind: str, name: str, size: int, age: float, folder: Path | None = None) -> Path:
    """A file of the cache that was used some seconds ago."""
    path = (folder or cache.folder()) / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_files_that_were_not_used_for_longest_are_removed() -> None:
    old = IN_USE + 100
    put(OBJECTS, "oldest.o", 40, old + 30)
    put(FAILED, "key/old.c", 40, old + 20)
    put(LIBRARIES, "older.so", 40, old + 10)
    put(LIBRARIES, "young.so", 40, old)
    put(OBJECTS, ".unfinished", 40, old + 40)
    put(cache.ZIG, "libc.a", 1000, old + 50)
    cache.evict(100)
    assert cached_files() == {"libraries/older.so", "libraries/young.so", "zig/libc.a"}
    assert not (cache.folder() / FAILED / "key").exists()
    assert cache.find(LIBRARIES, "older.so") == (cache.folder() / LIBRARIES / "older.so", 40)
    os.utime(cache.folder() / LIBRARIES / "older.so", (time.time() - old + 1,) * 2)
    cache.evict(50)
    assert cached_files() == {"libraries/older.so", "zig/libc.a"}


def test_what_was_used_just_now_is_never_removed(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(LIBRARIES, "old.so", 40, IN_USE + 10)
    put(LIBRARIES, "in_use.so", 40, IN_USE - 10)
    monkeypatch.setattr(cache, "LIMIT", 1)
    library = build(UNITS, compiler, HEADERS)
    assert library.path.exists()
    assert len(cached_files()) == 4
    assert "libraries/old.so" not in cached_files()


def test_folder_stays_where_it_is_when_the_working_folder_changes(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_CACHE", "relative")
    path = build(UNITS, compiler, HEADERS).path
    monkeypatch.chdir("/")
    assert path.is_relative_to(tmp_path / "relative")
    assert call(path, 3.0) == 7.0


def test_limit_is_one_gigabyte() -> None:
    assert cache.LIMIT == 10**9


def test_file_in_the_folder_s_place_leads_to_a_temporary_folder(
    compiler: Compiler, work: Path
) -> None:
    cache_directory().parent.mkdir(parents=True)
    cache_directory().write_text("a file")
    library = build(UNITS, compiler, HEADERS)
    assert library.path.is_relative_to(work)
    assert library.note == (
        f"compiled code is in a temporary folder until this process ends, as {cache.folder()} "
        "cannot be written (Not a directory); name another directory in WORKBENCH_CACHE"
    )
    assert call(library.path, 3.0) == 7.0
    assert build(UNITS, compiler, HEADERS).cached
    assert cache.zig_folder().is_relative_to(work)
    assert cache.held_bytes() == 0


def test_full_disk_leads_to_a_temporary_folder_and_leaves_no_part_of_a_file(
    compiler: Compiler, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def full(source: str, target: Path) -> None:
        if target.is_relative_to(cache.folder()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    library = build(UNITS, compiler, HEADERS)
    assert "cannot be written (No space left on device)" in library.note
    assert library.path.is_relative_to(work)
    assert cached_files() == set()
    assert call(library.path, 3.0) == 7.0


def test_cache_that_can_only_be_read_is_used(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = build(UNITS, compiler, HEADERS)

    def refused(*arguments: object, **named: object) -> None:
        raise PermissionError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refused)
    monkeypatch.setattr(cache.tempfile, "mkstemp", refused)
    assert build(UNITS, compiler, HEADERS).path == library.path


@pytest.mark.parametrize("keeps", [False, True])
def test_temporary_folder_goes_with_the_process_but_for_what_failed(
    tmp_path: Path, work: Path, repository: Path, keeps: bool
) -> None:
    (tmp_path / "cache").write_text("a file")
    own = {"WORKBENCH_CACHE": str(tmp_path / "cache"), "TMPDIR": str(work)}
    environment = os.environ | own | {"PYTHONPATH": str(repository)}
    command = [sys.executable, "-c", KEEPING.replace("@", str(keeps))]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    path, kept = done.stdout.split("\n")[:2]
    assert not Path(path).exists()
    assert [*work.rglob("*.c")] == ([Path(kept) / "a.c"] if keeps else [])
    assert keeps or list(work.iterdir()) == []


def test_clearing_tells_the_bytes() -> None:
    assert cache.clear() == 0
    put(LIBRARIES, "a.so", 40, 0)
    put(cache.ZIG, "o/libc.a", 60, 0)
    put("", "numpy-machine.json", 5, 0, cache_directory())
    assert cache.held_bytes() == 100
    assert cache.clear() == 100
    assert [path.name for path in cache_directory().iterdir()] == ["numpy-machine.json"]


def test_clearing_refused_where_a_file_cannot_be_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(LIBRARIES, "a.so", 40, 0)

    def refused(self: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(WorkbenchError) as raised:
        cache.clear()
    assert raised.value.message == f"{path} cannot be removed (Permission denied)"


def test_cache_that_is_emptied_at_the_same_moment_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = os.replace, tmp_path / "made"
    made.write_text("text")

    def emptied(source: str, target: Path) -> None:
        monkeypatch.setattr(os, "replace", real)
        cache.clear()
        real(source, target)

    monkeypatch.setattr(os, "replace", emptied)
    assert cache.store(LIBRARIES, "a.so", made) == (cache.folder() / LIBRARIES / "a.so", "")
    assert cached_files() == {"libraries/a.so"}
