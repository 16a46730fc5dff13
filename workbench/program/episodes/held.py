"""Episodes that end, in bodies: which elements of `open` are true where a part is evaluated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import reduce

from workbench.polyhedral.expression import Expression
from workbench.program.bodies import Body, Call, IndexValue, Literal, Read
from workbench.program.values import End, Equations

Held = tuple[Read, ...]
"""Elements of `open` that are true where a part of a body is evaluated."""


def held_by(chosen: Body, opens: Mapping[str, End]) -> Held | None:
    """Return the elements of `open` that a condition is true with; None for another condition."""
    if isinstance(chosen, Read) and chosen.array in opens:
        return (chosen,)
    if isinstance(chosen, Call) and chosen.operation == "logical_and":
        parts = [held_by(part, opens) for part in chosen.arguments]
        if all(part is not None for part in parts):
            return tuple(read for part in parts if part is not None for read in part)
    return None


def condition(held: Held) -> Body:
    """Return the condition that all of what is open is true; there is at least one."""
    opened: list[Body] = list(dict.fromkeys(held))
    return reduce(lambda a, b: Call("logical_and", (a, b), "bool"), opened)


def chooses(body: Body, opens: Mapping[str, End]) -> Held | None:
    """Return what is open on the chosen side of a `where` that evaluates that side only."""
    if isinstance(body, Call) and body.operation == "where":
        return held_by(body.arguments[0], opens)
    return None


def opens_of(equations: Equations) -> Mapping[str, End]:
    """Return the ends by the arrays that are true up to them."""
    return {end.open: end for end in equations.ends}


def held_in(call: Call, position: int, held: Held, opens: Mapping[str, End]) -> Held:
    """Return what is open where an operand of a call is evaluated. What `existing` takes is not
    evaluated past an end: that fails.
    """
    if call.operation == "existing" and position == 0:
        more = held_by(call.arguments[1], opens)
    else:
        more = chooses(call, opens) if position == 1 else None
    return (*held, *(more or ()))


def reads_with(body: Body, held: Held, opens: Mapping[str, End]) -> Iterator[tuple[Read, Held]]:
    """Yield each read of a body, but for those that a run checks, with what is open where it is
    evaluated.
    """
    if isinstance(body, Read):
        yield from _reads_in_index(body, held, opens)
        yield body, held
    elif isinstance(body, Call):
        for position, argument in enumerate(body.arguments):
            inside = held_in(body, position, held, opens)
            if body.operation == "existing" and position == 0 and isinstance(argument, Read):
                yield from _reads_in_index(argument, held, opens)
            else:
                yield from reads_with(argument, inside, opens)


def _reads_in_index(
    read: Read, held: Held, opens: Mapping[str, End]
) -> Iterator[tuple[Read, Held]]:
    for entry in read.index:
        if not isinstance(entry, Expression):
            yield from reads_with(entry, held, opens)


def guards_over(guards: Iterable[Read], dims: Collection[str]) -> tuple[Read, ...]:
    """Return the guards that say as much of an instance over `dims`."""
    return tuple(
        guard
        for guard in guards
        if all(e.variables <= set(dims) for e in guard.index if isinstance(e, Expression))
    )


def end_index(body: Body, equations: Equations) -> tuple[End, tuple[Expression, ...], int] | None:
    """Return the end, its episode and the number added, of an index that is a last step, plus a
    number; None for another index.
    """
    if isinstance(body, Call) and body.operation in ("add", "subtract"):
        left, right = body.arguments
        if body.operation == "add" and _number(left) is not None:
            left, right = right, left
        inner, by = end_index(left, equations), _number(right)
        if inner is None or by is None:
            return None
        return inner[0], inner[1], inner[2] + (by if body.operation == "add" else -by)
    if isinstance(body, Read):
        return _defined_end(body, equations)
    if not isinstance(body, Call) or body.operation != "minimum":
        return None
    counted, last = body.arguments
    if not isinstance(counted, Read) or not isinstance(last, IndexValue):
        return None
    for end in equations.ends:
        size = equations.dim[end.dim].size
        if counted.array == end.after and last.expression == size - 1:
            return end, tuple(e for e in counted.index if isinstance(e, Expression)), 0
    return None


def _number(body: Body) -> int | None:
    if isinstance(body, Literal) and not body.shape:
        return int(body.value)
    if isinstance(body, IndexValue) and not body.expression.terms:
        return body.expression.constant
    return None


def _defined_end(
    read: Read, equations: Equations
) -> tuple[End, tuple[Expression, ...], int] | None:
    """Return the same of an array that holds last steps."""
    writers = equations.writers[read.array]
    if len(writers) != 1 or writers[0].combiner is not None:
        return None
    (writer,) = writers
    inner = end_index(writer.body, equations)
    plain = [e for e in read.index if isinstance(e, Expression)]
    own = [e for e in writer.write if len(e.variables) == 1 and str(e) in e.variables]
    if inner is None or len(plain) != len(read.index) or len(own) != len(writer.write):
        return None
    at = {str(e): index for e, index in zip(writer.write, plain, strict=True)}
    end, episode, by = inner
    return end, tuple(e.substitute(at) for e in episode), by
