"""Files of the cache directory: written whole at once, bounded in bytes, told and removed.

Other processes may write and remove the same files at any moment.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workbench.errors import WorkbenchError

Files = Iterable[tuple[Path, os.stat_result]]

SOME = 1 << 16
"""The bytes that are written to see whether files can be."""


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written, so that whoever looks finds all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def mark_used(path: Path) -> None:
    """Let a file be the one that was used last, unless the cache may only be read."""
    with contextlib.suppress(OSError):
        os.utime(path)


def files_in(*places: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files in folders and below with their status."""
    for place in places:
        for parent, _, names in os.walk(place):
            for name in names:
                path = Path(parent, name)
                with contextlib.suppress(OSError):
                    yield path, path.lstat()


def held_bytes(files: Files) -> int:
    """Return the bytes of files."""
    return sum(status.st_size for _, status in files)


def evict(files: Files, limit: int, in_use: float) -> Iterator[Path]:
    """Remove the files that were not used for longest until the rest has at most `limit` bytes;
    yield each. Those that were used in the last `in_use` seconds stay, however many they are.
    """
    oldest = sorted(files, key=lambda file: file[1].st_mtime)
    held, now = held_bytes(oldest), time.time()
    for path, status in oldest:
        if held <= limit or now - status.st_mtime < in_use:
            return
        with contextlib.suppress(OSError):
            path.unlink()
            held -= status.st_size
        yield path


def remove(files: Files, place: Path) -> int:
    """Remove files, and the folders that are empty then, `place` among them; return their bytes.

    Raises WorkbenchError where some cannot be removed.
    """
    removed = 0
    for path, status in files:
        try:
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise WorkbenchError(f"{path} cannot be removed ({error.strerror})") from None
        removed += status.st_size
    for folder, _, _ in os.walk(place, topdown=False):
        with contextlib.suppress(OSError):  # another process puts a file there
            os.rmdir(folder)
    return removed


def why_not_written(place: Path) -> str | None:
    """Return the system's words why files cannot be kept in a folder, or None where they can.

    What is not there is not made: a folder can be made where a file can.
    """
    while not os.path.lexists(place):
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place, buffering=0) as file:
            file.write(bytes(SOME))  # a disk may be full though a name can be written
    except OSError as error:
        return error.strerror or str(error)
    return None
