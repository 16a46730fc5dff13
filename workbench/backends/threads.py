"""The number of threads that a run uses."""

from __future__ import annotations

import contextlib
import math
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.polyhedral.expression import whole

CHOSEN = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")
"""Environment variables by which a user chooses the threads of matrix products."""

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The file in which Linux tells a container's share: microseconds of processors in a period."""


def usable_cores() -> int:
    """Return the number of processors that this process may use: those it is bound to, and no more
    than a container's share of them.
    """
    bound = getattr(os, "sched_getaffinity", None)
    cores = len(bound(0)) if bound is not None else os.cpu_count() or 1
    return min(cores, _share())


def _share() -> int:
    try:
        quota, period = QUOTA.read_text(encoding="ascii").split()
        return max(1, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # there is none, or it is "max"
        return os.cpu_count() or 1


def expect_threads(threads: object) -> int:
    """Return a number of threads that was asked for. Raises WorkbenchError where it is none, or
    more than there are processors.
    """
    number, most = whole(threads), usable_cores()
    if number is None or not 1 <= number <= most:
        there = "only 1" if most == 1 else f"an integer from 1 to {most}"
        raise WorkbenchError(
            f"threads {threads!r}; expected {there}, the processors that this process may use"
        )
    return number


def blas_threads(threads: int | None) -> int:
    """Return the threads of matrix products: those asked for, else one, unless the environment
    chooses.

    The products of these programs are small. A second thread gains at most a tenth on an idle
    machine, and on a busy one its waiting costs five to twenty times the work.
    """
    if threads is not None:
        return expect_threads(threads)
    if any(name in os.environ for name in CHOSEN):
        used = (i["num_threads"] for i in _controller().info() if i["user_api"] == "blas")
        return max(used, default=1)
    return 1


def using_blas_threads(threads: int) -> contextlib.AbstractContextManager[Any]:
    """Use so many threads for each matrix product inside the block."""
    limit: contextlib.AbstractContextManager[Any] = _controller().limit(
        limits=threads, user_api="blas"
    )
    return limit


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # looks through all loaded libraries: once

    return ThreadpoolController()
