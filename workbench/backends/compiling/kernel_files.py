"""Files of programs' kernels in the cache of compiled code: what is compiled already need not be
generated anew by the next process, which takes longer than to read it.
"""

from __future__ import annotations

import contextlib

from workbench import cache_files
from workbench.backends.compiling import cache
from workbench.codegen.kernels import ProgramKernels, program_kernels
from workbench.collection import without_collection
from workbench.identity import remembered
from workbench.program.made_files import digest, dumped, loaded, made_of, sealed, unsealed
from workbench.program.values import Program

SUFFIX = ".kernels"


@remembered(8)
def kernels_of(program: Program) -> tuple[ProgramKernels, bool]:
    """Return a program's kernels, and whether they are in a file. The last few are kept here."""
    found = _found(program)
    return (program_kernels(program), False) if found is None else (found, True)


def keep(program: Program, kernels: ProgramKernels) -> None:
    """Store a program's kernels. They are not stored where the cache cannot be written."""
    data = dumped(kernels, program)
    if data is None:
        return
    with (
        contextlib.suppress(OSError),
        cache_files.writing(cache.folder() / cache.KERNELS / _name(program)) as file,
    ):
        file.write(sealed(data))


@without_collection()
def _found(program: Program) -> ProgramKernels | None:
    known = cache.find(cache.KERNELS, _name(program))
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


def _name(program: Program) -> str:
    return digest(made_of(program)) + SUFFIX
