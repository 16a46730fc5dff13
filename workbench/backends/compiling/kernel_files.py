"""Files of programs' kernels in the cache of compiled code: what is compiled already need not be
generated anew by the next process, which takes longer than to read it.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from workbench import cache_files
from workbench.backends.compiling import cache
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.collection import without_collection
from workbench.identity import remembered
from workbench.program.made_files import digest, dumped, loaded, made_of, sealed, unsealed
from workbench.program.values import Program

SUFFIX = ".kernels"


class KernelFile(NamedTuple):
    """A program's kernels, the name of their file, and whether they are in it already."""

    kernels: ProgramKernels
    name: str
    stored: bool


@remembered(8)
def kernels_of(program: Program) -> KernelFile:
    """Return a program's kernels, from their file if there is one. The last few are kept here."""
    name = digest(made_of(program)) + SUFFIX
    found = _found(program, name)
    if found is not None:
        return KernelFile(found, name, stored=True)
    return KernelFile(program_kernels(program), name, stored=False)


def keep(program: Program, kernels: ProgramKernels, name: str) -> None:
    """Store a program's kernels. They are not stored where the cache cannot be written."""
    data = dumped(kernels, program)
    if data is None:
        return
    with (
        contextlib.suppress(OSError),
        cache_files.writing(cache.folder() / cache.KERNELS / name) as file,
    ):
        file.write(sealed(data))


@without_collection()
def _found(program: Program, name: str) -> ProgramKernels | None:
    known = cache.find(cache.KERNELS, name)
    if known is None:
        return None
    path, _ = known
    try:
        kernels: ProgramKernels = loaded(unsealed(path.read_bytes()), program)
    except OSError:  # another process removed it
        return None
    except ValueError:
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    return kernels
