"""C text compiled into a library by each compiler there is, for each width of vectors."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.codegen.c.expanding import LIBRARIES, expanded
from workbench.codegen import runtime

X86 = platform.machine().lower() in ("x86_64", "amd64")
C_COMPILER = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
HAS_ZIG = importlib.util.find_spec("ziglang") is not None


@dataclass(frozen=True)
class Build:
    """A compiler with flags behind those of every unit. `lacks` is a function of compilers that the
    text is to do without, as that of an older one.
    """

    name: str
    flags: tuple[str, ...] = ("-march=native",)
    zig: bool = False
    lacks: str = ""

    def library(self, source: str, folder: Path, *more: str) -> ctypes.CDLL:
        """Compile C text, with the headers that it includes, into a library, and load it."""
        text = folder / f"{self.name}.c"
        lacking = expanded(source).replace(f"__has_builtin({self.lacks})", "0")
        text.write_text(lacking, encoding="utf-8")
        return self.linked([text], folder, *more)

    def linked(self, units: list[Path], folder: Path, *more: str) -> ctypes.CDLL:
        """Compile files into one library, and load it."""
        out = folder / f"{self.name}.so"
        flags = ("-O2", *runtime.flags(platform.machine()), "-Wall", "-Wextra", "-Werror")
        command = [*self.command(), *flags, *self.flags, *more, "-shared", "-fPIC"]
        subprocess.run(
            [*command, "-o", str(out), *map(str, units), *LIBRARIES],
            check=True,
            env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(folder.parent / "zig")},
        )
        return ctypes.CDLL(str(out))

    def command(self) -> list[str]:
        if self.zig:
            return [sys.executable, "-m", "ziglang", "cc"]
        assert C_COMPILER is not None, "these tests need a C compiler: install gcc"
        return [C_COMPILER]


NATIVE = Build("native")


def others() -> list[Build]:
    """Builds that have the same bits as NATIVE: other widths, processors, compilers."""
    builds = [
        *(Build(f"lanes{n}", ("-march=native", f"-DLANES={n}")) for n in (4, 8, 16)),
        Build("O1", ("-march=native", "-O1")),
        Build("no_shuffles", lacks="__builtin_shufflevector"),
    ]
    if X86:
        builds += [Build(f"v{n}", (f"-march=x86-64-v{n}",)) for n in (3, 2)]
    if HAS_ZIG:
        builds.append(Build("zig", zig=True))
    if HAS_ZIG and X86:
        builds.append(Build("zig_v2", ("-march=x86_64_v2",), zig=True))
    return builds


def pointer(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    """Return where a contiguous array lies."""
    assert array.flags.c_contiguous
    return array.ctypes.data_as(ctypes.c_void_p)


def call(function: Any, *arguments: Any) -> None:
    """Call a C function: arrays as their places, whole numbers as int64_t."""
    function.restype = None
    function(*(pointer(a) if isinstance(a, np.ndarray) else ctypes.c_int64(a) for a in arguments))
