"""The number of threads that a run uses."""

from __future__ import annotations

import contextlib
import os
from functools import lru_cache
from typing import Any

from workbench.errors import WorkbenchError
from workbench.polyhedral.expression import whole
from workbench.processor import usable_cores

CHOSEN = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")
"""Environment variables by which a user chooses the threads of matrix products."""


def expect_threads(threads: object, *, anywhere: bool = False) -> int:
    """Return a number of threads that was asked for. Raises WorkbenchError where it is none, or
    more than there are processors; `anywhere`, as of a prediction, there may be any number.
    """
    number = whole(threads)
    if anywhere:
        if number is None or number < 1:
            raise WorkbenchError(f"threads {threads!r}; expected an integer from 1 on")
        return number
    most = usable_cores()
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
