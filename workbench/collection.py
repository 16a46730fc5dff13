"""Work during which Python's cyclic garbage collector rests."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Let the collector rest. A program or a plan is many objects that live on: it would look
    through all of them again and again, a tenth of the time. As a decorator too.
    """
    resting = not gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not resting:
            gc.enable()
