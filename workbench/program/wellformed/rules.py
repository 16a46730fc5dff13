"""The rules of a well-formed program, checked after every construction and every step.

Each rule may rely on those before it. A rule raises ProgramError with the user's line; the
polyhedral ones show one smallest instance. Cycles without delay are found when the statements are
ordered, not here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from workbench.errors import ProgramError, SourceLine, nearest
from workbench.polyhedral.accesses import Extent
from workbench.polyhedral.dependences.flow import outside, overlap, undefined_read
from workbench.polyhedral.dependences.witness import Witness, smallest
from workbench.polyhedral.expression import Expression, expression, size, variable
from workbench.polyhedral.sets.as_text import sizes_satisfying
from workbench.polyhedral.sets.relations import box as box_of
from workbench.polyhedral.sets.relations import (
    dims_of,
    domain_with,
    image,
    is_equal,
    is_subset,
    parse_set,
    possible,
    project_out,
    subtract,
    with_dims,
)
from workbench.program.bodies import Body, Call, IndexValue, Read, walk
from workbench.program.keys import statement_key
from workbench.program.operations.table import OPERATIONS
from workbench.program.sizes import known_of_sizes, numbers
from workbench.program.text.infix import at_text, body_text, element_text, equation
from workbench.program.text.ranges import extent_text, unnamed_ranges
from workbench.program.values import Array, Equations, Statement
from workbench.program.wellformed import sentences
from workbench.program.wellformed.ended import ends_are_known, reads_exist
from workbench.program.wellformed.types import check_types

COMBINERS = ("sum", "max", "min", "argmax", "collect")
FOR_ALL_SIZES = "; a program is one for all sizes from 1 on, not for those given alone"
"""The hint for what is right at the sizes with which a program was called."""
MAXIMUM_RANDOM_DIMS = 5
"""The number of dimensions of an instance that a random counter can hold."""


def check(equations: Equations, before: Equations | None = None) -> None:
    """Raise ProgramError, with the user's line, for the first rule that the equations break.

    `before` are well-formed equations that these were made from. A statement of both, over the
    same arrays and sizes, needs no second check by rules about it alone, nor do the statements that
    write an array if they are the same.
    """
    fresh = _fresh(equations, before)
    names_are_unique(equations)
    arrays_are_known(equations, fresh)
    indices_fit(equations, fresh)
    domains_fit(equations, fresh)
    check_types(equations, fresh)
    draws_are_apart(equations, fresh)
    calls_are_apart(equations)
    writes_are_inside(equations, fresh)
    written = _written_anew(equations, before, fresh)
    pieces_are_apart(equations, written)
    reads_are_inside(equations, fresh)
    reads_are_defined(equations, _reading(equations, fresh, written))
    ranges_are_not_empty(equations, fresh)
    ends_are_known(equations)
    reads_exist(equations, equations.statements)


def _fresh(equations: Equations, before: Equations | None) -> tuple[Statement, ...]:
    """Return the statements that are not the same in `before`, or not over the same arrays."""
    if before is None or before.parameters != equations.parameters:
        return equations.statements
    same = {array for array, now in equations.array.items() if before.array.get(array) is now}
    return tuple(
        s
        for s in equations.statements
        if before.statement.get(s.name) is not s or not same.issuperset(s.touched)
    )


def _written_anew(
    equations: Equations, before: Equations | None, fresh: tuple[Statement, ...]
) -> Collection[str]:
    """Return the arrays that are not written by the same statements as in `before`."""
    if len(fresh) == len(equations.statements):
        return equations.array
    gone = (s for s in before.statements if s.name not in equations.statement) if before else ()
    return {s.array for s in (*fresh, *gone)}


def _reading(
    equations: Equations, fresh: tuple[Statement, ...], written: Collection[str]
) -> tuple[Statement, ...]:
    """Return the statements that are fresh or read an array that is written anew, in order."""
    names = {s.name for s in fresh}
    names.update(s.name for array in written for s in equations.users.get(array, ()))
    return tuple(s for s in equations.statements if s.name in names)


# -- names and indices --------------------------------------------------------------------------


def names_are_unique(equations: Equations) -> None:
    """Require unique names within each kind.

    A dimension and a size share one kind, since both occur in expressions.
    """
    kinds = {
        "dimensions and sizes": [d.name for d in equations.dims]
        + [p.name for p in equations.parameters],
        "arrays": [a.name for a in equations.arrays],
        "statements": [s.name for s in equations.statements],
        "outputs": [o.name for o in equations.outputs],
        "external objects": [e.name for e in equations.externals],
    }
    for kind, names in kinds.items():
        for name, count in Counter(names).items():
            if count > 1:
                raise ProgramError(f"two of the program's {kind} are called {name}")


def arrays_are_known(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require that each array written, read or returned exists and some statement writes it."""
    for statement in statements:
        for name in statement.touched:
            if name not in equations.array:
                offered = nearest(name, equations.array, "arrays")
                raise ProgramError(f"unknown array {name!r}: {offered}", statement.line)
    for output in equations.outputs:
        if output.array not in equations.array:
            offered = nearest(output.array, equations.array, "arrays")
            raise ProgramError(f"output {output.name}: unknown array {output.array!r}: {offered}")
    for array in equations.arrays:
        if not equations.writers[array.name]:
            raise ProgramError(f"nothing defines {array.name}")
        if len(array.dims) != len(array.extent) or len(set(array.dims)) != len(array.dims):
            raise ProgramError(
                f"{array.name} has the dimensions {_listed(array.dims)}, its extent is "
                f"{len(array.extent)} ranges"
            )


def indices_fit(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require as many indices as dimensions, and only dimensions and sizes in them."""
    for s in statements:
        for access in (Read(s.array, s.write, ""), *s.reads):
            dims = equations.array[access.array].dims
            if len(access.index) != len(dims):
                raise ProgramError(
                    f"{element_text(access.array, access.index)} has {len(access.index)} indices, "
                    f"but {access.array} has the dimensions {_listed(dims)}",
                    s.line,
                )
        for e in s.write:
            _names_known(equations, s, e, s.dims, Read(s.array, s.write, ""))
        for body in walk(s.body):
            for e in _expressions(body):
                _names_known(equations, s, e, s.dims + s.reduction_dims, body)


def _expressions(body: object) -> Iterator[Expression]:
    if isinstance(body, IndexValue):
        yield body.expression
    elif isinstance(body, Read):
        yield from (e for e in body.index if isinstance(e, Expression))
        yield from (e for e in body.shape if isinstance(e, Expression))
    elif isinstance(body, Call):
        yield from (e for e in body.shape if isinstance(e, Expression))


def _names_known(
    equations: Equations, s: Statement, e: Expression, dims: tuple[str, ...], within: Body
) -> None:
    known = [p.name for p in equations.parameters]
    missing = e.variables.difference(dims)
    if not missing and e.sizes.issubset(known):
        return
    text = element_text(within.array, within.index) if isinstance(within, Read) else "the body"
    for name in sorted(missing):
        raise ProgramError(
            f"{text} needs the dimension {name}, which the equation lacks: {_plain(s)} has the "
            f"dimensions {_listed(dims)}",
            s.line,
        )
    for name in sorted(e.sizes - set(known)):
        raise ProgramError(
            f"{text}: unknown size {name!r}: {nearest(name, known, 'sizes')}", s.line
        )


def domains_fit(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require sets over the dimensions as domain and reduction, the latter within the former."""
    for s in statements:
        both = s.dims + s.reduction_dims
        if len(set(both)) != len(both):
            raise ProgramError(f"{_plain(s)} has a dimension twice: {_listed(both)}", s.line)
        if dims_of(s.domain) != s.dims or (s.combiner and dims_of(s.reduction) != both):
            raise ProgramError(
                f"{_plain(s)}: its domain is over {_listed(dims_of(s.domain))}, "
                f"its dimensions are {_listed(both)}",
                s.line,
            )
        if (s.combiner is None) != (not s.reduction_dims) or (
            s.combiner is not None and s.combiner not in COMBINERS
        ):
            raise ProgramError(f"{_plain(s)}: a range needs one of {_listed(COMBINERS)}", s.line)
        if s.combiner in ("argmax", "collect") and len(s.reduction_dims) != 1:
            raise ProgramError(f"{_plain(s)}: {s.combiner} runs over one dimension", s.line)
        if s.combiner == "collect" and not is_equal(s.reduction, _collected(equations, s)):
            raise ProgramError(
                f"{_plain(s)}: what is collected does not fill the leading axis of {s.array}",
                s.line,
            )
        if s.combiner and not is_subset(project_out(s.reduction, s.reduction_dims), s.domain):
            raise ProgramError(f"{_plain(s)}: its range goes beyond its domain", s.line)


def _collected(equations: Equations, s: Statement) -> str:
    """Return the points `0 <= k < n` at every instance, n the array's leading inner length."""
    k, shape = variable(s.reduction_dims[0]), equations.array[s.array].shape
    length = expression(shape[0]) if shape else expression(0)
    everything = with_dims(s.domain, s.dims + s.reduction_dims)
    return domain_with(everything, at_least=[(k, expression(0)), (length - 1, k)])


# -- random draws and calls ---------------------------------------------------------------------


def draws_are_apart(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require one draw a statement, of an instance that the counter can hold, under its own key.

    A clone has the origin and the instances of its original, and draws the same.
    """
    if not any(_draws(s) for s in statements):
        return
    owners: dict[int, tuple[Statement, Call]] = {}
    for s in equations.statements:
        draws = _draws(s)
        if not draws:
            continue
        if len(draws) > 1 or s.combiner is not None:
            raise ProgramError(
                f"{equation(s, equations)}: "
                "a random draw needs an equation of its own, without a range",
                s.line,
            )
        if len(s.dims) > MAXIMUM_RANDOM_DIMS:
            raise ProgramError(
                f"{equation(s, equations)}: a random draw over {len(s.dims)} dimensions "
                f"({_listed(s.dims)}), at most {MAXIMUM_RANDOM_DIMS} are supported",
                s.line,
            )
        other, draw = owners.setdefault(statement_key(s.origin), (s, draws[0]))
        if (other.origin, other.dims, draw) != (s.origin, s.dims, draws[0]):
            raise ProgramError(
                f"{other.name} and {s.name} would draw the same numbers: the origins "
                f"{other.origin!r} and {s.origin!r} have one 32-bit hash; name one differently",
                s.line,
            )


def _draws(s: Statement) -> list[Call]:
    return [call for call in s.calls if OPERATIONS[call.operation].random]


def calls_are_apart(equations: Equations) -> None:
    """Require that a call is a statement's whole body, to an external object of the program."""
    externals = {e.name for e in equations.externals}
    for s in equations.statements:
        for call in s.calls:
            if not OPERATIONS[call.operation].external:
                continue
            if call is not s.body or s.combiner is not None:
                raise ProgramError(
                    f"{equation(s, equations)}: {body_text(call)} needs an equation of its own, "
                    "without a range",
                    s.line,
                )
            name = call.options["name"]
            if name not in externals:
                offered = nearest(name, externals, "external objects")
                raise ProgramError(f"unknown external object {name!r}: {offered}", s.line)


# -- elements and instances ---------------------------------------------------------------------


def writes_are_inside(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require that every written element lies in its array's extent."""
    for s in statements:
        array = equations.array[s.array]
        if not _writes_inside(s.domain, s.dims, s.write, array.dims, array.extent):
            raise ProgramError(
                f"{element_text(s.array, s.write)} is written beyond the elements of {s.array}, "
                f"{extent_text(array.dims, array.extent)}",
                s.line,
            )


@lru_cache(maxsize=65536)
def _writes_inside(
    domain: str,
    dims: tuple[str, ...],
    write: tuple[Expression, ...],
    array_dims: tuple[str, ...],
    extent: Extent,
) -> bool:
    bounds = [(d, lo, up) for d, (lo, up) in zip(array_dims, extent, strict=True)]
    return is_subset(image(domain, dims, write, None, array_dims), box_of(bounds))


def pieces_are_apart(equations: Equations, arrays: Collection[str]) -> None:
    """Require that no element of some arrays is defined twice."""
    known = known_of_sizes(equations.parameters)
    writers = [s.instances for s in equations.statements if s.array in arrays]
    twice = overlap(writers, _extents(equations), known)
    if twice is None:
        return
    first, second = (equations.statement[name] for name in twice.statements)
    at = [at_text(s.dims, [x[d] for d in s.dims], {}) for s, x in _sides(equations, twice)]
    element = f"{twice.array}[{', '.join(map(str, twice.element))}]"
    sizes = _sizes_text(twice.sizes)
    other = "" if first is second else f"by {equation(second, equations)} "
    raise ProgramError(
        f"{element if twice.element else twice.array} is defined twice{sizes}: by "
        f"{equation(first, equations)} at {at[0]} and {other}at {at[1]}",
        second.line,
    )


def reads_are_inside(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require that every readable element lies in its array's extent."""
    known = known_of_sizes(equations.parameters)
    beyond = outside([s.instances for s in statements], _extents(equations), known)
    if beyond is not None:
        statement, array, reader = _reader(equations, beyond)
        sizes = _at_least_one(equations, array, beyond.sizes)
        extent = [(lo.evaluate(sizes), up.evaluate(sizes)) for lo, up in array.extent]
        ranges = unnamed_ranges(statement, equations)
        text = sentences.outside(array, beyond.element, reader, sizes, extent, ranges)
        given = _given_sizes(equations)
        if outside([statement.instances], _extents(equations), given) is None:
            text += FOR_ALL_SIZES
        line = reader[0].line or statement.line
        text += _without_update(equations, array) + _where_written(equations, array, line)
        raise ProgramError(text, line)


def reads_are_defined(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require that every element that some statements can read is written by some instance."""
    known, extents = known_of_sizes(equations.parameters), _extents(equations)
    readers = [s.instances for s in statements]
    everything = [s.instances for s in equations.statements]
    undefined = undefined_read(readers, everything, extents, known)
    if undefined is not None:
        statement, array, reader = _reader(equations, undefined)
        ranges = unnamed_ranges(statement, equations)
        text = sentences.undefined(array, undefined.element, reader, undefined.sizes, ranges)
        given = _given_sizes(equations)
        if undefined_read(readers, everything, extents, given) is None:
            text += FOR_ALL_SIZES
        line = reader[0].line or statement.line
        text += _without_update(equations, array) + _where_written(equations, array, line)
        raise ProgramError(text, line)


def _given_sizes(equations: Equations) -> str:
    """Return the text of a set of sizes: those with which the program was called alone."""
    equal = [(size(p.name), expression(p.default)) for p in equations.parameters]
    return sizes_satisfying(equal, [])


def _without_update(equations: Equations, array: Array) -> str:
    """Return the hint for a parameter that has only its first value, else ""."""
    never = len(equations.writers[array.name]) == 1 and equations.updates in array.dims
    return "; theta.update was not called" if array.scope[:1] == ("parameters",) and never else ""


def _where_written(equations: Equations, array: Array, read: SourceLine | None) -> str:
    """Return the line that computes an array of a scope, if the line that reads it does not name
    it, else "": a network's output is `critic.output` where the user reads `value`.
    """
    written = next((s.line for s in equations.writers[array.name]), None)
    own = re.escape(array.name.rpartition(".")[2])
    if array.scope[:1] in ((), ("parameters",)) or array.described or not (written and read):
        return ""
    if written == read or re.search(rf"\b{own}\b", read.text):
        return ""
    return f"; {array.name} is computed by {written}"


def ranges_are_not_empty(equations: Equations, statements: Iterable[Statement]) -> None:
    """Require that a maximum, minimum or position has points at every instance."""
    for s in statements:
        if s.combiner in (None, "sum", "collect"):
            continue
        without = subtract(s.domain, project_out(s.reduction, s.reduction_dims))
        sizes_where_empty = smallest(
            possible(parse_set(without), known_of_sizes(equations.parameters))
        )
        if sizes_where_empty is not None:
            sizes, instance = sizes_where_empty
            raise ProgramError(sentences.empty(s, equations, instance, sizes), s.line)


def _extents(equations: Equations) -> dict[str, tuple[tuple[Expression, Expression], ...]]:
    return {a.name: a.extent for a in equations.arrays}


def _sides(equations: Equations, w: Witness) -> Iterator[tuple[Statement, Mapping[str, int]]]:
    for name, instance in zip(w.statements, w.instances, strict=True):
        yield equations.statement[name], instance


def _reader(equations: Equations, w: Witness) -> tuple[Statement, Array, sentences.Reader]:
    """Return the statement, the array and the read that a witness speaks of."""
    ((statement, instance),) = _sides(equations, w)
    dims = statement.dims + statement.reduction_dims
    values = {**_at_least_one(equations, equations.array[w.array], w.sizes), **instance}
    for read in statement.reads:
        if read.array == w.array and _touches(read, values, w.element):
            point = tuple(instance[d] for d in dims)
            return statement, equations.array[w.array], (read, dims, point)
    raise AssertionError(f"no read of {w.array} touches {w.element}")


def _touches(read: Read, values: Mapping[str, int], element: tuple[int, ...]) -> bool:
    return all(
        not isinstance(e, Expression)
        or (e.sizes | e.variables <= set(values) and e.evaluate(values) == position)
        for e, position in zip(read.index, element, strict=True)
    )


def _at_least_one(equations: Equations, array: Array, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the witness's sizes, and 1 for others that the array depends on."""
    needed = {name for lo, up in array.extent for e in (lo, up) for name in e.sizes}
    sizes_known = {**dict.fromkeys(needed, 1), **sizes}
    return {p.name: sizes_known[p.name] for p in equations.parameters if p.name in sizes_known}


def _sizes_text(sizes: Mapping[str, int]) -> str:
    return f" ({numbers(sizes)})" if sizes else ""


def _plain(s: Statement) -> str:
    """Return the equation without its ranges, which may not be in order yet."""
    return f"{element_text(s.array, s.write)} = {body_text(s.body)}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
