"""Scripts that pass for a compiler, and what is left of a compilation."""

import time
from collections.abc import Callable
from pathlib import Path

from workbench.backends.compiling import cache
from workbench.backends.native.building.compilers import Compiler

ANSWERS = """#!/bin/sh
case "$*" in
*-dM*) printf '#define __STDC__ 1\\n#define __GNUC__ 12\\n'; exit;;
*--version*) echo 'pretended 1.0'; exit;;
esac
for word; do
    [ "$last" = -o ] && out=$word
    last=$word
done
"""
"""The beginning of a script that says that it is gcc 12, and knows the file that it is to write."""

FakeCompiler = Callable[[str], Compiler]


def script(path: Path, text: str) -> Path:
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def gone(pid: int) -> bool:
    """Whether a process has ended, which may take a moment after its end was ordered."""
    for _ in range(200):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def cached_files() -> set[str]:
    """What lies in the cache, `objects/….o`."""
    place = cache.folder()
    return {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
