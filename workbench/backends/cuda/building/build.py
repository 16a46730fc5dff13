"""Kernels as machine code, compiled once for an architecture and kept by content."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from workbench.backends.compiling import cache
from workbench.backends.cuda.building import nvrtc
from workbench.backends.cuda.building.nvrtc import FILE, Compiled
from workbench.backends.protocol import CompilerWork
from workbench.codegen.cuda.headers import unit_begin
from workbench.codegen.cuda.kernel_functions import Function
from workbench.codegen.printing.statement_marks import marked_lines
from workbench.errors import CompilerError, warn

SUFFIX = ".cubin"
_AT_LINE = re.compile(re.escape(FILE) + r"\((\d+)\)")


def unit(functions: Sequence[Function]) -> str:
    """Return functions as one text, behind what they use."""
    return "\n".join([unit_begin(), *(function.text for function in functions)])


def compiled(functions: Sequence[Function], architecture: str) -> Compiled:
    """Compile functions for an architecture. Raises CompilerError with NVRTC's words, the file, and
    the statement that they speak of.
    """
    text = unit(functions)
    try:
        return nvrtc.compiled(text, architecture)
    except CompilerError as error:
        file = cache.keep_sources(_key(text, architecture), {FILE: text}) / FILE
        at = _AT_LINE.search(error.output)
        statement = marked_lines(text)[int(at[1]) - 1][1] if at else None
        message = f"{error.message}\nkept in {file}"
        raise CompilerError(message, error.output, file, statement) from None


def cubin(functions: Sequence[Function], architecture: str) -> tuple[Path, CompilerWork]:
    """Return the file of functions as machine code, and the compiler's work: none where it was
    compiled before. Warns where it cannot be kept for later. Raises CompilerError as `compiled`.
    """
    name = _key(unit(functions), architecture) + SUFFIX
    known = cache.find(cache.CUBINS, name)
    if known is not None:
        return known[0], CompilerWork(0.0, 0.0)
    start, cpu = time.perf_counter(), time.process_time()
    code = compiled(functions, architecture).cubin
    work = CompilerWork(time.perf_counter() - start, time.process_time() - cpu)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, name)
        made.write_bytes(code)
        path, note = cache.store(cache.CUBINS, name, made)
    cache.evict()
    if note:
        warn(note)
    return path, work


def _key(text: str, architecture: str) -> str:
    parts = (nvrtc.release(), *nvrtc.OPTIONS, architecture, text)
    return sha256("\0".join(parts).encode()).hexdigest()
