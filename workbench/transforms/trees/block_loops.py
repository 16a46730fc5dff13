"""Loops over blocks in any order, around statements that vary over a dimension.

In a sequence, parts all of whose statements may run in blocks are gathered in as few loops as
dependences allow, from the end: a part stands in the latest loop that precedes all its readers or
holds them. What needs something complete, a finished sum, stands between two loops.

What only a later iteration of the loop around needs, as the state in which the next rollout starts,
comes last, so that nothing that is still read need be kept beside it: last in its block or, where
what it overwrites is read behind the blocks, in blocks of its own at the end of the iteration. It
stays in the block if it reads what only the block needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.identity import remembered
from workbench.polyhedral.dependences.components import depth_first, topological
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.tree import (
    Block,
    Loop,
    Tree,
    mapped,
    sequence,
    statements,
    with_child,
)
from workbench.transforms.trees.inner_loops import inner_joined

END = -1
"""The level of the loop over blocks at the end of an iteration, behind those that are counted."""


@dataclass(frozen=True)
class Part:
    """A part of a sequence; of a loop over the dimension each part of its body is one.

    `origin` is that loop. A `unit` has only statements that may run in blocks.
    """

    tree: Tree
    unit: bool
    origin: Loop | None = None

    @property
    def members(self) -> frozenset[str]:
        """The statements of the part."""
        return frozenset(statements(self.tree))


class Circular(Exception):
    """An error: parts of a loop over the dimension need each other at other values of it.

    `tree` has the loop's blocks in any order, which they cannot be.
    """

    def __init__(self, loop: Loop, blocks: Loop) -> None:
        self.loop = loop
        self.blocks = blocks
        super().__init__(loop.dim)


class InBlockLoops(NamedTuple):
    """A tree with loops over blocks, and the statements of each of these."""

    tree: Tree
    regions: tuple[tuple[str, ...], ...]


@remembered(16, same=2)
def in_block_loops(
    tree: Tree, found: Dependences, dim: str, able: frozenset[str], ends: bool
) -> InBlockLoops:
    """Return a tree with the statements `able` in loops over blocks of `dim`; `found` are all its
    dependences. Which statements share a loop is the same for blocks of any size: they have one
    value each until they are `sized`. With `ends` some statements may stand in a loop of their own
    at the end of an iteration. Raises Circular.
    """
    walk = BlockLoops(dim, able, ends)
    placed = walk.placed(tree, found)
    return InBlockLoops(placed, tuple(walk.regions))


def sized(tree: Tree, dim: str, able: frozenset[str], size: int, chunks: int) -> Tree:
    """Return the tree with blocks of `size` values, dealt to `chunks` runs, of the statements
    `able`; others may be in blocks of `dim` from before.
    """

    def edit(node: Tree) -> Tree | None:
        if isinstance(node, Loop) and node.apart and node.dim == dim:
            return None if able.isdisjoint(node.below) else sized_loop(node, size, chunks)
        return None

    return mapped(tree, edit)


def sized_loop(blocks: Loop, size: int, chunks: int) -> Loop:
    """Return a loop over blocks with blocks of `size` values, dealt to `chunks` runs."""
    return replace(blocks, tile=size, chunks=chunks)


@dataclass
class BlockLoops:
    """A walk over a tree that puts the statements `able` in blocks of `dim`, of one value each.

    With `ends`, statements may stand in a loop of their own at the end of an iteration.

    The walk collects `regions`: the statements of each loop over blocks.
    """

    dim: str
    able: frozenset[str]
    ends: bool
    regions: list[tuple[str, ...]] = field(default_factory=list)

    def placed(self, tree: Tree, found: Dependences, around: Dependences | None = None) -> Tree:
        """Return the tree with blocks; `found` are the dependences that outer loops leave.

        `around` are those and what leads to later iterations of the loop directly around.
        Raises Circular.
        """
        if not self.able & set(statements(tree)):
            return tree
        parts = [part for child in _parts(tree) for part in self._flat(child)]
        parts = [p if p.unit else replace(p, tree=self._inside(p.tree, found)) for p in parts]
        if not any(p.unit for p in parts):
            return sequence([p.tree for p in parts])
        parts = _with_recurrences(parts, found)
        follows = _follows(parts, found)
        order = topological(follows, {k: k for k in range(len(parts))})
        if len(order) < len(parts):
            self._raise(parts, set(range(len(parts))) - set(order))
        last = {} if around is None else _handed_on(parts, follows, around)
        level = self._levels(parts, follows, order)
        if self.ends:
            level |= {k: END for k in last if _better_at_end(parts, found, level, k, last[k])}
        return self._joined(parts, follows, order, level, last, found)

    def _flat(self, child: Tree) -> Iterator[Part]:
        """Yield a child of a sequence, or each part of the body of a loop over the dimension."""
        if not isinstance(child, Loop) or not self._along(child):
            yield Part(child, self.able >= set(statements(child)))
            return
        for part in _parts(child.child):
            unit = self.able >= set(statements(part))
            yield Part(part if unit else with_child(child, part), unit, child)

    def _inside(self, tree: Tree, found: Dependences) -> Tree:
        """Return a part that does not run in blocks as a whole, with blocks inside."""
        if not isinstance(tree, Loop) or self._along(tree):
            return tree
        around = found.among(tuple(statements(tree)))
        if tree.kind == "axis":
            return replace(tree, child=self.placed(tree.child, around))
        return replace(tree, child=self.placed(tree.child, around.within(tree), around))

    def _along(self, loop: Loop) -> bool:
        return loop.dim == self.dim and loop.tile is None

    def _raise(self, parts: Sequence[Part], rest: set[int]) -> None:
        """Raise the error for the first loop with parts that wait for each other."""
        for k in sorted(rest):
            loop = parts[k].origin
            if loop is not None and sum(parts[n].origin is loop for n in rest) > 1:
                inner = replace(loop, backwards=False)
                raise Circular(loop, self._blocks(inner))
        raise AssertionError("a legal order has no cycle but in loops over the dimension")

    def _blocks(self, inner: Loop) -> Loop:
        return Loop(self.dim, inner, tile=1, apart=True)

    # -- which loop ------------------------------------------------------------------------------

    def _levels(
        self, parts: Sequence[Part], follows: Mapping[int, set[int]], order: Sequence[int]
    ) -> dict[int, int]:
        """Return how many loops over blocks, counted from the end, come behind each part."""
        level: dict[int, int] = {}
        for k in reversed(order):
            finished = not parts[k].unit
            level[k] = max((level[n] + (finished and parts[n].unit) for n in follows[k]), default=0)
        return level

    def _joined(
        self,
        parts: Sequence[Part],
        follows: Mapping[int, set[int]],
        order: Sequence[int],
        level: Mapping[int, int],
        last: Collection[int],
        found: Dependences,
    ) -> Tree:
        """Return the sequence in which units of one level are in one loop."""
        units: dict[int, list[int]] = {n: [] for n in level.values()}
        for k in order:
            if parts[k].unit:
                units[level[k]].append(k)
        units = {n: _soon_used(some, follows, last) for n, some in units.items()}
        node = {k: max(units[level[k]]) if parts[k].unit else k for k in order}
        after: dict[int, set[int]] = {n: set() for n in node.values()}
        for k in order:
            after[node[k]] |= {node[n] for n in follows[k]} - {node[k]}
        result: list[Part] = []
        for n in topological(after, {n: len(parts) if level[n] == END else n for n in after}):
            unit = parts[n].unit
            result.append(self._region(parts, units[level[n]], found) if unit else parts[n])
        return sequence([p.tree for p in _rejoined(result)])

    def _region(self, parts: Sequence[Part], units: Sequence[int], found: Dependences) -> Part:
        content = sequence([self._without(parts[k].tree) for k in units])
        content = inner_joined(content, found.among(tuple(statements(content))))
        self.regions.append(tuple(statements(content)))
        return Part(self._blocks(Loop(self.dim, content, "axis")), True)

    def _without(self, tree: Tree) -> Tree:
        """Return a unit without its loops over the dimension: one axis is around all units."""
        return mapped(
            tree, lambda node: node.child if isinstance(node, Loop) and self._along(node) else None
        )


def _soon_used(
    units: Sequence[int], follows: Mapping[int, set[int]], last: Collection[int]
) -> list[int]:
    """Return the units of a loop over blocks with their users directly behind them as far as can
    be: what a block hands on is in its cache then. What only later iterations need comes last.
    """
    within = [k for k in units if k not in last]
    ordered = depth_first({k: follows[k] & set(within) for k in within})
    return [*ordered, *(k for k in units if k in last)]


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return tree.children if isinstance(tree, Block) else (tree,)


def _with_recurrences(parts: Sequence[Part], found: Dependences) -> list[Part]:
    """Join parts of a loop that need each other at other values of the dimension again, if none of
    them may run in blocks: they stay that loop.
    """
    follows = _follows(parts, found)
    first = topological(follows, {k: k for k in follows})  # all but cycles and what needs these
    reached = {k: _reached(follows, k) for k in follows.keys() - first}
    result: list[Part] = []
    for k, part in enumerate(parts):
        cycle = [n for n in sorted(reached.get(k, ())) if k in reached[n]]
        together = [parts[n] for n in cycle]
        if not cycle or any(p.unit or p.origin is not part.origin for p in together):
            result.append(part)
        elif k == cycle[0]:
            assert part.origin is not None
            inside = [p.tree.child for p in together if isinstance(p.tree, Loop)]
            result.append(Part(with_child(part.origin, sequence(inside)), False, part.origin))
    return result


def _reached(follows: Mapping[int, set[int]], start: int) -> set[int]:
    """Return the parts that need a part, directly or through others."""
    reached, waiting = set[int](), [start]
    while waiting:
        new = follows[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _follows(parts: Sequence[Part], found: Dependences) -> dict[int, set[int]]:
    """Return for each part those that need it."""
    owner = {name: k for k, part in enumerate(parts) for name in statements(part.tree)}
    follows: dict[int, set[int]] = {k: set() for k in range(len(parts))}
    for d in found.all:
        source, sink = owner.get(d.source), owner.get(d.sink)
        if source is not None and sink is not None and source != sink:
            follows[source].add(sink)
    return follows


def _handed_on(
    parts: Sequence[Part], follows: Mapping[int, set[int]], around: Dependences
) -> dict[int, set[int]]:
    """Return the units that only later iterations of the loop around need, with what reads them."""
    readers = _follows(parts, around)
    return {
        k: readers[k] for k, part in enumerate(parts) if part.unit and readers[k] and not follows[k]
    }


def _better_at_end(
    parts: Sequence[Part],
    found: Dependences,
    level: Mapping[int, int],
    k: int,
    readers: Collection[int],
) -> bool:
    """Tell whether a unit that only later iterations need should leave its loop over blocks.

    So it is where one of the `readers` of what it overwrites may stand behind that loop. All that
    it reads there must be needed outside anyway: else the loop would keep more for it.
    """
    if not any(level[n] < level[k] + (not parts[n].unit) for n in readers):
        return False
    inside = {n for n, part in enumerate(parts) if part.unit and level[n] == level[k]}
    region = {name for n in inside for name in parts[n].members}
    private = {d.array for d in found.all if d.source in region}
    private -= {d.array for d in found.all if d.sink not in region}
    return not private & {d.array for d in found.all if d.sink in parts[k].members}


def _rejoined(parts: Sequence[Part]) -> list[Part]:
    """Join neighbours that were in one loop over the dimension, and are in no block."""
    result: list[Part] = []
    for part in parts:
        last = result[-1] if result else None
        if last is not None and last.origin is not None and last.origin is part.origin:
            assert isinstance(last.tree, Loop) and isinstance(part.tree, Loop)
            both = sequence([last.tree.child, part.tree.child])
            result[-1] = replace(last, tree=with_child(last.origin, both))
        else:
            result.append(part)
    return result
