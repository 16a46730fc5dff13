"""The rule of episodes that end: no instance that is executed reads what need not exist."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import ProgramError, nearest
from workbench.polyhedral.dependences.existing import GuardedWrite, PointRead, missing
from workbench.polyhedral.expression import Expression, variable
from workbench.program.episodes.held import Held, end_index, opens_of, own_held, reads_with
from workbench.program.sizes import known_of_sizes
from workbench.program.text.infix import at_text, element_text
from workbench.program.values import End, Equations, Read, Statement


def ends_are_known(equations: Equations) -> None:
    """Require that each guard is an element of some `open`, at dimensions that the instance has."""
    opens = opens_of(equations)
    for end in equations.ends:
        for name in (end.open, end.after):
            if name not in equations.array:
                offered = nearest(name, equations.array, "arrays")
                raise ProgramError(f"unknown array {name!r}: {offered}", end.line)
    for s in equations.statements:
        if s.guard is None:
            continue
        entries = [e for e in s.guard.index if isinstance(e, Expression)]
        missed = {v for e in entries for v in e.variables} - set(s.dims)
        if s.guard.array not in opens or missed or len(entries) != len(s.guard.index):
            raise ProgramError(
                f"{s.name} is executed where {element_text(s.guard.array, s.guard.index)} is true, "
                "which is no step of an episode that ends",
                s.line,
            )


def reads_exist(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require that what an executed instance reads is written by an executed one."""
    if not equations.ends:
        return
    opens = opens_of(equations)
    for s in statements:
        for read, held in dict.fromkeys(reads_with(s.body, own_held(s), opens)):
            for writer in equations.writers[read.array]:
                guard = writer.guard
                if guard is not None and guard.array != writer.array:
                    _expect(equations, s, read, held, writer, opens[guard.array])


def why_missing(equations: Equations) -> ProgramError | None:
    """Explain what an executed instance reads that need not exist; None where all does."""
    try:
        reads_exist(equations, equations.statements)
    except ProgramError as error:
        return error
    return None


def _expect(
    equations: Equations, s: Statement, read: Read, held: Held, writer: Statement, end: End
) -> None:
    assert writer.guard is not None
    array = equations.array[end.open]
    along = array.dims.index(end.dim)
    if not all(isinstance(e, Expression) for e in read.index):
        if not _is_up_to_end(equations, read, writer, end):
            raise ProgramError(
                f"{element_text(read.array, read.index)} has an index that depends on data, and "
                f"{read.array} exists only up to the end of an episode along {end.dim}; it may be "
                f"read at that end, {_example(read, equations, end)}",
                s.line,
            )
        return
    dims = s.dims + s.reduction_dims
    facts = tuple(
        tuple(e for e in r.index if isinstance(e, Expression))
        for r in held
        if r.array == end.open and all(isinstance(e, Expression) for e in r.index)
    )
    asked = PointRead(dims, s.reduction or s.domain, _plain(read.index), facts)
    write = GuardedWrite(writer.dims, writer.domain, writer.write, _plain(writer.guard.index))
    point = missing(asked, write, along, known_of_sizes(equations.parameters))
    if point is not None:
        sizes, instance = point
        raise ProgramError(
            f"{element_text(read.array, read.index)} is read at {at_text(dims, instance, sizes)}, "
            f"but {read.array} exists only up to the end of an episode along {end.dim}, which may "
            "have come before",
            s.line,
        )


def _plain(index: tuple[object, ...]) -> tuple[Expression, ...]:
    return tuple(e for e in index if isinstance(e, Expression))


def _is_up_to_end(equations: Equations, read: Read, writer: Statement, end: End) -> bool:
    """Tell whether a read is of an element that the last step of its own episode, or one before,
    writes.
    """
    array, own = equations.array[end.open], equations.array[read.array]
    assert writer.guard is not None
    at = dict(zip(own.dims, read.index, strict=True))
    written = dict(zip(own.dims, writer.write, strict=True))
    last = at[end.dim]
    if not set(array.dims) <= set(own.dims) or isinstance(last, Expression):
        return False
    inner = end_index(last, equations)
    if inner is None or inner[0] != end:
        return False
    outer = [d for d in array.dims if d != end.dim]
    delay = written[end.dim] - variable(end.dim)
    return (
        writer.guard.index == tuple(variable(d) for d in array.dims)
        and [at[d] for d in outer] == list(inner[1])
        and all(written[d] == variable(d) for d in outer)
        and not delay.terms
        and inner[2] <= delay.constant
    )


def _example(read: Read, equations: Equations, end: End) -> str:
    dims = equations.array[read.array].dims
    return f"{read.array}[{', '.join('end' if d == end.dim else d for d in dims)}]"
