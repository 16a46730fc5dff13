"""Libraries by the kernels that they are made of: a process that has these in a file need not write
the text by whose digest libraries are known.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Mapping, Sequence

from workbench import cache_files
from workbench.backends.compiling import cache
from workbench.backends.native.building.build import SUFFIX, Library
from workbench.backends.native.building.compilers import Compiler
from workbench.backends.native.building.load import opened
from workbench.program.made_files import digest


def named(parts: Sequence[str], compiler: Compiler, headers: Mapping[str, str]) -> str:
    """Return the name of the library that a compiler makes of some parts, and of these headers."""
    return digest([*parts, compiler.identity, compiler.link, dict(headers)])


def name_library(name: str, library: Library) -> None:
    """Let a library be found by its name. It is not where the cache cannot be written."""
    with (
        contextlib.suppress(OSError),
        cache_files.writing(cache.folder() / cache.NAMES / name) as file,
    ):
        file.write(library.key.encode("ascii"))


def load_named(name: str) -> tuple[Library, ctypes.CDLL] | None:
    """Load a library by its name; None where none has it, or where it is gone or damaged."""
    start = time.perf_counter()
    with contextlib.suppress(OSError):
        known = cache.find(cache.NAMES, name)
        key = known[0].read_text("ascii") if known else ""
        found = cache.find(cache.LIBRARIES, key + SUFFIX) if key else None
        if found:
            loaded = opened(found[0])
            seconds = time.perf_counter() - start
            return Library(key, *found, seconds, cached=True), loaded
    return None
