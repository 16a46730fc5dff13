"""The number of threads that matrix products use while a program runs."""

from __future__ import annotations

import contextlib
import os
from functools import lru_cache
from typing import Any

CHOSEN = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")
"""Environment variables by which a user chooses; then nothing is changed here."""


def one_blas_thread() -> contextlib.AbstractContextManager[Any]:
    """Use one BLAS thread inside the block.

    The products of these programs are small. A second thread gains at most a tenth on an idle
    machine, and on a busy one its waiting costs five to twenty times the work.
    """
    if any(name in os.environ for name in CHOSEN):
        return contextlib.nullcontext()
    limit: contextlib.AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # looks through all loaded libraries: once

    return ThreadpoolController()
