"""Kernels as machine code: compiled for an architecture by several threads, and kept by content."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path

from workbench.backends.compiling import cache
from workbench.backends.cuda.building import nvrtc
from workbench.backends.cuda.building.assembler import spilling
from workbench.backends.cuda.building.nvrtc import FILE, Compiled
from workbench.backends.protocol import CompilerWork
from workbench.codegen.cuda.function_writer import BLOCKS_OF, FEW_REGISTERS
from workbench.codegen.cuda.functions import Function
from workbench.codegen.cuda.headers import unit_begin
from workbench.codegen.printing.statement_marks import marked_lines
from workbench.errors import CompilerError, warn
from workbench.processor import usable_cores

SUFFIX = ".cubin"
LONGER = {"block_kept_product_": 15_000, "block_orthogonalize_": 8_000, "block_sort(": 8_000}
"""Calls that take the compiler as long as so many letters of other text, as was measured."""
_AT_LINE = re.compile(re.escape(FILE) + r"\((\d+)\)")


def units(functions: Sequence[Function]) -> list[list[Function]]:
    """Return functions in as many units as there are cores, of about as much work each: a unit
    takes one thread of the compiler.
    """
    parts: list[list[Function]] = [[] for _ in range(min(usable_cores(), len(functions)))]
    for function in sorted(functions, key=work, reverse=True):
        min(parts, key=lambda part: sum(map(work, part))).append(function)
    return parts


def work(function: Function) -> int:
    """Return about how long a function takes the compiler, in letters of text."""
    text = function.text
    return len(text) + sum(letters * text.count(call) for call, letters in LONGER.items())


def compiled(functions: Sequence[Function], architecture: str) -> list[Compiled]:
    """Compile functions for an architecture, unit by unit. Raises CompilerError with NVRTC's words,
    the file, and the statement that they speak of.
    """
    texts = map(_text, units(functions))
    with ThreadPoolExecutor() as pool:
        return list(pool.map(partial(_compiled, architecture=architecture), texts))


def cubins(functions: Sequence[Function], architecture: str) -> tuple[list[Path], CompilerWork]:
    """Return the files of functions as machine code, one for each of their `units`, and the
    compiler's work: none for what was compiled before. Warns where files cannot be kept for later.
    Raises CompilerError as `compiled`.
    """
    texts = list(map(_text, units(functions)))
    start, cpu = time.perf_counter(), time.process_time()
    known = [cache.find(cache.CUBINS, _key(text, architecture) + SUFFIX) for text in texts]
    with ThreadPoolExecutor() as pool:
        new = (text for text, file in zip(texts, known, strict=True) if file is None)
        made = pool.map(partial(_compiled, architecture=architecture), new)
        notes = dict[str, None]()
        paths = []
        for text, file in zip(texts, known, strict=True):
            if file is not None:
                paths.append(file[0])
                continue
            path, note = _stored(_key(text, architecture) + SUFFIX, next(made).cubin)
            paths.append(path)
            notes[note] = None
    if notes:
        cache.evict()
    for note in filter(None, notes):
        warn(note)
    if all(file is not None for file in known):
        return paths, CompilerWork(0.0, 0.0)
    return paths, CompilerWork(time.perf_counter() - start, time.process_time() - cpu)


def _text(functions: Sequence[Function]) -> str:
    """Return functions as one text, behind what they use."""
    return "\n".join([unit_begin(), *(function.text for function in functions)])


def _compiled(text: str, architecture: str) -> Compiled:
    """Compile a text; kernels that spill once more, with places that are not kept from tile to
    tile, which takes longer to run, and then with a multiprocessor's registers for one block.
    """
    try:
        tried = [nvrtc.compiled(text, architecture)]
        few, alone = FEW_REGISTERS + "_{}", BLOCKS_OF + "_{}=1"
        for words in ([few], [alone], [alone, few]):
            spilled = spilling(tried[-1].log)
            names = [word.format(one) for word in words for one in spilled]
            if not spilled:
                break
            tried.append(nvrtc.compiled(text, architecture, names))
        return min(tried, key=lambda one: sum(spilling(one.log).values()))
    except CompilerError as error:
        file = cache.keep_sources(_key(text, architecture), {FILE: text}) / FILE
        at = _AT_LINE.search(error.output)
        statement = marked_lines(text)[int(at[1]) - 1][1] if at else None
        message = f"{error.message}\nkept in {file}"
        raise CompilerError(message, error.output, file, statement) from None


def _stored(name: str, code: bytes) -> tuple[Path, str]:
    """Store machine code; return its file, and a note where that is temporary."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, name)
        made.write_bytes(code)
        return cache.store(cache.CUBINS, name, made)


def _key(text: str, architecture: str) -> str:
    parts = (nvrtc.release(), *nvrtc.OPTIONS, architecture, text)
    return sha256("\0".join(parts).encode()).hexdigest()
