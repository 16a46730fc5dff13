"""Dtypes: their order, and each operation's rule for its result's dtype."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import ProgramError
from workbench.program.operations.shapes import Options

INTEGERS = ("int32", "int64")
_RANK = {"bool": 0, "int32": 1, "int64": 2, "float": 3}


def promote(dtypes: Sequence[str]) -> str:
    """Return the widest dtype, booleans counting as int32 once they meet arithmetic."""
    return max(dtypes, key=_RANK.__getitem__)


def arithmetic(dtypes: Sequence[str], options: Options) -> str:
    return promote(["int32", *dtypes])


def floating(dtypes: Sequence[str], options: Options) -> str:
    return "float"


def boolean(dtypes: Sequence[str], options: Options) -> str:
    return "bool"


def logical(dtypes: Sequence[str], options: Options) -> str:
    if any(d != "bool" for d in dtypes):
        raise ProgramError(f"expected booleans, found {' and '.join(dtypes)}")
    return "bool"


def integer(dtypes: Sequence[str], options: Options) -> str:
    if any(d not in ("bool", *INTEGERS) for d in dtypes):
        raise ProgramError(f"expected integers, found {' and '.join(dtypes)}")
    return promote(["int32", *dtypes])


def of_first(dtypes: Sequence[str], options: Options) -> str:
    return dtypes[0]


def branches(dtypes: Sequence[str], options: Options) -> str:
    if dtypes[0] != "bool":
        raise ProgramError(f"where expects a boolean condition, found {dtypes[0]}")
    return promote(dtypes[1:])


def updated(dtypes: Sequence[str], options: Options) -> str:
    table, value, *indices = dtypes
    if table != value or any(d not in INTEGERS for d in indices):
        raise ProgramError(
            f"expected a table, a value of its dtype and integers, found {', '.join(dtypes)}"
        )
    return table


def as_asked(dtypes: Sequence[str], options: Options) -> str:
    return str(options["dtype"])


def within(dtypes: Sequence[str], options: Options) -> str:
    if any(d not in INTEGERS for d in dtypes):
        raise ProgramError(f"expected integers, found {', '.join(dtypes)}")
    return dtypes[0]


def hot(dtypes: Sequence[str], options: Options) -> str:
    if dtypes[0] not in INTEGERS:
        raise ProgramError(f"one_hot expects integers, found {dtypes[0]}")
    return "float"


def index(dtypes: Sequence[str], options: Options) -> str:
    return "int32"
