"""NVRTC, NVIDIA's compiler of CUDA text: a library, which needs no GPU and no CUDA installation.

It is called by ourselves: CuPy's compiler appends `-ftz=true` behind the options of its caller, and
numbers near 0 would have other bits than a processor gives them.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import CompilerError, UnavailableError, WorkbenchError, installing

OPTIONS = (
    "--std=c++17",
    "--fmad=false",
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--ptxas-options=-v",
    "-diag-suppress=177",
)
"""Options of every text: products and sums are fused where it says so, numbers near 0
are kept, quotients and roots are the nearest number, and the assembler tells what a kernel takes.
Functions that no kernel calls are no reason to warn.
"""
FILE = "kernels.cu"
"""The name of the text in messages."""
WHEEL = "nvidia-cuda-nvrtc==13.0.48"
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
"""Architectures that kernels are looked at for: A100, H100 and H200, B200."""


@dataclass(frozen=True)
class Compiled:
    """A text as NVRTC compiles it: machine code for one architecture, the assembly before it, and
    what the compiler told.
    """

    cubin: bytes
    ptx: str
    log: str


def unavailable() -> str | None:
    """Return why there is no NVRTC, or None."""
    try:
        _library()
    except UnavailableError as error:
        return str(error)
    return None


def release() -> str:
    """Return the release of NVRTC, as "13.0"."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(_library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def checked_architecture(name: object) -> str:
    """Return an architecture's name. Raises WorkbenchError for what is none."""
    known = isinstance(name, str) and name.startswith("sm_") and name.removeprefix("sm_").isdigit()
    if not known or not isinstance(name, str):
        raise WorkbenchError(
            f"architecture {name!r}; expected sm_ and a number, as {', '.join(ARCHITECTURES)}"
        )
    return name


def compiled(text: str, architecture: str, defined: Iterable[str] = ()) -> Compiled:
    """Compile a text for an architecture, with some names defined. Raises CompilerError with
    NVRTC's words.
    """
    library, program = _library(), ctypes.c_void_p()
    options = [f"--gpu-architecture={checked_architecture(architecture)}", *OPTIONS]
    options += [f"--define-macro={name}" for name in defined]
    given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    _check(
        library.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), FILE.encode(), 0, None, None
        )
    )
    try:
        result = library.nvrtcCompileProgram(program, len(options), given)
        log = _made(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program)
        told = log.rstrip(b"\0").decode(errors="replace").strip()
        if result:
            raise CompilerError(f"NVRTC {release()} failed for {architecture}: {told}", told)
        cubin = _made(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN, program)
        ptx = _made(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program)
        return Compiled(cubin, ptx.rstrip(b"\0").decode(), told)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _made(size_of: Callable[..., int], get: Callable[..., int], program: ctypes.c_void_p) -> bytes:
    """Return one of the results of a compilation."""
    size = ctypes.c_size_t()
    _check(size_of(program, ctypes.byref(size)))
    room = ctypes.create_string_buffer(size.value)
    _check(get(program, room))
    return room.raw


def _check(result: int) -> None:
    if result:
        library = _library()
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise CompilerError(f"NVRTC: {library.nvrtcGetErrorString(result).decode()}")


@lru_cache(maxsize=1)
def _library() -> Any:
    """Load NVRTC: that of the wheel, else that of the system."""
    for folder in _folders():
        for builtins in _files(folder, "nvrtc-builtins"):
            ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)  # it finds it by its name then
        for file in _files(folder, "nvrtc"):
            return ctypes.CDLL(str(file))
    system = ctypes.util.find_library("nvrtc")
    if system is None:
        raise UnavailableError(f"NVRTC is not installed: {installing(WHEEL)}")
    return ctypes.CDLL(system)


def _folders() -> Iterator[Path]:
    """Yield the folders of the libraries that NVIDIA's wheels install."""
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations or () if found else ():
        for part in sorted(Path(place).iterdir(), reverse=True):
            yield from (part / name for name in ("lib", "bin", "bin/x86_64"))


def _files(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files of a library, but for those of another build of it."""
    pattern = f"{name}64_*.dll" if sys.platform == "win32" else f"lib{name}.so*"
    yield from (f for f in sorted(folder.glob(pattern)) if ".alt." not in f.name)
