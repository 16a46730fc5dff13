"""How long the elements of an array live under a schedule, and how little storage that needs.

An element lives from its write to its last read. Two elements conflict if each is still read after
(or while) the other is written; a dimension needs as many slots, used in turn, as the greatest
distance of two conflicting elements plus one. Dimensions are folded one after the other, each
given that the earlier ones already tell elements apart (Lefebvre and Feautrier 1998, "successive
moduli"); the order of the dimensions matters and is tried out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, permutations
from typing import NamedTuple

import islpy as isl

from workbench.polyhedral.affine import constraint, parameters_text, to_expression
from workbench.polyhedral.dependences import (
    AccessKey,
    RelationKey,
    instance_touches,
    pair_order,
    read_key,
    relation,
    standings,
    write_key,
)
from workbench.polyhedral.expression import Expression, minimum
from workbench.polyhedral.instances import Access, Extent, Instances
from workbench.polyhedral.legality import Step, shared_steps
from workbench.polyhedral.sets import context, in_context, limited, parse_map, parse_set, sizes_in
from workbench.polyhedral.tree import Loop, Path, Standing, Tree, axis_dims, paths

USUAL_SIZE = 100
"""What a size is taken to be in comparing orders where none is given."""

MOST_ORDERS = 120


@dataclass(frozen=True)
class Lifetime:
    """The storage an array needs under a schedule.

    `windows`: for each dimension the number of slots used in turn (element index modulo window), or
    None where the full extent is needed.

    `loops`: how many sequential loops of the tree, from the root, enclose *every* write and read of
    the array and are such that no value is written in one iteration and read in another. The array
    can be allocated in the body of the last of them, before the first writer there, and freed
    behind the last reader there. 0: allocated outside all loops. Axis nodes are not counted.
    """

    windows: tuple[Expression | None, ...]
    loops: int


class _Use(NamedTuple):
    """One access to the array: by which statement, and whether its own write may take its place."""

    statement: str
    access: Access
    key: AccessKey
    is_write: bool
    shares: bool


class _Conflict(NamedTuple):
    """What a relation {element -> element written before the use of the first} depends on."""

    use: AccessKey
    write: AccessKey
    steps: tuple[Step, ...]
    shares: bool


def windows(
    array: str,
    extent: Extent,
    tree: Tree,
    statements: Mapping[str, Instances],
    *,
    live_out: bool = False,
    keep: Collection[int] = (),
    sizes: Mapping[str, int] | None = None,
) -> tuple[Expression | None, ...]:
    """The circular window of each dimension; see `lifetime`."""
    return lifetime(
        array, extent, tree, statements, live_out=live_out, keep=keep, sizes=sizes
    ).windows


def lifetime(
    array: str,
    extent: Extent,
    tree: Tree,
    statements: Mapping[str, Instances],
    *,
    live_out: bool = False,
    keep: Collection[int] = (),
    sizes: Mapping[str, int] | None = None,
) -> Lifetime:
    """Windows and place of an array under the schedule `tree`.

    `live_out`: the array is a result, read after everything. `keep`: positions of dimensions that
    must stay full for other reasons. A dimension indexed by an axis dimension of any statement
    stays full: the whole axis is written at one time. Where the writing statement names the array
    in `may_alias`, its instance may write over the element that it reads itself. Of the orders of
    dimensions the one with the least storage at `sizes` is taken.
    """
    return lifetimes(
        {array: extent},
        tree,
        statements,
        live_out={array} if live_out else (),
        keep={array: keep},
        sizes=sizes,
    )[array]


def lifetimes(
    extents: Mapping[str, Extent],
    tree: Tree,
    statements: Mapping[str, Instances],
    *,
    live_out: Collection[str] = (),
    keep: Mapping[str, Collection[int]] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> dict[str, Lifetime]:
    """The lifetimes of many arrays at once; see `lifetime`."""
    uses = _uses(extents, statements)
    found, axes = paths(tree), axis_dims(tree)
    measured = tuple(sorted(sizes.items())) if sizes is not None else ()
    result = {}
    for array, extent in extents.items():
        if array in live_out:
            result[array] = Lifetime((None,) * len(extent), 0)
            continue
        own = uses[array]
        full = set(keep.get(array, ()) if keep else ())
        for use in own:
            full |= _indexed_by(use.access, frozenset(axes[use.statement]))
        conflicts = tuple(dict.fromkeys(_conflicts(own, statements, found)))
        folded = _windows(conflicts, frozenset(full), extent, measured)
        result[array] = Lifetime(folded, _common_loops(own, statements, found))
    return result


def _uses(
    extents: Mapping[str, Extent], statements: Mapping[str, Instances]
) -> dict[str, list[_Use]]:
    """The accesses to each array."""
    found: dict[str, list[_Use]] = {array: [] for array in extents}
    for name, s in statements.items():
        if s.write.array in found:
            found[s.write.array].append(_Use(name, s.write, write_key(s), True, True))
        for access in s.reads:
            if access.array in found:
                key = read_key(s, access, extents)
                shares = access.array in s.may_alias
                found[access.array].append(_Use(name, access, key, False, shares))
    return found


def _indexed_by(access: Access, dims: frozenset[str]) -> set[int]:
    if not dims:
        return set()
    return {k for k, e in enumerate(access.index) if e is not None and e.variables & dims}


# -- when elements are in each other's way ---------------------------------------------------------


def _conflicts(
    uses: Sequence[_Use], statements: Mapping[str, Instances], found: Mapping[str, Path]
) -> Iterator[_Conflict]:
    for write in uses:
        if not write.is_write:
            continue
        for use in uses:
            writer, user = statements[write.statement], statements[use.statement]
            steps = shared_steps(writer, user, found)
            yield _Conflict(use.key, write.key, steps, use.shares)


@lru_cache(maxsize=16384)
def _overwritten(conflict: _Conflict) -> isl.Map:
    """{ element -> element written before (or, not sharing, while) the first one is used }."""
    use, write = instance_touches(conflict.use), instance_touches(conflict.write)
    earlier = _before(conflict.write.rank, conflict.use.rank, conflict.steps, conflict.shares)
    pairs = use.reverse().apply_range(earlier.reverse()).apply_range(write)
    return pairs.intersect_params(context(sizes_in(pairs))).coalesce()


@lru_cache(maxsize=4096)
def _before(sources: int, sinks: int, steps: tuple[Step, ...], shares: bool) -> isl.Map:
    """{ source instance -> sink instance that does not run before it }.

    At the same time (two instances of one array operation) counts, but for an instance and itself
    where it `shares`.
    """
    together = _any(sources, sinks)
    earlier = isl.Map.empty(together.get_space())
    for step in steps:
        if step.kind == "before":
            return earlier.union(together)
        if step.kind == "after":
            return earlier
        if step.kind == "same":
            at_once = together
            if shares:
                at_once = at_once.subtract(isl.Map.identity(together.get_space()))
            return earlier.union(at_once)
        sign = ">" if step.kind == "forwards" else "<"
        place = (sources, sinks, step.source, step.sink)
        earlier = earlier.union(together.intersect(pair_order(*place, sign)))
        together = together.intersect(pair_order(*place, "="))
    raise AssertionError("steps end in before, after or same")


def _any(sources: int, sinks: int) -> isl.Map:
    p = ", ".join(f"p{k}" for k in range(sources))
    q = ", ".join(f"q{k}" for k in range(sinks))
    return parse_map(f"{{ [{p}] -> [{q}] }}")


# -- windows ---------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _windows(
    conflicts: tuple[_Conflict, ...],
    full: frozenset[int],
    extent: Extent,
    sizes: tuple[tuple[str, int], ...],
) -> tuple[Expression | None, ...]:
    rank = len(extent)
    if len(full) == rank or not conflicts:
        return (None,) * rank
    with limited("computing lifetimes"):
        distances = _distances(conflicts, full, rank)
        moving = [k for k in range(rank) if k not in full and _moves(distances, k)]
        still = [k for k in range(rank) if k not in full and k not in moving]
        best: tuple[Expression | None, ...] | None = None
        for order in islice(permutations(moving), MOST_ORDERS):
            candidate = _folded(distances, [*order, *still], extent)
            if best is None or _slots(candidate, extent, sizes) < _slots(best, extent, sizes):
                best = candidate
        assert best is not None
        return best


def _distances(conflicts: Sequence[_Conflict], full: frozenset[int], rank: int) -> isl.Set:
    """Differences of elements in each other's way that the full dimensions do not tell apart."""
    same_slot = _equal_at(sorted(full), rank)
    overwritten = isl.Map.empty(same_slot.get_space())
    for conflict in conflicts:
        overwritten = overwritten.union(_overwritten(conflict).intersect(same_slot))
    overwritten = overwritten.coalesce()
    return overwritten.intersect(overwritten.reverse()).deltas().coalesce()


def _equal_at(positions: Sequence[int], rank: int) -> isl.Map:
    p = [f"p{k}" for k in range(rank)]
    q = [p[k] if k in positions else f"q{k}" for k in range(rank)]
    return parse_map(f"{{ [{', '.join(p)}] -> [{', '.join(q)}] }}")


def _moves(distances: isl.Set, position: int) -> bool:
    return not distances.is_subset(_fixed(distances, position))


def _fixed(distances: isl.Set, position: int) -> isl.Set:
    return distances.fix_val(isl.dim_type.set, position, isl.Val.zero(distances.get_ctx()))


def _folded(
    distances: isl.Set, order: Sequence[int], extent: Extent
) -> tuple[Expression | None, ...]:
    found: list[Expression | None] = [None] * len(extent)
    for position in order:
        found[position] = _window(distances, position, extent[position])
        distances = _fixed(distances, position)
    return tuple(found)


def _window(
    distances: isl.Set, position: int, bounds: tuple[Expression, Expression]
) -> Expression | None:
    """One more than the greatest distance; None where that is the extent at all sizes."""
    length = _function(bounds[1] - bounds[0])
    one = isl.PwAff("{ [(1)] }")
    slots = one
    if not distances.is_empty():
        greatest = distances.dim_max(position).project_domain_on_params()
        slots = greatest.add_constant_val(isl.Val.one(distances.get_ctx())).union_max(one)
    known = context(sorted({*_sizes(slots), *_sizes(length)}))
    if slots.lt_set(length).intersect(known).is_empty():
        return None
    greatest_value = slots.max_val()
    if greatest_value.is_int():
        # `1 if E == 1 else 2` reads better as `min(E, 2)`.
        most = Expression(int(greatest_value.to_python()))
        for simple in (most, minimum(bounds[1] - bounds[0], most)):
            if slots.ne_set(_function(simple)).intersect(known).is_empty():
                return simple
    return to_expression(slots, (), known)


def _function(e: Expression) -> isl.PwAff:
    """An expression over sizes as isl's function."""
    text = f"{parameters_text(e.sizes)} -> {{ [v] : {constraint('v', '=', e)} }}"
    return in_context(parse_set(text)).dim_max(0).project_domain_on_params()


def _sizes(function: isl.PwAff) -> tuple[str, ...]:
    """The sizes of a function's space."""
    return sizes_in(function.domain())


def _slots(
    folded: Sequence[Expression | None], extent: Extent, sizes: tuple[tuple[str, int], ...]
) -> int:
    values = dict(sizes)
    total = 1
    for window, (lower, upper) in zip(folded, extent, strict=True):
        length = upper - lower if window is None else window
        total *= length.evaluate({n: values.get(n, USUAL_SIZE) for n in length.sizes})
    return total


# -- the loop an array belongs in ------------------------------------------------------------------


def _common_loops(
    uses: Sequence[_Use], statements: Mapping[str, Instances], found: Mapping[str, Path]
) -> int:
    shared = _shared_path([found[use.statement] for use in uses])
    pairs = [(w, u) for w in uses if w.is_write for u in uses if not u.is_write]
    for number, loop in enumerate(shared):
        if any(_crosses(loop, w, u, statements) for w, u in pairs):
            return number
    return len(shared)


def _shared_path(all_paths: Sequence[Path]) -> list[Loop]:
    loops = []
    for entries in zip(*all_paths, strict=False):
        node, at = entries[0]
        if any(other is not node or to != at for other, to in entries):
            break
        if isinstance(node, Loop) and node.kind == "loop":
            loops.append(node)
    return loops


def _crosses(loop: Loop, write: _Use, read: _Use, statements: Mapping[str, Instances]) -> bool:
    ends = standings(loop, statements[write.statement], statements[read.statement])
    return _differs(RelationKey(write.key, read.key), *ends)


@lru_cache(maxsize=16384)
def _differs(key: RelationKey, source: Standing, sink: Standing) -> bool:
    pairs = relation(key)
    ranks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    return not pairs.is_subset(pair_order(*ranks, source, sink))
