"""Compiled libraries in this process: each is loaded once."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.backends.native.building.build import TIMEOUT, Library, build
from workbench.backends.native.building.c_units import Unit
from workbench.backends.native.building.compilers import Compiler
from workbench.errors import WorkbenchError
from workbench.folders import CACHE_VARIABLE


def load(
    units: Sequence[Unit],
    compiler: Compiler,
    headers: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
) -> tuple[Library, ctypes.CDLL]:
    """Build a library, or find it in the cache, and load it; see `build` for the arguments.

    Raises WorkbenchError where the system does not load it.
    """
    library = build(units, compiler, headers, timeout)
    if library.cached:
        with contextlib.suppress(OSError):  # it was removed since, or is damaged
            return library, opened(library.path)
        library = build(units, compiler, headers, timeout, anew=True)
    try:
        return library, opened(library.path)
    except OSError as error:
        raise WorkbenchError(
            f"compiled code cannot be loaded ({error}); if programs may not run from that folder, "
            f"name another directory in {CACHE_VARIABLE}"
        ) from None


@functools.cache
def opened(path: Path) -> ctypes.CDLL:
    """Load a library once: its file's name is its key."""
    return ctypes.CDLL(str(path))
