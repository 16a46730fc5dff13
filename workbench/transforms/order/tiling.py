"""A schedule tree with loops over blocks around its loops and axes over one dimension."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.polyhedral.dependences.flow import Dependence, Dependences, standings
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.ordering.as_written import goes_back
from workbench.polyhedral.tree import (
    Block,
    Leaf,
    Loop,
    Tree,
    block_dim,
    replaced,
    sequence,
    statements,
)
from workbench.program.values import Program
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import violated
from workbench.transforms.trees.distribution import distributed

_Against = Mapping[bool, Sequence[Dependence]]
"""The dependences against which a loop over blocks runs, forwards (False) and backwards (True)."""


@dataclass
class Tiling:
    """A walk over a tree, for the statements `chosen`; `step` begins the refusals' sentences.

    The walk collects `refusals`: why a loop or an axis, or a part of one, stayed as it was.
    """

    program: Program
    dim: str
    size: int
    chosen: frozenset[str]
    step: str
    refusals: list[Refusal] = field(default_factory=list)

    def tiled(self, tree: Tree, found: Dependences) -> Tree:
        """Return the tree with blocks; `found` are the dependences that outer loops leave.

        Larger blocks stand outside smaller ones.
        """
        members = frozenset(statements(tree))
        if isinstance(tree, Leaf) or not self.chosen & members:
            return tree
        if isinstance(tree, Block):
            parts = [self.tiled(c, found.among(tuple(statements(c)))) for c in tree.children]
            return sequence(parts)
        if tree.dim != self.dim or (tree.tile or 1) > self.size:
            inside = found if tree.kind == "axis" else found.within(tree)
            return replace(tree, child=self.tiled(tree.child, inside))
        if tree.tile == self.size:
            return tree
        counted = next((n for n in statements(tree) if self._counts_blocks(n)), None)
        if counted is not None:
            self.refusals.append(self._held(tree, counted))
            return tree
        numbered = next((n for n in statements(tree) if self._has_number(n)), None)
        if numbered is not None:
            self.refusals.append(self._numbered(numbered))
            return tree
        if tree.kind == "axis":
            return self._axis(tree, found)
        return self._loop(tree) if members <= self.chosen else self._part(tree, found)

    def _counts_blocks(self, name: str) -> bool:
        """Tell whether a statement in a loop over `dim` has a block's number instead of a value."""
        return self.dim not in self.program.statement[name].dims

    def _has_number(self, name: str) -> bool:
        """Tell whether a chosen statement has the blocks' number beside a value of `dim`."""
        number = block_dim(self.dim, self.size)
        return name in self.chosen and number in self.program.statement[name].dims

    def _numbered(self, name: str) -> Refusal:
        sentence = (
            f"{self.step}: {name} runs in blocks of {self.size} already: it varies over "
            f"{block_dim(self.dim, self.size)}"
        )
        return Refusal("capability", sentence, line=self.program.statement[name].line)

    def _held(self, loop: Loop, name: str) -> Refusal:
        sentence = (
            f"{self.step}: {name} runs once for each block of {loop.tile} values of {self.dim}, "
            f"and blocks of {self.size} values can hold only what runs for each value of {self.dim}"
        )
        return Refusal("capability", sentence, line=self.program.statement[name].line)

    # -- loops -------------------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> Loop:
        return replace(loop, child=loop, tile=self.size, apart=False, chunks=1)

    def _part(self, loop: Loop, found: Dependences) -> Tree:
        """Tile only the chosen statements of a loop: they get one of their own."""
        own = self.chosen & frozenset(statements(loop))
        split = [distributed(loop, loop, own, found, way) for way in (0, 1)]
        broken = [violation(tree, found) for tree in split]
        legal = [tree for tree, wrong in zip(split, broken, strict=True) if wrong is None]
        if not legal:
            assert broken[0] is not None
            self.refusals.append(violated(self._with(loop, split[0]), broken[0], self.step))
            return loop
        assert isinstance(legal[0], Block)
        parts: list[Tree] = []
        for part in legal[0].children:
            chosen = isinstance(part, Loop) and self.chosen >= set(statements(part))
            parts.append(self._loop(part) if isinstance(part, Loop) and chosen else part)
        return sequence(parts)

    # -- axes --------------------------------------------------------------------------------------

    def _axis(self, axis: Loop, found: Dependences) -> Tree:
        """Split an axis into as few parts as possible, each with one loop over blocks."""
        parts = axis.child.children if isinstance(axis.child, Block) else (axis.child,)
        against = {way: self._against(axis, found, way) for way in (False, True)}
        runs: list[tuple[bool, list[Tree]]] = []
        for part in parts:
            stays = self._stays(axis, part, against, found)
            joins = runs and runs[-1][0] == stays
            if not joins or not (stays or _ways([*runs[-1][1], part], against)):
                runs.append((stays, []))
            runs[-1][1].append(part)
        result: list[Tree] = []
        for stays, run in runs:
            own = replace(axis, child=sequence(run))
            result.append(own if stays else self._blocks(own, _ways(run, against)[0]))
        return sequence(result)

    def _blocks(self, axis: Loop, backwards: bool) -> Loop:
        return Loop(axis.dim, axis, backwards=backwards, tile=self.size)

    def _against(self, axis: Loop, found: Dependences, backwards: bool) -> list[Dependence]:
        """Return the dependences whose sink would come in an earlier block than its source."""
        loop = self._blocks(axis, backwards)
        return [
            d
            for d in found.all
            if goes_back(
                found.keys[d],
                *standings(loop, found.statements[d.source], found.statements[d.sink]),
                backwards,
            )
        ]

    def _stays(self, axis: Loop, part: Tree, against: _Against, found: Dependences) -> bool:
        """Tell whether a part of an axis gets no blocks: none are wanted, or they are not legal."""
        own = frozenset(statements(part))
        if not own & self.chosen:
            return True
        if not own <= self.chosen:
            wanted, others = (", ".join(sorted(x)) for x in (own & self.chosen, own - self.chosen))
            sentence = f"{self.step}: in the axis {axis.dim}, {wanted} is in a loop with {others}"
            self.refusals.append(Refusal("capability", sentence))
            return True
        if _ways([part], against):
            return False
        blocks = self._blocks(replace(axis, child=part), False)
        broken = violation(blocks, found.among(tuple(statements(part))))
        assert broken is not None
        inside = axis.child.children if isinstance(axis.child, Block) else (axis.child,)
        alone: list[Tree] = [blocks if p is part else replace(axis, child=p) for p in inside]
        self.refusals.append(violated(self._with(axis, sequence(alone)), broken, self.step))
        return True

    def _with(self, node: Tree, new: Tree) -> Program:
        """Return the program with another order in the place of a node."""
        return replace(self.program, schedule=replaced(self.program.schedule, node, new))


def _ways(parts: Collection[Tree], against: _Against) -> list[bool]:
    """Return the ways (backwards or not) in which blocks of parts of an axis can run together."""
    own = {name for part in parts for name in statements(part)}
    return [
        way
        for way, broken in against.items()
        if not any(d.source in own and d.sink in own for d in broken)
    ]
