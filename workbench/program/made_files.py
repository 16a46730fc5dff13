"""Files of what was made from a program, for other processes.

What was made has the program's own parts in it: statements, arrays, the user's lines. A pickle
refers to them by number, and whoever reads it for an equal program gets the parts of that one:
nothing of the user's is stored, and messages point where the user's lines are now.

Reading a pickle may run any code. These lie where compiled code lies too, in the user's own cache,
and a digest in front tells what was damaged.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import sys
from dataclasses import asdict
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from workbench.cache_files import files_in
from workbench.polyhedral.tree import loops
from workbench.program.bodies import reads
from workbench.program.data.declared import DataSet
from workbench.program.values import Dim, External, Parameter, Program, Statement

PACKAGE = Path(__file__).parents[1]
"""The folder of the installed sources."""

DIGEST_BYTES = 32

READING_ERRORS = (
    pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, ImportError, LookupError,
    TypeError, ValueError,
)  # fmt: skip
"""What reading a pickle may raise, as one of another program."""

WRITING_ERRORS = (pickle.PicklingError, AttributeError, RecursionError, RuntimeError, TypeError)
"""What writing one may raise, as of an object of the user's that cannot be pickled."""


def made_of(program: Program) -> dict[str, Any]:
    """Return all of a program and of this installation that what is made from it depends on, but
    for what it refers to.
    """
    equations = program.equations
    return {
        "code": code_key(),
        "versions": [sys.version, version("islpy"), version("numpy")],
        "program": program.canonical,
        "blocks": [(loop.name, loop.apart, loop.chunks) for loop in loops(program.schedule)],
        "storage": asdict(program.storage),
        "updates": equations.updates,
        "names": [equations.description, *(array.described for array in equations.arrays)],
        "phases": [statement.phase for statement in equations.statements],
    }


def digest(value: Any) -> str:
    """Return the name of what JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()


@lru_cache(maxsize=1)
def code_key() -> str:
    """Return a digest of the installed code: of each source its size and time of change, by which
    Python itself decides whether what it compiled of the source still holds.
    """
    sources = {
        str(path): (status.st_size, status.st_mtime_ns)
        for path, status in files_in(PACKAGE)
        if path.suffix == ".py"
    }
    return digest(sources)


def sealed(data: bytes) -> bytes:
    """Return bytes with their digest in front."""
    return hashlib.sha256(data).digest() + data


def unsealed(data: bytes) -> bytes:
    """Return the bytes behind their digest. Raises ValueError where they are damaged."""
    rest = data[DIGEST_BYTES:]
    if sealed(rest) != data:
        raise ValueError("damaged")
    return rest


def dumped(value: Any, program: Program) -> bytes | None:
    """Return a value that was made from a program as bytes; None where it cannot be pickled."""
    file = io.BytesIO()
    try:
        _Pickler(file, program).dump(value)
    except WRITING_ERRORS:
        return None
    return file.getvalue()


def loaded(data: bytes, program: Program) -> Any:
    """Return the value of some bytes, with parts of this program. Raises ValueError where they are
    not of such a program.
    """
    try:
        return _Unpickler(io.BytesIO(data), program).load()
    except READING_ERRORS as error:
        raise ValueError(f"not of this program: {error}") from error


def _parts(program: Program) -> list[Any]:
    """Return a program and its own parts. Equal programs have as many, in the same order."""
    equations = program.equations
    placed: list[Parameter | Dim | Statement | External | DataSet] = [
        *equations.parameters,
        *equations.dims,
        *equations.statements,
        *equations.externals,
        *equations.data,
    ]
    whole = (program, equations, program.schedule, program.storage)
    read = (one for statement in equations.statements for one in reads(statement.body))
    lines = (part.line for part in (*placed, *read))
    return [*whole, *placed, *equations.arrays, *lines]


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, program: Program) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._number = {
            id(part): number
            for number, part in reversed([*enumerate(_parts(program))])
            if part is not None
        }

    def persistent_id(self, value: Any) -> int | None:
        return self._number.get(id(value))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, program: Program) -> None:
        super().__init__(file)
        self._parts = _parts(program)

    def persistent_load(self, number: Any) -> Any:
        return self._parts[number]
