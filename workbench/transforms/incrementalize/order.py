"""The places of new statements in the schedule: at the old one's, in loops of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.polyhedral.dependences.carrying import first_carried
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.ordering.as_written import order_below
from workbench.polyhedral.sets.relations import is_box
from workbench.polyhedral.tree import (
    Block,
    Leaf,
    Loop,
    Tree,
    axis_dims,
    loop_dims,
    loops_above,
    nodes,
    only,
    paths,
    sequence,
    statements,
)
from workbench.polyhedral.tree import loops as all_loops
from workbench.program.dependences import dependences
from workbench.program.values import Equations, Program, Statement
from workbench.transforms.incrementalize.rewrite import Rewrite
from workbench.transforms.trees.axes import in_axes


class Tiled(Exception):
    """An error: the statement shares a loop over blocks of `dim`, which would have to be split."""

    def __init__(self, dim: str) -> None:
        self.dim = dim
        super().__init__(dim)


def placed(schedule: Tree, after: Equations, old: Statement, rewrite: Rewrite, dim: str) -> Tree:
    """Return a schedule of the equations `after`, with new statements in the place of `old`.

    They keep its loops and axes. Blocks of `dim` run as `dim` did; the blocks and the positions in
    them have the rewrite's names. But a recurrence runs along a loop. Statements that share a loop
    over `dim` with the old one are ordered anew with the new ones. Raises NoOrder and Tiled.
    """
    tree = only(schedule, {old.name, *after.statement})
    assert tree is not None
    around = loops_above(paths(tree)[old.name])
    top = next((loop for loop in around if loop.dim == dim), None)
    region = _leaf(tree, old.name) if top is None else top
    at = _Place(old, rewrite.pieces.guarded, dim, rewrite.names, region)
    return at.walk(tree, dependences(after))


def carried_within(program: Program, old: Statement, names: Sequence[str], dim: str) -> Witness:
    """Return the smallest two instances, at two values of `dim`, of statements that need each
    other: preferably of the statement's own operands.
    """
    left = dependences(program.equations)
    for node, _ in paths(program.schedule)[old.name]:
        if isinstance(node, Loop) and node.dim == dim:
            break
        if isinstance(node, Loop) and node.kind == "loop":
            left = left.among(list(statements(node))).within(node)
    inside = [d for d in left.all if d.source in names and d.sink in names]
    carried = first_carried(left, sorted(inside, key=lambda d: d.sink != old.name), dim)
    assert carried is not None, f"{', '.join(names)} do not need each other along {dim}"
    return carried.witness


@dataclass(frozen=True)
class _Place:
    old: Statement
    new: tuple[Statement, ...]
    dim: str
    names: tuple[str, str]
    region: Tree

    def walk(self, node: Tree, left: Dependences) -> Tree:
        """Return the node with the region in it ordered anew."""
        if node is self.region:
            return self.ordered(left)
        if isinstance(node, Loop):
            inside = left if node.kind == "axis" else left.within(node)
            return replace(node, child=self.walk(node.child, inside))
        assert isinstance(node, Block)
        children = list(node.children)
        for position, child in enumerate(children):
            if self.old.name in statements(child):
                held = left.among(self.members(child))
                children[position] = self.walk(child, held)
        return sequence(children)

    def members(self, node: Tree) -> list[str]:
        """Return the statements below, the new ones for the old one."""
        names: list[str] = []
        for name in statements(node):
            names += [s.name for s in self.new] if name == self.old.name else [name]
        return names

    def ordered(self, left: Dependences) -> Tree:
        """Put the region's statements in loops and axes as before, the new ones in theirs."""
        loops, axes = dict(loop_dims(self.region)), dict(axis_dims(self.region))
        for loop in all_loops(self.region):
            if loop.tile is not None:
                raise Tiled(loop.dim)
        own_loops, own_axes = loops.pop(self.old.name), axes.pop(self.old.name)
        for s in self.new:
            wide = self._axes(s, own_axes)
            axes[s.name] = wide
            loops[s.name] = tuple(
                d
                for d in s.dims
                if d not in wide and (d not in self.old.dims or d in (*own_loops, *own_axes))
            )
        members = self.members(self.region)
        ranked = list(dict.fromkeys(d for name in members for d in loops[name]))
        tree = order_below(
            [left.statements[n] for n in members], left.among(members), loops, ranked
        )
        return in_axes(tree, axes)

    def _axes(self, s: Statement, before: Sequence[str]) -> tuple[str, ...]:
        block, position = self.names
        along = next((d for d in (position, block, self.dim) if d in s.dims), "")
        recurs = any(r.array == s.array for r in s.reads)
        axes: list[str] = []
        for d in s.dims:
            as_axis = d in before or (d == block and self.dim in before)
            if as_axis and not (recurs and d == along) and is_box(s.domain, [*axes, d]):
                axes.append(d)
        return tuple(axes)


def _leaf(tree: Tree, name: str) -> Tree:
    return next(node for node in nodes(tree) if node == Leaf(name))
