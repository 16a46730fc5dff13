"""This machine's processor: its model, the cores that this process may use, a core's cache."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from workbench.errors import WorkbenchError

CORE_CACHE_VARIABLE = "WORKBENCH_CORE_CACHE"
"""Environment variable that names the bytes of a core's own cache: of another machine than this."""

USUAL = 1 << 20
"""The bytes that a core's cache is taken to have where the machine does not say."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


@lru_cache(maxsize=1)
def processor() -> str:
    """Return model and cores that this process may use: `AMD EPYC 7B13, 2 of 2 cores`."""
    return f"{model()}, {usable_cores()} of {os.cpu_count()} cores"


def usable_cores() -> int:
    """Return the number of cores that this process may use: those it is bound to, and no more than
    its container's share of them.
    """
    bound = getattr(os, "sched_getaffinity", None)
    cores = len(bound(0)) if bound is not None else os.cpu_count() or 1
    return min(cores, *_shares()) if cores > 1 else cores


def _shares(
    groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> Iterator[int]:
    """Yield the cores that Linux's control groups leave this process: microseconds of processors in
    a period. The process's own group is below the root's, but for a container's.
    """
    yield os.cpu_count() or 1
    found = [groups, groups / "cpu"]
    with contextlib.suppress(OSError):
        for line in own.read_text(encoding="utf-8").splitlines():
            _, kinds, place = line.split(":", 2)
            if not kinds or "cpu" in kinds.split(","):
                found.append(groups / ("cpu" if kinds else "") / place.strip().lstrip("/"))
    for folder in dict.fromkeys(found):
        for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
            with contextlib.suppress(OSError, ValueError):  # there is none, or it is "max"
                texts = [(folder / name).read_text(encoding="ascii") for name in names]
                quota, period = map(int, " ".join(texts).split())
                if quota > 0:
                    yield max(1, math.ceil(quota / period))


def model() -> str:
    """Return the model from Linux; elsewhere the name that Python has."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()


# -- the cache of a core ---------------------------------------------------------------------------


@dataclass(frozen=True)
class CoreCache:
    """The bytes of a core's own cache. `name` says in words which cache that is."""

    bytes: int
    name: str


def core_cache() -> CoreCache:
    """Return the second-level cache of a core: as the environment names it, as this machine says,
    or what is usual.

    Raises WorkbenchError where the environment's value is no number of bytes.
    """
    named = os.environ.get(CORE_CACHE_VARIABLE)
    if named:
        if not re.fullmatch(r"[1-9]\d*", named):
            raise WorkbenchError(f"{CORE_CACHE_VARIABLE} is a number of bytes, not {named!r}")
        return CoreCache(int(named), "a core's cache")
    asked = _asked()
    if asked is None:
        return CoreCache(USUAL, "a core's usual cache (this machine's is not known)")
    return CoreCache(asked, "a core's cache")


@lru_cache(maxsize=1)
def _asked() -> int | None:
    """Return what Linux or macOS says; None where neither does."""
    return next((found for found in _answers() if found > 0), None)


def _answers(cpus: Path = Path("/sys/devices/system/cpu")) -> Iterator[int]:
    for folder in sorted(cpus.glob("cpu0/cache/index*")):
        yield _second_level(folder)
    if sys.platform == "darwin":
        for name in (b"hw.perflevel0.l2cachesize", b"hw.l2cachesize"):
            yield _system_number(name)


def _second_level(folder: Path) -> int:
    """Return the bytes of a cache that Linux describes; 0 if it is of another level."""
    try:
        level, size = (
            (folder / name).read_text(encoding="ascii").strip() for name in ("level", "size")
        )
    except OSError:
        return 0
    found = re.fullmatch(r"(\d+)([KM]?)", size)
    return int(found[1]) * _UNITS[found[2]] if level == "2" and found else 0


def _system_number(name: bytes) -> int:
    """Return a number that macOS knows by name; 0 where it does not."""
    value, size = ctypes.c_int64(0), ctypes.c_size_t(8)
    call = ctypes.CDLL(None).sysctlbyname
    failed = call(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
    return 0 if failed else value.value
