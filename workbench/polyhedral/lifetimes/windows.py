"""Windows: how long elements live under a schedule, and the storage that needs.

An element lives from its write to its last read. Two elements conflict if each is still read after
(or while) the other is written. A dimension needs one slot more than the greatest distance of two
conflicting elements, and uses its slots in turn (`folding.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import islpy as isl

from workbench.coming import OnDemand
from workbench.polyhedral.accesses import Access, Extent, Instances
from workbench.polyhedral.dependences.flow import RelationKey, pair_order, relation, standings
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.lifetimes.conflicts import (
    Clash,
    Conflict,
    Use,
    clash,
    encounters,
    overwritten,
    uses,
    with_own_copies,
)
from workbench.polyhedral.lifetimes.folding import fold, in_the_way
from workbench.polyhedral.loops.axis_blocks import aligned, axis_blocks
from workbench.polyhedral.sets.as_text import limited, parse_map
from workbench.polyhedral.sets.isl_text import constraint, parameters_text
from workbench.polyhedral.tree import Loop, Path, Standing, Tree, loops_above, paths, shared_path


@dataclass(frozen=True)
class Lifetime:
    """The storage that an array needs under a schedule.

    `windows`: for each dimension the number of slots used in turn (element index modulo window), or
    None where the full extent is needed.

    `loops`: how many sequential loops of the tree, from the root, enclose *every* write and read of
    the array and pass no value of it from one iteration to another. Nor does an iteration of these
    need only a part of a dimension that is stored whole. The array can be allocated in the body of
    the last of them, before the first writer there, and freed behind the last reader there. 0:
    allocated outside all loops. Axis nodes are not counted. An array inside a loop whose blocks are
    apart is private: each block that runs has its own copy.
    """

    windows: tuple[Expression | None, ...]
    loops: int


@dataclass(frozen=True, eq=False)
class Together:
    """The elements of an array that are live at one time, independent of what is folded.

    `full` are the dimensions that cannot be folded; `in_blocks` those that run in blocks, with
    their sizes. `loops` are the loops whose iterations share no value, outermost first: for each
    the dimensions of which an iteration has a part. `apart` are the positions among them of loops
    whose blocks are apart.
    """

    extent: Extent
    conflicts: tuple[Conflict, ...]
    full: frozenset[int]
    in_blocks: tuple[tuple[int, frozenset[int]], ...]
    loops: tuple[frozenset[int], ...]
    apart: tuple[int, ...] = ()
    _known: dict[object, tuple[Lifetime, int]] = field(default_factory=dict, repr=False)

    def folded(self, positions: Iterable[int], sizes: Mapping[str, int] | None = None) -> Lifetime:
        """Return the lifetime with the dimensions at `positions` folded as far as possible.

        Of the orders of dimensions it takes the one with the least storage at `sizes`.
        """
        return self._settled(positions, sizes)[0]

    @cached_property
    def whole(self) -> Lifetime:
        """The lifetime with no dimension folded."""
        return self.folded(())

    def own_copies(self, positions: Iterable[int]) -> int:
        """Return inside how many loops whose blocks are apart the array lives if so folded."""
        return self._settled(positions, None)[1]

    def _settled(
        self, positions: Iterable[int], sizes: Mapping[str, int] | None
    ) -> tuple[Lifetime, int]:
        """Return the lifetime and the number of loops, of those `apart`, inside which it is.

        Inside more of them there are fewer conflicts, and with fewer it is inside more: the first
        attempt is with all.
        """
        asked = frozenset(positions), tuple(sorted(sizes.items())) if sizes is not None else ()
        if asked not in self._known:
            own, inside = len(self.apart) + 1, len(self.apart)
            while inside < own:
                own = inside
                lifetime = self._lifetime(*asked, own)
                inside = sum(position < lifetime.loops for position in self.apart)
            self._known[asked] = lifetime, own
        return self._known[asked]

    def _lifetime(
        self, folded: frozenset[int], sizes: tuple[tuple[str, int], ...], own: int
    ) -> Lifetime:
        full = self.full | (frozenset(range(len(self.extent))) - folded)
        in_blocks = tuple(entry for entry in self.in_blocks if entry[0] not in full)
        conflicts = tuple(dict.fromkeys(with_own_copies(c, own) for c in self.conflicts))
        windows = fold(conflicts, full, self.extent, sizes, in_blocks)
        whole = {k for k, window in enumerate(windows) if window is None}
        parts = (n for n, moving in enumerate(self.loops) if moving & whole)
        return Lifetime(windows, next(parts, len(self.loops)))

    def but_for_blocks(self, positions: Iterable[int]) -> tuple[Expression | None, ...]:
        """Return the windows where slots need not come in whole blocks."""
        return replace(self, in_blocks=(), _known={}).folded(positions).windows


def together(
    extents: Mapping[str, Extent],
    tree: Tree,
    statements: Mapping[str, Instances],
    *,
    live_out: Collection[str] = (),
    keep: Mapping[str, Collection[int]] | None = None,
) -> Mapping[str, Together]:
    """Return the elements of each array that are live at one time under the schedule `tree`, those
    of an array when it is asked for.

    Arrays of `live_out` are results, read after everything. `keep`: positions of an array's
    dimensions that must stay full for other reasons. A dimension indexed by an axis dimension of
    any statement stays full: the whole axis is written at one time. Where every such axis runs in
    the same blocks, a block is written at one time. Then the window is a multiple of the block
    size, so that the elements of a block have neighbouring slots. Where the writing statement names
    the array in `may_alias`, its instance may write over the element that it reads itself.
    """
    used = uses(extents, statements)
    at = paths(tree)

    def of(array: str) -> Together:
        extent = extents[array]
        if array in live_out:
            return Together(extent, (), frozenset(range(len(extent))), (), ())
        own = used[array]
        touched = along_axes([(statements[use.statement], use.access) for use in own], at)
        full = {k for k, blocks in touched.items() if not blocks}
        full |= set(keep.get(array, ()) if keep else ())
        met = encounters(own, own, statements, at)
        around = _common_loops(own, statements, at)
        return Together(
            extent,
            tuple(dict.fromkeys(e.conflict for e in met)),
            frozenset(full),
            tuple(touched.items()),
            tuple(_moving(loop, own) for loop in around),
            tuple(position for position, loop in enumerate(around) if loop.apart),
        )

    return OnDemand(extents, of)


def along_axes(
    accesses: Iterable[tuple[Instances, Access]], found: Mapping[str, Path]
) -> dict[int, frozenset[int]]:
    """Return the positions that accesses to one array index by array axes of their statements.

    Each comes with the sizes of blocks that all of these keep to (none if one takes the axis
    whole).
    """
    result: dict[int, frozenset[int]] = {}
    for statement, access in accesses:
        path = found[statement.name]
        axes = {axis.dim for axis in loops_above(path, "axis")}
        if not axes:
            continue
        blocks = axis_blocks(statement.name, statement.dims, path)
        for k, e in enumerate(access.index):
            if e is not None and e.variables & axes:
                own = aligned(e, blocks) if isinstance(e, Expression) else frozenset()
                result[k] = result.get(k, own) & own
    return result


# -- the loop an array belongs in ------------------------------------------------------------------


def _common_loops(
    uses: Sequence[Use], statements: Mapping[str, Instances], found: Mapping[str, Path]
) -> tuple[Loop, ...]:
    """Return the loops around all uses whose iterations share no value, outermost first."""
    pairs = [(w, u) for w in uses if w.is_write for u in uses if not u.is_write]
    loops = []
    for loop in loops_above(shared_path(found[use.statement] for use in uses), "loop"):
        if any(_crosses(loop, w, u, statements) for w, u in pairs):
            break
        loops.append(loop)
    return tuple(loops)


def _moving(loop: Loop, uses: Sequence[Use]) -> frozenset[int]:
    """Return the positions at which indices change from iteration to iteration."""
    return frozenset(
        k
        for use in uses
        for k, e in enumerate(use.access.index)
        if isinstance(e, Expression) and e.variables & {loop.dim, loop.name}
    )


def _crosses(loop: Loop, write: Use, read: Use, statements: Mapping[str, Instances]) -> bool:
    ends = standings(loop, statements[write.statement], statements[read.statement])
    return _differs(RelationKey(write.key, read.key), *ends)


@lru_cache(maxsize=16384)
def _differs(key: RelationKey, source: Standing, sink: Standing) -> bool:
    pairs = relation(key)
    ranks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    return not pairs.is_subset(pair_order(*ranks, source, sink))


# -- why a dimension needs its full extent ---------------------------------------------------------


def whole_extent_clash(
    array: str,
    extent: Extent,
    tree: Tree,
    statements: Mapping[str, Instances],
    position: int,
    folded: Collection[int],
) -> Clash | None:
    """Return two conflicting elements at the two ends of the dimension at `position`.

    The dimensions `folded` do not tell elements apart. None where folding is possible.
    """
    own = uses({array: extent}, statements)[array]
    live = together({array: extent}, tree, statements)[array]
    copies = live.own_copies((*folded, position))
    met = list(encounters(own, own, statements, paths(tree), copies))
    full = [k for k in range(len(extent)) if k != position and k not in folded]
    with limited("computing lifetimes"):
        conflicts = list(dict.fromkeys(e.conflict for e in met))
        bad = in_the_way(conflicts, full, len(extent))
        ends = bad.intersect(_ends(extent, position))
        sizes = sorted({n for pair in extent for e in pair for n in e.sizes})
        later = isl.Map.empty(ends.get_space())
        for encounter in met:
            if encounter.use.is_write:
                later = later.union(overwritten(encounter.conflict).reverse())
        # Any recurrence needs both of two slices; elements further apart show that a window does
        # not help. Prefer a used element that was written first, not at the same time.
        apart = bad.intersect(_ends(extent, position, 2))
        for pairs in (apart.intersect(later), apart, ends.intersect(later), ends):
            shown = clash(met, statements, pairs, sizes)
            if shown is not None:
                return shown
        return None


def _ends(extent: Extent, position: int, least: int = 1) -> isl.Map:
    """Return { element -> element }: one at each end of the dimension, `least` apart at least."""
    rank = len(extent)
    p, q = ([f"{letter}{k}" for k in range(rank)] for letter in "pq")
    lower, upper = extent[position]
    at, to = p[position], q[position]
    ways = [
        f"{constraint(a, '=', lower)} and {constraint(b, '=', upper - 1)} and {a} + {least} <= {b}"
        for a, b in ((at, to), (to, at))
    ]
    sizes = parameters_text(lower.sizes | upper.sizes)
    text = f"{sizes} -> {{ [{', '.join(p)}] -> [{', '.join(q)}] : ({ways[0]}) or ({ways[1]}) }}"
    return parse_map(text)
