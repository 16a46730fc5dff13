"""The inverse of a read: from a value at the reading points to one at the elements they read.

Element e receives the sum over all points p with f(p) = e. Indices of the form ±p + … are solved
for p; points' dims that stay open are summed over, under whatever constraints remain.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from workbench.language.episodes.ends import executed, zero_elsewhere
from workbench.language.tracing.nodes import apply, cast, index
from workbench.language.tracing.reductions import reduce_over
from workbench.language.tracing.tensor import Bound, Node, Tensor
from workbench.language.tracing.trace import Range, current, inline
from workbench.polyhedral.expression import Expression, expression, maximum, variable
from workbench.polyhedral.expressions.atoms import Extremum
from workbench.polyhedral.sets.relations import (
    box,
    domain_with,
    hull,
    is_empty,
    is_equal,
    is_subset,
    project_out,
    universe,
    with_dims,
)


@dataclass(frozen=True, eq=False)
class SourceRead:
    """A read of a source's elements by points: their dims with bounds and constraints, and the
    read.
    """

    tensor: Tensor
    bounds: tuple[Bound, ...]
    equal: tuple[tuple[Expression, Expression], ...] = ()
    at_least: tuple[Expression, ...] = ()


@dataclass(frozen=True, eq=False)
class Contribution:
    """A summand over elements; it exists on `domain` (isl text), None: on every element."""

    value: Tensor
    domain: str | None


@dataclass
class _Solution:
    """Points in terms of elements; points' dims carry a prime until solved or named anew."""

    solved: dict[str, Expression] = field(default_factory=dict)
    open: list[Bound] = field(default_factory=list)
    equal: list[tuple[Expression, Expression]] = field(default_factory=list)
    at_least: list[Expression] = field(default_factory=list)
    tests: list[tuple[Tensor, str]] = field(default_factory=list)
    count: Expression = field(default_factory=lambda: expression(1))
    """The number of points for each that is solved or open."""


def pull(
    read: SourceRead,
    value: Tensor,
    elements: tuple[str, ...],
    seeds: tuple[str, ...],
    extent: str | None,
) -> Contribution:
    """Return the contribution of `value`, over the read's points, to the elements (named by
    `elements`).

    `seeds` are dims that points and elements share. `extent` is the set of all elements; None where
    it is what is read, as of a value that is part of its readers.
    """
    solution = _counted(_solve(read, seeds), value)
    if solution.open:
        return _summed(solution, value, elements, seeds, extent)
    conditions = [(e, expression(0)) for e in solution.at_least if e.terms]
    own, domain = _own_box(elements), None
    if extent is None:
        domain = domain_with(_own_box(elements, seeds), solution.equal, conditions)
    elif solution.equal or conditions:
        part = domain_with(universe(elements), solution.equal, conditions)
        domain = None if is_subset(extent, part) else part
    moves = _named(solution, {})
    if extent is None:
        whole = is_equal(own, domain or own)
    else:
        whole = domain is None and is_subset(extent, own)
    with contextlib.nullcontext() if whole else inline():
        return Contribution(_tested(solution, value, moves), domain)


def _own_box(elements: tuple[str, ...], dims: Collection[str] | None = None) -> str:
    """Return the elements at which some dims, or all, are in their own ranges."""
    ranges = (current().dims[d] for d in elements if dims is None or d in dims)
    bounded = box([(r.name, r.lower, r.upper) for r in ranges])
    return with_dims(bounded, elements)


def _solve(read: SourceRead, seeds: tuple[str, ...]) -> _Solution:
    prime = {name: variable(name + "'") for name, _, _ in read.bounds if name not in seeds}
    result = _Solution()
    unsolved = [f"{name}'" for name in prime]
    for d, e in zip(read.tensor.source.dims, read.tensor.index, strict=True):
        if isinstance(e, Tensor):
            result.tests.append((e, d))
            least, most = _promised(e)
            result.at_least += [variable(d) - x.substitute(prime) for x in least]
            result.at_least += [x.substitute(prime) - variable(d) for x in most]
        elif d not in seeds:
            e = e.substitute(prime).substitute(result.solved)
            name = next((p for p in unsolved if _solvable(e, p)), None)
            if name is None:
                result.equal.append((variable(d), e))
                continue
            sign = e.coefficient(name)
            solution = (variable(d) - (e - sign * variable(name))) * sign
            result.solved = {p: s.substitute({name: solution}) for p, s in result.solved.items()}
            result.solved[name] = solution
            unsolved.remove(name)
    for name, low, high in read.bounds:
        if name in seeds:  # the points have the element's own, perhaps a part of them only
            own, here = current().dims[name], variable(name)
            if (low, high) != (own.lower, own.upper):
                result.at_least += [here - low, high - 1 - here]
            continue
        low, high = (x.substitute(prime).substitute(result.solved) for x in (low, high))
        at = result.solved.get(name + "'")
        if at is None:
            result.open.append((name + "'", low, high))
        else:
            result.at_least += [at - low, high - 1 - at]
    for a, b in read.equal:
        result.equal.append((a.substitute(prime), b.substitute(prime)))
    result.at_least += [e.substitute(prime) for e in read.at_least]
    result.equal = [
        (a.substitute(result.solved), b.substitute(result.solved)) for a, b in result.equal
    ]
    result.at_least = [e.substitute(result.solved) for e in result.at_least]
    return result


def _promised(index: Tensor) -> tuple[list[Expression], list[Expression]]:
    """Return what a data-dependent index is at least, and at most, as the program promises."""
    node = index.source
    if not isinstance(node, Node) or node.operation != "within":
        return [], []
    lower, upper = (_affine(x, index) for x in node.operands[1:])
    return _parts(lower, "max"), [part - 1 for part in _parts(upper, "min")]


def _affine(bound: Tensor, index: Tensor) -> Expression | None:
    """Return a bound of an index as it is read, None where it is no expression of dims."""
    if not isinstance(bound.source, Node) or bound.source.operation != "index":
        return None
    value: Expression = bound.source.options["expression"]
    for x in (bound, index):
        moves = dict(zip(x.source.dims, x.index, strict=True))
        known = {d: e for d, e in moves.items() if isinstance(e, Expression)}
        if value.variables & (moves.keys() - known.keys()):
            return None
        value = value.substitute(known)
    return value


def _parts(e: Expression | None, kind: str) -> list[Expression]:
    """Return the expressions of which `e` is the "max" or the "min", none where it is another."""
    if e is None:
        return []
    for a, factor in e.terms:
        if isinstance(a, Extremum):
            if a.kind != kind or factor != 1:
                return []
            rest = e - Expression(0, ((a, factor),))
            return [each for part in a.parts for each in _parts(part + rest, kind)]
    return [e] if e.is_affine else []


def _solvable(e: Expression, name: str) -> bool:
    c = e.coefficient(name)
    return abs(c) == 1 and name not in (e - c * variable(name)).variables


def _named(solution: _Solution, names: dict[str, Expression]) -> dict[str, Expression]:
    """Map points' own names to elements, the open ones by their new names."""
    moves = {p[:-1]: s.substitute(names) for p, s in solution.solved.items()}
    return moves | {p[:-1]: name for p, name in names.items()}


def _counted(solution: _Solution, value: Tensor) -> _Solution:
    """Return the solution in which an open dim that nothing mentions only counts."""
    indices = [e for e, _ in solution.tests]
    used = {d + "'" for x in (value, *indices) for d in x.dims}
    used |= {v for a, b in solution.equal for v in a.variables | b.variables}
    used |= {v for e in solution.at_least for v in e.variables}
    used |= {v for _, low, high in solution.open for v in low.variables | high.variables}
    kept, count = [], solution.count
    for name, low, high in solution.open:
        if name in used or any(v.endswith("'") for v in low.variables | high.variables):
            kept.append((name, low, high))
        else:
            count = count * _length(solution, low, high)
    return replace(solution, open=kept, count=count)


def _length(solution: _Solution, low: Expression, high: Expression) -> Expression:
    """Count the points of a range where the solution's other conditions hold."""
    outer = [e for e in solution.at_least if not any(v.endswith("'") for v in e.variables)]
    outer += [low - 1 - high]
    dims = sorted({v for e in outer for v in e.variables})
    beyond = domain_with(universe(dims), at_least=[(e, expression(0)) for e in outer])
    return high - low if is_empty(beyond) else maximum(high - low, 0)


def _tested(solution: _Solution, value: Tensor, moves: dict[str, Expression]) -> Tensor:
    """Return the value at the points in terms of elements: as often as it counts, and only where
    the data-dependent indices are the elements' own. Where points are executed is asked first: the
    indices of others do not exist.
    """
    value = value.substitute(moves)
    if solution.count != expression(1):
        value = apply("multiply", value, cast(index(solution.count), "float"))
    for test, d in solution.tests:
        held, inner = executed(value)
        same = apply("equal", test.substitute(moves), index(variable(d)))
        value = zero_elsewhere(held, apply("where", same, inner, 0.0))
    return value


def _summed(
    solution: _Solution,
    value: Tensor,
    elements: tuple[str, ...],
    seeds: tuple[str, ...],
    extent: str | None,
) -> Contribution:
    """Sum over the open points. Constraints on elements alone say where the contribution exists."""
    names = {p: _new_name(p, elements) for p, _, _ in solution.open}
    rename = {p: variable(name) for p, name in names.items()}

    def moved(e: Expression) -> Expression:
        return e.substitute(rename)

    inside = set(names.values())
    equal = [(moved(a), moved(b)) for a, b in solution.equal]
    at_least = [moved(e) for e in solution.at_least if e.terms]
    over = tuple((names[p], moved(low), moved(high)) for p, low, high in solution.open)
    with inline():
        moves = {p: moved(e) for p, e in _named(solution, rename).items()}
        value = _tested(solution, value, moves)
    outer_equal = [(a, b) for a, b in equal if not (a.variables | b.variables) & inside]
    outer_least = [e for e in at_least if not e.variables & inside]
    # Where the sum varies over what such a constraint speaks of, it must not read beyond it either.
    varies = {*value.dims, *(v for _, low, high in over for v in low.variables | high.variables)}
    kept_equal = [
        (a, b) for a, b in equal if (a, b) not in outer_equal or a.variables | b.variables <= varies
    ]
    kept_least = [e for e in at_least if e not in outer_least or e.variables <= varies]
    reached = extent
    if reached is None:
        points = domain_with(
            with_dims(_own_box(elements, seeds), (*elements, *(name for name, _, _ in over))),
            equal,
            [(e, expression(0)) for e in at_least]
            + [pair for d, low, high in over for pair in _limits(d, low, high)],
        )
        reached = project_out(points, [name for name, _, _ in over])
    wider = _wider(elements, seeds, reached)
    total = reduce_over(value, "sum", over, tuple(kept_equal), tuple(kept_least), wider)
    if extent is None:
        return Contribution(total, reached)
    conditions = [(e, expression(0)) for e in outer_least]
    if not conditions and not outer_equal:
        return Contribution(total, None)
    return Contribution(total, domain_with(universe(elements), outer_equal, conditions))


def _limits(
    d: str, low: Expression, high: Expression
) -> tuple[tuple[Expression, Expression], tuple[Expression, Expression]]:
    return (variable(d), low), (high - 1, variable(d))


def _new_name(primed: str, elements: tuple[str, ...]) -> str:
    trace, name = current(), primed[:-1]
    if name not in elements:
        return name
    own, fresh = trace.dims[name], trace.fresh(name)
    trace.dims[fresh] = Range(fresh, own.lower, own.upper, own.axis, own.line)
    return fresh


def _wider(elements: tuple[str, ...], seeds: tuple[str, ...], extent: str) -> tuple[Bound, ...]:
    """Return the ranges of an array's dims that cover it beyond the dims' own (slice T of
    `s[t + 1] = …`).
    """
    if is_empty(extent) or is_subset(extent, _own_box(elements)):
        return ()
    ranges = [current().dims[d] for d in elements]
    return tuple(
        (r.name, low, high)
        for r, (low, high) in zip(ranges, hull(extent), strict=True)
        if r.name not in seeds and (low, high) != (r.lower, r.upper)
    )
