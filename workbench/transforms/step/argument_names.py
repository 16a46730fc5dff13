"""The types of arguments that hold names: the kind of thing, the choices in a program, and the
statements that a name stands for.

Knows programs. A transform declares its arguments by these types: unknown names are refused, forms
offer the known ones, and views learn from them what a step names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from workbench.polyhedral.tree import loops
from workbench.program.storage import INNER
from workbench.program.values import Program, Statement


@dataclass(frozen=True)
class KnownNames:
    """A kind of name in an argument; `known` returns the names there are."""

    kind: str
    known: Callable[[Program], Iterable[str]]
    lacking: str = "unknown"
    """The word for an unknown name, in front of the kind."""
    of_which: str = ""
    """The word for those that are `known`, in front of the kind, where they are not all of it."""

    @property
    def listed(self) -> str:
        """Return the name of the list of what is `known`: `declared dim`."""
        return f"{self.of_which} {self.kind}".strip()

    def within(self, program: Program, step: object) -> tuple[str, list[str]]:
        """Return the choices for a step's names: their kind in a word, and the names."""
        return f"{self.kind}s", list(dict.fromkeys(self.known(program)))


@dataclass(frozen=True)
class NamesOf(KnownNames):
    """Names of parts of something that another argument names: the dims of an array.

    `owner` returns the name of that and its parts; None where all that are `known` may be meant.
    """

    argument: str = ""
    owner: Callable[[Program, str], tuple[str, Iterable[str]] | None] = lambda program, name: None

    def within(self, program: Program, step: object) -> tuple[str, list[str]]:
        """Return the parts of the one that the step names."""
        name = getattr(step, self.argument)
        owner = None if name is None else self.owner(program, name)
        if owner is None:
            return super().within(program, step)
        return f"{self.kind}s of {owner[0]}", list(dict.fromkeys(owner[1]))


# -- the names of a program ------------------------------------------------------------------------


def _arrays(program: Program) -> list[str]:
    """Return the arrays, and the values that are written straight into one."""
    return [*program.array, *(a.name for a in program.aliases if a.array in program.array)]


def _statements(program: Program) -> list[str]:
    """Return the statements, and the arrays, which stand for theirs."""
    return [*program.statement, *_arrays(program)]


def _declared(program: Program) -> list[str]:
    return [d.name for d in program.dims]


def dims_of(program: Program) -> list[str]:
    """Return the declared dims, then others of statements: those of ranges and of blocks."""
    used = (d for s in program.statements for d in s.dims)
    return list(dict.fromkeys([*_declared(program), *used]))


def _array_dims(program: Program) -> list[str]:
    return [d for a in program.arrays for d in a.dims]


def _dims_of_array(program: Program, name: str) -> tuple[str, tuple[str, ...]]:
    array = array_called(program, name)
    return array, program.array[array].dims


def _memory_dims(program: Program) -> list[str]:
    """Return the dims of arrays, and the name of inner axes."""
    return [*_array_dims(program), INNER]


def _combined_dims(program: Program) -> list[str]:
    """Return all dims, and those that statements combine."""
    return [*dims_of(program), *(d for s in program.statements for d in s.reduction_dims)]


def _dims_of_reduction(program: Program, name: str) -> tuple[str, list[str]] | None:
    """Return the name and dims of what a name stands for, if it combines anything."""
    combining = [program.statement[n] for n in meant(program, name, combines)]
    if not all(map(combines, combining)):
        return None
    return combining[0].name, [d for s in combining for d in (*s.dims, *s.reduction_dims)]


def _loops(program: Program) -> list[str]:
    return [loop.name for loop in loops(program.schedule)]


# -- the types -------------------------------------------------------------------------------------

StatementName = Annotated[str, KnownNames("statement", _statements)]
StatementNames = Annotated[tuple[str, ...], KnownNames("statement", _statements)]
ArrayName = Annotated[str, KnownNames("array", _arrays)]
DimName = Annotated[str, KnownNames("dim", dims_of)]
DeclaredDim = Annotated[str, KnownNames("dim", _declared, of_which="declared")]
ArrayDim = Annotated[
    str,
    NamesOf("dim", _array_dims, of_which="array", argument="array", owner=_dims_of_array),
]
MemoryDims = Annotated[tuple[str, ...], KnownNames("dim", _memory_dims, of_which="memory")]
CombinedDim = Annotated[
    str,
    NamesOf(
        "dim",
        _combined_dims,
        of_which="combined",
        argument="statement",
        owner=_dims_of_reduction,
    ),
]
ReducedDim = Annotated[str, KnownNames("dim", _combined_dims, of_which="combined")]
LoopName = Annotated[str, KnownNames("loop", _loops, lacking="no")]


# -- the meaning of a name -------------------------------------------------------------------------


def array_called(program: Program, name: str) -> str:
    """Return the array that a name stands for: itself, or the one its value is written to."""
    arrays = {alias.name: alias.array for alias in program.aliases}
    return name if name in program.array else arrays.get(name, name)


def meant(
    program: Program, name: str, preferred: Callable[[Statement], bool] | None = None
) -> tuple[str, ...]:
    """Return the statements that a name stands for: one, or the preferred ones of those that write
    an array. These are by default those that vary over the most dims; where none is, it is all.
    """
    if name in program.statement:
        return (name,)
    writers = program.writers.get(array_called(program, name), ())
    most = max((len(s.dims) for s in writers), default=0)
    chosen = [s for s in writers if (preferred(s) if preferred else len(s.dims) == most)]
    return tuple(s.name for s in chosen or writers)


def all_meant(
    program: Program,
    names: Iterable[str],
    preferred: Callable[[Statement], bool] | None = None,
) -> tuple[str, ...]:
    """Return the statements that the names stand for, each once."""
    return tuple(dict.fromkeys(n for name in names for n in meant(program, name, preferred)))


def combines(statement: Statement) -> bool:
    """Tell whether a statement combines values over a range."""
    return statement.combiner is not None
