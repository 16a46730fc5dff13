"""isl's own scheduler, asked for an order of a few statements: a proposal, not a decision.

isl gets one statement for each group (`groups.py`), over the dimensions that are left to order. Its
schedule is read back as a tree. A schedule that our trees cannot express (a loop over a sum of
dimensions, a statement without the loop's dimension in the middle of it) is described in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Literal

import islpy as isl

from workbench.errors import ProgramError
from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.dependences.flow import Dependence, Dependences, RelationKey
from workbench.polyhedral.ordering.as_written import NoOrder, order_below
from workbench.polyhedral.ordering.groups import Group, GroupRegion, groups
from workbench.polyhedral.ordering.isl_proposal import Reader, as_written
from workbench.polyhedral.sets.as_text import context, limited, parse_set, sizes_in
from workbench.polyhedral.tree import Tree

OPERATIONS = 400_000
"""The limit of isl operations for one question: a few seconds."""

Fusion = Literal["most", "least"]


class TooComplex(Exception):
    """The error that isl has not found an order within its operations."""


class NotFound(Exception):
    """The error that no affine order exists, by isl (which is no proof of a cycle)."""


def proposed(
    statements: Sequence[Instances],
    dependences: Dependences,
    free: Mapping[str, tuple[str, ...]],
    fusion: Fusion,
) -> Tree:
    """Return isl's order of the statements in which each has loops over its `free` dimensions.

    `dependences` are all that the order must respect. Raises TooComplex, NotFound and
    `isl_proposal.Inexpressible`.
    """
    return _proposed(
        tuple(statements),
        tuple((d, dependences.keys[d]) for d in dependences.all),
        tuple(free[s.name] for s in statements),
        fusion,
    )


@lru_cache(maxsize=64)
def _proposed(
    statements: tuple[Instances, ...],
    keys: tuple[tuple[Dependence, RelationKey], ...],
    free: tuple[tuple[str, ...], ...],
    fusion: Fusion,
) -> Tree:
    names = [s.name for s in statements]
    dependences = Dependences(
        dict(zip(names, statements, strict=True)), tuple(d for d, _ in keys), dict(keys)
    )
    region = GroupRegion(
        {s.name: _domain(s, dims) for s, dims in zip(statements, free, strict=True)},
        dependences,
        dict(zip(names, free, strict=True)),
    )
    together = _together(statements, region)
    position = {name: k for k, group in enumerate(together) for name in group}
    domain, pairs = isl.UnionSet("{ }"), isl.UnionMap("{ }")
    sizes: list[str] = []
    for k, group in enumerate(together):
        own = region.domains[group[0]].set_tuple_name(_tuple(k))
        sizes += sizes_in(own)
        domain = domain.union(own.to_union_set())
    for source, sink, relation in region.pairs(dependences):
        a, b = position[source], position[sink]
        if a == b:
            relation = relation.subtract(isl.Map.identity(relation.get_space()))
        named = relation.set_tuple_name(isl.dim_type.in_, _tuple(a))
        pairs = pairs.union(named.set_tuple_name(isl.dim_type.out, _tuple(b)).to_union_map())
    schedule = _solved(domain, pairs.coalesce(), context(sizes), fusion, len(statements))
    place = {name: k for k, name in enumerate(names)}
    return as_written(Reader(together, region, sizes).read(schedule), dependences, place)


def _domain(s: Instances, free: Sequence[str]) -> isl.Set:
    points = parse_set(s.domain)
    for position in reversed(range(len(s.dims))):
        if s.dims[position] not in free:
            points = points.project_out(isl.dim_type.set, position, 1)
    return points


def _together(statements: Sequence[Instances], region: GroupRegion) -> list[Group]:
    """Return the groups of the greedy order; each statement apart where there is none."""
    try:
        return groups(order_below(statements, region.dependences, region.free), region)
    except NoOrder:
        return [(s.name,) for s in statements]


def _tuple(position: int) -> str:
    return f"G{position}"


def _solved(
    domain: isl.UnionSet, pairs: isl.UnionMap, known: isl.Set, fusion: Fusion, count: int
) -> isl.Schedule:
    # No proximity: isl then takes the least shifts that dependences ask for. With it a sum after
    # the loop pulls at what it reads, and isl pulls whole loops T iterations apart.
    constraints = isl.ScheduleConstraints.on_domain(domain).set_context(known)
    constraints = constraints.set_validity(pairs)
    try:
        with limited(f"ordering {count} statements", OPERATIONS), _options(fusion):
            return constraints.compute_schedule()
    except ProgramError as error:
        raise TooComplex(error.message) from None
    except isl.Error as error:
        raise NotFound(str(error)) from None


@contextmanager
def _options(fusion: Fusion) -> Iterator[None]:
    """Set isl's options: as few loops as possible, or a loop for each recurrence."""
    isl_context = isl.DEFAULT_CONTEXT
    isl_context.set_schedule_whole_component(int(fusion == "most"))
    isl_context.set_schedule_serialize_sccs(int(fusion == "least"))
    try:
        yield
    finally:
        isl_context.set_schedule_whole_component(0)
        isl_context.set_schedule_serialize_sccs(0)
