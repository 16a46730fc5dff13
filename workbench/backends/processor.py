"""This machine's processor: its model, and the cores that this process may use."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def processor() -> str:
    """Return model and cores that this process may use: `AMD EPYC 7B13, 2 of 2 cores`."""
    return f"{model()}, {usable_cores()} of {os.cpu_count()} cores"


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def model() -> str:
    """Return the model from Linux; elsewhere the name that Python has."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()
