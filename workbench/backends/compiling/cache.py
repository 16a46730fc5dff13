"""Files of compiled code in the user's cache directory, by content: found, stored, bounded in size.

Where that directory cannot be written they are stored in a temporary folder of this process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from workbench import cache_files
from workbench.folders import CACHE_VARIABLE, cache_directory

LIMIT = 10**9
"""The bytes that the files may have together; those that were not used for longest are removed."""
IN_USE = 300.0
"""Seconds since its last use in which a file is not removed: a process may be about to load it."""
OBJECTS, LIBRARIES, FAILED, KERNELS = "objects", "libraries", "failed", "kernels"
CUBINS, NAMES = "cubins", "names"
"""Folders of the cache: compiled units, linked libraries, sources that did not compile, kernels
that libraries are made of, those of GPUs as machine code, and which library some kernels have.
"""
BOUNDED = (OBJECTS, LIBRARIES, FAILED, KERNELS, CUBINS, NAMES)
"""The folders whose files have at most `LIMIT` bytes."""
ZIG = "zig"
"""The folder that zig fills with its run-time libraries; it is no part of what is bounded."""


def folder() -> Path:
    """Return the folder of compiled code, which need not be there."""
    return cache_directory().absolute() / "native"


@lru_cache(maxsize=1)
def temporary_folder() -> Path:
    """Make the folder that is used instead, once; it goes with the process, but for the sources
    that did not compile.
    """
    place, process = Path(tempfile.mkdtemp(prefix="workbench-native-")), os.getpid()

    def remove() -> None:
        if os.getpid() != process:  # a fork of the process
            return
        for name in (OBJECTS, LIBRARIES, CUBINS, ZIG):
            shutil.rmtree(place / name, ignore_errors=True)
        with contextlib.suppress(OSError):
            place.rmdir()

    atexit.register(remove)
    return place


def find(kind: str, name: str) -> tuple[Path, int] | None:
    """Return a stored file and its bytes, and mark it as just used; None where there is none."""
    places = [folder()]
    if temporary_folder.cache_info().currsize:
        places.append(temporary_folder())
    for place in places:
        path = place / kind / name
        with contextlib.suppress(OSError):
            size = path.stat().st_size
            cache_files.mark_used(path)
            return path, size
    return None


def store(kind: str, name: str, made: Path) -> tuple[Path, str]:
    """Store a copy of a file, whole at once; return its path, and a note where that is temporary.

    Raises OSError where the temporary folder cannot be written either.
    """
    try:
        with contextlib.suppress(FileNotFoundError):  # somebody empties the cache just now
            return _copied(made, folder() / kind / name), ""
        return _copied(made, folder() / kind / name), ""
    except OSError as error:
        path = _copied(made, temporary_folder() / kind / name)
        reason = error.strerror or str(error)
    note = (
        f"compiled code is in a temporary folder until this process ends, as {folder()} cannot "
        f"be written ({reason}); name another directory in {CACHE_VARIABLE}"
    )
    return path, note


def why_not_kept() -> str | None:
    """Return the system's words why files cannot be kept in the folder, or None where they can."""
    return cache_files.why_not_written(folder())


def keep_sources(key: str, texts: dict[str, str]) -> Path:
    """Write sources that did not compile, by file name; return their folder."""
    try:
        return _written(folder() / FAILED / key, texts)
    except OSError:
        return _written(temporary_folder() / FAILED / key, texts)


def zig_folder() -> Path:
    """Return the folder for zig's own files, made."""
    path = folder() / ZIG
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        path = temporary_folder() / ZIG
        path.mkdir(exist_ok=True)
        return path


def evict(limit: int | None = None) -> None:
    """Remove the files that were not used for longest until the rest has at most `limit` bytes.

    Those that were used just now stay, however many they are.
    """
    files = _files(*BOUNDED)
    for path in cache_files.evict(files, LIMIT if limit is None else limit, IN_USE):
        if path.parent.parent.name == FAILED:
            with contextlib.suppress(OSError):  # the folder of failed sources has others
                path.parent.rmdir()


def held_bytes() -> int:
    """Return the bytes of the cache's files, zig's included."""
    return cache_files.held_bytes(_files(*BOUNDED, ZIG))


def clear() -> int:
    """Remove all files of the cache; return the bytes that they had.

    Raises WorkbenchError where some cannot be removed.
    """
    return cache_files.remove(_files(*BOUNDED, ZIG), folder())


def _files(*kinds: str) -> cache_files.Files:
    return cache_files.files_in(*(folder() / kind for kind in kinds))


def _copied(made: Path, path: Path) -> Path:
    with made.open("rb") as source, cache_files.writing(path) as target:
        shutil.copyfileobj(source, target)
    return path


def _written(place: Path, texts: dict[str, str]) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    return place
