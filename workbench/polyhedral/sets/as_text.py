"""Sets as text: built from expressions, combined, queried, and read back.

Text goes in and comes out, with dimensions in a stated order, so that the values of the model hold
plain strings. Every distinct text is parsed once: parsing is isl's real cost, its operations take
microseconds. Only this file knows positions, parameter order and the names that isl loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import islpy as isl

from workbench.errors import TooComplexError
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.isl_names import dim_name, user_name
from workbench.polyhedral.sets.isl_text import constraint, dims_text, parameters_text

Bound = tuple[str, Expression, Expression]
"""A dimension with its lower (inclusive) and upper (exclusive) bound."""

Equality = tuple[Expression, Expression]

OPERATIONS = 2_000_000
"""The limit of isl operations for one question: usually a second, more where numbers grow long.

Beyond it the question fails with an error. The largest of PPO take 30,000.
"""


@contextmanager
def limited(task: str, operations: int = OPERATIONS) -> Iterator[None]:
    """Bound the isl work inside; TooComplexError names the `task` where it was too much."""
    context = isl.DEFAULT_CONTEXT
    context.set_max_operations(operations)
    context.reset_operations()
    too_complex = TooComplexError(f"{task}: too complex, given up after {operations} operations")
    try:
        yield
    except Exception as error:  # a spent bound shows as any of isl's errors, or of a caller's
        if _is_spent():
            raise too_complex from error
        raise
    else:
        if _is_spent():
            raise too_complex
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def _is_spent() -> bool:
    """Tell whether isl has reached its bound.

    Errors do not tell: a text that it stops reading has a syntax error, and some errors are caught
    because they mean something else.
    """
    try:
        isl.Val(0)
    except isl.Error:
        return True
    return False


# -- building ----------------------------------------------------------------------------------


def box(
    bounds: Sequence[Bound],
    equal: Sequence[Equality] = (),
    at_least: Sequence[Equality] = (),
) -> str:
    """Return the set `lower <= d < upper` for each bound, with `left == right` and `left >= right`.

    Raises ProgramError for an expression that is not affine.
    """
    return _box(tuple(bounds), tuple(equal), tuple(at_least))


@lru_cache(maxsize=16384)
def _box(
    bounds: tuple[Bound, ...], equal: tuple[Equality, ...], at_least: tuple[Equality, ...]
) -> str:
    """Return the set: most statements of a program are over a few of them."""
    conditions = []
    for name, lower, upper in bounds:
        conditions.append(constraint(dim_name(name), ">=", lower))
        conditions.append(constraint(dim_name(name), "<", upper))
    expressions = [e for _, lower, upper in bounds for e in (lower, upper)]
    expressions += [e for pair in (*equal, *at_least) for e in pair]
    conditions += _differences(equal, at_least)
    sizes = {name for e in expressions for name in e.sizes}
    dims = tuple(name for name, _, _ in bounds)
    where = f" : {' and '.join(conditions)}" if conditions else ""
    return to_text(parse_set(f"{parameters_text(sizes)} -> {{ [{dims_text(dims)}]{where} }}"), dims)


def domain_with(
    text: str, equal: Sequence[Equality] = (), at_least: Sequence[Equality] = ()
) -> str:
    """Return the points of `text` with `left == right` (`left >= right`) for each pair."""
    dims = dims_of(text)
    sizes = {n for pair in (*equal, *at_least) for e in pair for n in e.sizes}
    conditions = " and ".join(_differences(equal, at_least)) or "true"
    extra = parse_set(f"{parameters_text(sizes)} -> {{ [{dims_text(dims)}] : {conditions} }}")
    return to_text(parse_set(text).intersect(extra), dims)


def _differences(equal: Sequence[Equality], at_least: Sequence[Equality]) -> list[str]:
    return [constraint("0", "=", left - right) for left, right in equal] + [
        constraint("0", "<=", left - right) for left, right in at_least
    ]


@lru_cache(maxsize=65536)
def parse_set(text: str) -> isl.Set:
    """Return the set that `text` describes, parsed once."""
    return isl.Set(text)


@lru_cache(maxsize=65536)
def parse_map(text: str) -> isl.Map:
    """Return the relation that `text` describes, parsed once."""
    return isl.Map(text)


def to_text(points: isl.Set, dims: Sequence[str]) -> str:
    """Return isl text of a set whose dimensions are `dims`: sizes sorted, unused ones dropped."""
    points = points.coalesce().drop_unused_params()
    if points.dim(isl.dim_type.param) > 1:
        points = points.align_params(context(sizes_in(points)).get_space())
    for position, dim in enumerate(dims):
        points = points.set_dim_name(isl.dim_type.set, position, dim_name(dim))
    return str(points)


def sizes_in(points: isl.Set | isl.Map) -> tuple[str, ...]:
    """Return the user's names of the sizes of a set's space, in isl's order."""
    return tuple(
        user_name(str(points.get_dim_name(isl.dim_type.param, position)))
        for position in range(points.dim(isl.dim_type.param))
    )


@lru_cache(maxsize=4096)
def dims_of(text: str) -> tuple[str, ...]:
    """Return the user's names of the dimensions of a set, in order."""
    points = parse_set(text)
    return tuple(
        user_name(str(points.get_dim_name(isl.dim_type.set, position)))
        for position in range(points.dim(isl.dim_type.set))
    )


def context(sizes: Sequence[str]) -> isl.Set:
    """Return the assumption about sizes that holds everywhere: each is at least 1."""
    names = sorted(set(sizes))
    conditions = " and ".join(f"{p} >= 1" for p in parameters_text(names)[1:-1].split(", ") if p)
    return parse_set(f"{parameters_text(names)} -> {{ : {conditions or 'true'} }}")


def sizes_satisfying(equal: Sequence[Equality], at_least: Sequence[Equality]) -> str:
    """Return the sizes at which `left == right` (`left >= right`) holds for each pair, as text."""
    return box((), equal, at_least)


def possible(points: isl.Set, known: str) -> isl.Set:
    """Return the points at sizes that satisfy `known` (of `sizes_satisfying`)."""
    return points.intersect_params(parse_set(known).params()) if known else points


def in_context(points: isl.Set) -> isl.Set:
    """Return the same set where every size is at least 1."""
    return points.intersect_params(context(sizes_in(points)))


# -- combining and asking ------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def subtract(a: str, b: str) -> str:
    """Return the points of `a` that are not in `b`."""
    return to_text(parse_set(a).subtract(parse_set(b)), dims_of(a))


@lru_cache(maxsize=4096)
def intersect(a: str, b: str) -> str:
    """Return the points in both."""
    return to_text(parse_set(a).intersect(parse_set(b)), dims_of(a))


@lru_cache(maxsize=4096)
def union(a: str, b: str) -> str:
    """Return the points in either."""
    return to_text(parse_set(a).union(parse_set(b)), dims_of(a))


@lru_cache(maxsize=4096)
def is_empty(text: str) -> bool:
    """Tell whether the set has no point at any sizes (each at least 1)."""
    return in_context(parse_set(text)).is_empty()


@lru_cache(maxsize=4096)
def is_subset(a: str, b: str) -> bool:
    """Tell whether every point of `a` is in `b`, at all sizes."""
    first, second = parse_set(a), parse_set(b)
    known = context((*sizes_in(first), *sizes_in(second)))
    return first.intersect_params(known).is_subset(second)


def is_equal(a: str, b: str) -> bool:
    """Tell whether both are the same set at all sizes, however written."""
    return a == b or (is_subset(a, b) and is_subset(b, a))


def pieces(text: str) -> list[str]:
    """Return the set as disjoint convex pieces, in the order of their first points' text."""
    texts: list[str] = []
    dims = dims_of(text)
    disjoint = in_context(parse_set(text)).coalesce().make_disjoint()
    known = context(sizes_in(disjoint))

    def add(piece: isl.BasicSet) -> None:
        texts.append(to_text(isl.Set.from_basic_set(piece).gist_params(known), dims))

    disjoint.foreach_basic_set(add)
    return sorted(texts)


def project_out(text: str, names: Sequence[str]) -> str:
    """Return the set without the dimensions `names`: a point is kept if it has some value there."""
    points, dims = parse_set(text), list(dims_of(text))
    for name in names:
        position = dims.index(name)
        points = points.project_out(isl.dim_type.set, position, 1)
        del dims[position]
    return to_text(points, dims)


def universe(dims: Sequence[str]) -> str:
    """Return all points over `dims`."""
    return f"{{ [{dims_text(dims)}] }}"


def with_dims(text: str, dims: Sequence[str]) -> str:
    """Return the set over `dims`: new dimensions are unconstrained, old ones may change order."""
    old = dims_of(text)
    relation = parse_map(f"{{ [{dims_text(old)}] -> [{', '.join(_pairs(old, dims))}] }}")
    return to_text(parse_set(text).apply(relation), dims)


def _pairs(old: Sequence[str], dims: Sequence[str]) -> list[str]:
    return [dim_name(d) if d in old else f"n{k}" for k, d in enumerate(dims)]
