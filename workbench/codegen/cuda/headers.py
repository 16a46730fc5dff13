"""The text that stands before kernels in CUDA: in the same file, as NVRTC reads no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

from workbench.codegen.runtime import header

GPU = {"machine.h": "gpu_machine.h", "threads.h": "gpu_threads.h"}
"""The headers that a GPU has in the place of these."""
OWN = ("device_run.h", "block_functions.h", "block_sorting.h", "block_orthogonal.h")
"""The headers of what a run tells, and of what a block runs together, each behind those that it
includes.
"""

_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


@cache
def unit_begin() -> str:
    """Return the text before the kernels: numbers, threads, and what a block runs together."""
    seen: set[str] = set()
    return "".join(text for name in OWN for text in _with_included(name, seen))


def device_header(name: str) -> str:
    """Return the text of a header of CUDA text."""
    file = resources.files("workbench.codegen.cuda.device").joinpath(name)
    return file.read_text(encoding="utf-8")


def _with_included(name: str, seen: set[str]) -> Iterator[str]:
    """Yield a header with those that it includes in their places, each but templates once."""
    own = {*OWN, *GPU}
    text, end = device_header(GPU.get(name, name)) if name in own else header(name), 0
    if f"#define WORKBENCH_{name.removesuffix('.h').upper()}_H" in text:
        if name in seen:
            return
        seen.add(name)
    for include in _INCLUDE.finditer(text):
        yield text[end : include.start()]
        end = include.end()
        yield from _with_included(include[1], seen)
    yield text[end:]
