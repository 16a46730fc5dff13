"""Work along a dimension in blocks: its results and their sums are computed block by block in one
loop, so that only a block of everything in between is held.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.planning.recipe.plan import Plan, Reasoned
from workbench.polyhedral.tree import (
    Loop,
    Tree,
    axis_dims,
    block_dim,
    loops_above,
    paths,
    statements,
)
from workbench.program.dependences import dependences
from workbench.program.operations.table import COMBINES
from workbench.program.values import Program
from workbench.transforms import Distribute, Fuse, Incrementalize, Interchange, Tile
from workbench.transforms.step.refusal import Refused

NEAR = 1 << 19
"""The bytes of a block's widest result: a few of them lie in caches."""

ITEM = 4
"""The bytes of a number."""


Edges = Mapping[str, set[str]]


@dataclass(frozen=True)
class Region:
    """Statements that run as arrays along `dim` inside the same loops and axes (`outside`, from the
    outermost on), and the sums they end in. No statement needs another through one outside the
    region.
    """

    dim: str
    members: tuple[str, ...]
    sums: tuple[str, ...]
    outside: tuple[Loop, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes around the region."""
        return tuple(loop.dim for loop in self.outside if loop.kind == "axis")


def regions(program: Program, dim: str) -> Iterator[Region]:
    """Yield the regions that could run in blocks of `dim`; of statements that need each other
    through others, the last first.
    """
    around = {name: loops_above(path) for name, path in paths(program.schedule).items()}
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, loops in around.items():
        place = _outside(loops, dim)
        if place is not None:
            groups.setdefault(tuple((loop.dim, loop.kind) for loop in place), []).append(name)
    for group in groups.values():
        outside = _outside(around[group[0]], dim)
        assert outside is not None
        follows = _follows(program, outside)
        ended = set[str]()
        while group:
            members = _together(group, follows)
            sums = [name for name in _sums(program, dim, members, follows) if name not in ended]
            ended |= set(sums)
            group = [name for name in group if name not in members]
            leading = _leading(members, sums, follows)
            rest = tuple(name for name in members if name not in leading)
            for part, ends in ((leading, tuple(sums)), (rest, ())):
                if part:
                    yield Region(dim, part, ends, outside)


def in_blocks(plan: Plan, region: Region, size: int) -> Plan | None:
    """Return the plan with the region in blocks, each summed right after it is computed: the whole
    region, or else its members in one axis with the last. None where one of the steps is not legal.
    """
    blocked = _in_blocks(plan, region, size)
    last = _beside_last(plan.program, region)
    if blocked is None and last != region.members:
        blocked = _in_blocks(plan, replace(region, members=last), size)
    return blocked


def _beside_last(program: Program, region: Region) -> tuple[str, ...]:
    """Return the members in one axis with the last."""
    around = paths(program.schedule)

    def axis(name: str) -> Loop:
        return next(loop for loop in loops_above(around[name]) if loop.dim == region.dim)

    order = list(around)
    last = max(region.members, key=order.index)
    return tuple(name for name in region.members if axis(name) is axis(last))


def _in_blocks(plan: Plan, region: Region, size: int) -> Plan | None:
    dim, block = region.dim, block_dim(region.dim, size)
    why = f"summed in blocks of {size}, each when it is there"
    summed = [Reasoned(Incrementalize(name, dim, size), why) for name in region.sums]
    tile = Reasoned(Tile(dim, size, region.members), f"a block of {size} at a time along {dim}")
    tiled = plan.after_all([*summed, tile])
    if tiled is None:
        return None
    written = plan.program.statement
    partial = tuple(s.name for s in tiled.program.statements if s.name not in written)
    names = (*region.members, *partial)
    for axis in reversed(region.axes):
        tiled = _turned(tiled, names, axis, block)
        if tiled is None:
            return None
    return _fused(tiled, names, needed=bool(partial))


def _turned(plan: Plan, names: tuple[str, ...], axis: str, block: str) -> Plan | None:
    """Move the loops over blocks outside of an axis around them."""
    why = f"one block over all of {axis} comes before the next"
    turned: Plan | None = plan
    for part in _loops_over(plan.program.schedule, block, names, axis):
        try:
            turned = plan.after(Distribute(part, axis), f"{why}: first in a loop of their own")
        except Refused:
            turned = plan  # they have one already
        turned = turned.after_all([Reasoned(Interchange(axis, block, part), why)])
        if turned is None:
            return None
        plan = turned
    return turned


def _loops_over(
    tree: Tree, block: str, names: Iterable[str], axis: str
) -> Iterator[tuple[str, ...]]:
    """Yield the statements inside the axis, grouped by the loop over blocks that they share."""
    chosen = set(names)
    parts: dict[int, list[str]] = {}
    for name, path in paths(tree).items():
        if name in chosen:
            loops = loops_above(path)
            position = next(k for k, loop in enumerate(loops) if loop.name == block)
            if any(loop.dim == axis for loop in loops[:position]):
                parts.setdefault(id(loops[position]), []).append(name)
    for part in parts.values():
        yield tuple(part)


def _fused(plan: Plan, names: tuple[str, ...], needed: bool) -> Plan | None:
    """Join the loops over blocks to one."""
    try:
        return plan.after(Fuse(names), "each block is used as soon as it is computed")
    except Refused:
        return None if needed else plan


def near_size(program: Program, region: Region, sizes: Mapping[str, int], near: int) -> int:
    """Return how many values of the dimension, a power of two, make the widest result of a block
    take about `near` bytes.
    """
    axes = axis_dims(program.schedule)
    widest = 1
    for name in region.members:
        array = program.array[program.statement[name].array]
        inner = [n if isinstance(n, int) else n.evaluate(sizes) for n in array.shape]
        lengths = [
            (upper - lower).evaluate(sizes)
            for d, (lower, upper) in zip(array.dims, array.extent, strict=True)
            if d in axes[name] and d != region.dim
        ]
        widest = max(widest, math.prod((*inner, *lengths)) * ITEM)
    return 1 << max(1, (near // widest).bit_length() - 1)


# -- members of a region ---------------------------------------------------------------------------


def _outside(loops: tuple[Loop, ...], dim: str) -> tuple[Loop, ...] | None:
    """Return the loops around the axis over `dim`; None if there is none or it is in blocks."""
    for position, loop in enumerate(loops):
        if loop.tile is not None:
            return None
        if loop.dim == dim:
            return loops[:position] if loop.kind == "axis" else None
    return None


def _follows(program: Program, outside: tuple[Loop, ...]) -> Edges:
    """Return for each statement its dependents within one iteration of the loops outside."""
    needs = dependences(program.equations)
    for loop in outside:
        if loop.kind == "loop":
            needs = needs.among(tuple(statements(loop))).within(loop)
    edges: dict[str, set[str]] = {}
    for d in needs.all:
        if d.source != d.sink:
            edges.setdefault(d.source, set()).add(d.sink)
    return edges


def _together(group: list[str], follows: Edges) -> tuple[str, ...]:
    """Return the statements of which none leads to another through one outside the group."""
    kept = set(group)
    while True:
        early = set()
        for name in kept:
            through = reached((n for n in follows.get(name, ()) if n not in kept), follows)
            if through & kept:
                early.add(name)
        if not early:
            return tuple(name for name in group if name in kept)
        kept -= early


def _leading(members: tuple[str, ...], sums: list[str], follows: Edges) -> tuple[str, ...]:
    """Return the members that a sum needs."""
    kept = {*members, *sums}
    inside = {name: follows.get(name, set()) & kept for name in members}
    return tuple(name for name in members if reached(inside[name], inside) & set(sums))


def reached(start: Iterable[str], follows: Edges) -> set[str]:
    """Return the start and all that follows from it."""
    names = set(start)
    todo = list(names)
    while todo:
        for name in follows.get(todo.pop(), ()):
            if name not in names:
                names.add(name)
                todo.append(name)
    return names


def _sums(program: Program, dim: str, members: tuple[str, ...], follows: Edges) -> Iterator[str]:
    """Yield the statements that combine all of `dim` of a member's results."""
    read = set().union(*(follows.get(name, set()) for name in members))
    for s in program.statements:
        ends = s.name in read and s.name not in members
        whole = dim in s.reduction_dims and dim not in s.dims
        if ends and whole and s.combiner in COMBINES:
            yield s.name
