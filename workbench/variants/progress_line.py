"""Where progress is written, and a line of it that says what is done now."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TextIO


def stream() -> TextIO:
    """Return the stream for progress: the error output; in a notebook, which marks that as an
    alarm, the standard output.
    """
    kernel = sys.modules.get("ipykernel.kernelapp")
    return sys.stdout if kernel and kernel.IPKernelApp.initialized() else sys.stderr


@contextlib.contextmanager
def progress_line(title: str, shown: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that says what is done before a run, on a line that is empty behind it."""
    if not shown:
        yield lambda stage: None
        return
    from tqdm import tqdm

    drawn = tqdm(bar_format="{desc}", leave=False, file=stream())
    try:
        yield lambda stage: drawn.set_description_str(f"{title}: {stage}")
    finally:
        drawn.close()
