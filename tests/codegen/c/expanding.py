"""C text with the headers of the run-time in their places, for compilers that get one file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.codegen import runtime

LIBRARIES = ("-lm", "-pthread")

_INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def expanded(text: str) -> str:
    """C text with the headers that it includes in their places, each but templates once."""
    return "".join(_expanded(text, set()))


def _expanded(text: str, seen: set[str]) -> Iterator[str]:
    end = 0
    for include in _INCLUDE.finditer(text):
        yield text[end : include.start()]
        end = include.end()
        name = include[1]
        if name not in runtime.HEADERS:
            yield include[0]
        elif name not in seen:
            if _guarded(name):
                seen.add(name)
            yield from _expanded(runtime.header(name), seen)
    yield text[end:]


def _guarded(name: str) -> bool:
    """A header that is there once: one without a guard is a template."""
    return f"#define WORKBENCH_{name.removesuffix('.h').upper()}_H" in runtime.header(name)
