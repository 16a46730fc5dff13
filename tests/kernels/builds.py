"""The builds of a program: by which compiler, at which level of optimization, for which processor.

Only processors that this machine can stand in for are among them: what is compiled is run.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from workbench.backends.native.building.compilers import VARIABLE, Compiler, find

FEATURES = {
    "x86-64-v2": {"ssse3", "sse4_1", "sse4_2", "popcnt"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
"""What Linux calls that which a level of x86-64 has beyond the one before."""


SHARING = (
    "-DWORTH_SHARING=-1",
    "-DWORTH_WAKING=-1",
    "-DTRIED=INT64_MAX",
    "-DLEAST_OF_RANGE=16",
)
"""The flags by which threads share every launch, however short, and whether that pays or not."""


@dataclass(frozen=True)
class Build:
    """A compiler as CC names it (the one that is found, if it is ""), and what it is asked for."""

    compiler: str = ""
    level: int = 1
    march: str = "native"
    more: tuple[str, ...] = SHARING
    """Flags behind all others."""

    def __str__(self) -> str:
        flags = (f"-O{self.level}", f"-march={self.march}", *self.more)
        return f"{self.found()} {' '.join(flags)}"

    def found(self) -> Compiler:
        """The compiler, with the flags of this build."""
        with pytest.MonkeyPatch.context() as patch:
            if self.compiler:
                patch.setenv(VARIABLE, self.compiler)
            compiler = find(self.level, self.march)
        if not self.more:
            return compiler
        identity = sha256(" ".join((compiler.identity, *self.more)).encode()).hexdigest()
        return replace(compiler, flags=(*compiler.flags, *self.more), identity=identity)


@cache
def marches() -> tuple[str, ...]:
    """The processors that programs can be compiled for and run here, the least able first. The most
    able level that there is has no build beside this processor's own, which has the same vectors.
    """
    listed = Path("/proc/cpuinfo")
    text = listed.read_text(encoding="utf-8") if listed.is_file() else ""
    line = next((line for line in text.splitlines() if line.startswith("flags")), "")
    there = set(line.split())
    levels = [march for march, needed in FEATURES.items() if needed <= there]
    return (*levels[:-1], "native")


def compilers() -> tuple[str, ...]:
    """The compiler that is found, and the package ziglang where it is installed."""
    named = os.environ.get(VARIABLE, "")
    if importlib.util.find_spec("ziglang") is None:
        return (named,)
    return (named, shlex.join((sys.executable, "-m", "ziglang", "cc")))


def of_programs(named: Sequence[str]) -> list[Build]:
    """The first compiler at both levels for each processor, the others at the higher one."""
    return [
        *(Build(compiler, 2, march) for march in marches() for compiler in named),
        *(Build(named[0], 1, march) for march in marches()),
    ]


def of_cases(named: Sequence[str]) -> list[Build]:
    """The first compiler for each processor, all of them at the higher level for this one."""
    return [
        *(Build(named[0], 1, march) for march in marches()),
        *(Build(compiler, 2) for compiler in named),
    ]
