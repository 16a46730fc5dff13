"""The name of this machine's processor."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def processor() -> str:
    """Return model and cores that this process may use: `AMD EPYC 7B13, 2 of 2 cores`."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{_model()}, {allowed} of {os.cpu_count()} cores"


def _model() -> str:
    """Return the model from Linux; elsewhere the name that Python has."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()
