"""The rule of episodes that end: no instance that is executed reads what need not exist."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import ProgramError, nearest
from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Read
from workbench.program.episodes.existing import EpisodeRead, episode_reads, unproven
from workbench.program.episodes.held import opens_of, reads_with
from workbench.program.text.infix import at_text, element_text
from workbench.program.values import End, Equations, Statement


def ends_are_known(equations: Equations) -> None:
    """Require that each guard is an element of some `open`, at dimensions that the instance has."""
    opens = opens_of(equations)
    for end in equations.ends:
        for name in (end.open, end.after):
            if name not in equations.array:
                offered = nearest(name, equations.array, "arrays")
                raise ProgramError(f"unknown array {name!r}: {offered}", end.line)
    for s in equations.statements:
        for guard in s.guards:
            entries = [e for e in guard.index if isinstance(e, Expression)]
            missed = {v for e in entries for v in e.variables} - set(s.dims)
            if guard.array not in opens or missed or len(entries) != len(guard.index):
                raise ProgramError(
                    f"{s.name} is executed where {element_text(guard.array, guard.index)} is true, "
                    "which is no step of an episode that ends",
                    s.line,
                )


def reads_exist(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require that what an executed instance reads is written by an executed one, or checked while
    the program runs.
    """
    if not equations.ends:
        return
    opens = opens_of(equations)
    for s in statements:
        for read, held in dict.fromkeys(reads_with(s.body, s.guards, opens)):
            for one in episode_reads(equations, s, read, held):
                _expect(equations, one)


def why_missing(equations: Equations) -> ProgramError | None:
    """Explain what an executed instance reads that need not exist; None where all does."""
    try:
        reads_exist(equations, equations.statements)
    except ProgramError as error:
        return error
    return None


def _expect(equations: Equations, one: EpisodeRead) -> None:
    found = unproven(equations, one)
    if found is None:
        return
    read, end = one.read, one.end
    if one.by_data:
        raise ProgramError(
            f"{element_text(read.array, read.index)} has an index that depends on data, and "
            f"{read.array} exists only up to the end of an episode along {end.dim}; it may be "
            f"read at that end, {_example(read, equations, end)}",
            one.statement.line,
        )
    sizes, instance = found
    raise ProgramError(
        f"{element_text(read.array, read.index)} is read at {at_text(one.dims, instance, sizes)}, "
        f"but {read.array} exists only up to the end of an episode along {end.dim}, which may "
        "have come before",
        one.statement.line,
    )


def _example(read: Read, equations: Equations, end: End) -> str:
    dims = equations.array[read.array].dims
    return f"{read.array}[{', '.join('end' if d == end.dim else d for d in dims)}]"
