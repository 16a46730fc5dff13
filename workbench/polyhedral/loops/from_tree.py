"""Loops from a schedule tree: plain records with the user's names, to print and to lower.

isl generates loops from a flattened schedule map; this file only translates. Axis dimensions are
projected out before (isl would invent loops for them); an axis in blocks leaves the number of its
block. A backwards loop is generated over the negated variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

import islpy as isl

from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.loops.ast_reader import read
from workbench.polyhedral.loops.axis_blocks import axis_blocks, with_blocks
from workbench.polyhedral.loops.nodes import LoopNode, Node
from workbench.polyhedral.sets.as_text import (
    context,
    limited,
    parse_map,
    parse_set,
    project_out,
    sizes_in,
)
from workbench.polyhedral.sets.isl_names import dim_name, statement_tuple
from workbench.polyhedral.sets.isl_text import dims_text
from workbench.polyhedral.tree import (
    Block,
    Loop,
    Path,
    Tree,
    has_loop,
    loops_above,
    paths,
    standing,
    statements,
    with_child,
)

OPERATIONS = 20_000_000
"""The limit of isl operations for the loops of a whole program (tens of seconds)."""


def loops(tree: Tree, instances: Mapping[str, Instances]) -> tuple[Node, ...]:
    """Return the loops that execute a tree. Every size is taken to be at least 1.

    A statement may occur several times (an iteration that differs is peeled). It is absent only
    where its domain is empty. Variables have the names of loops, numbered where nested.
    """
    return _by_parts((), tree, instances)


def _by_parts(
    around: tuple[Loop, ...], tree: Tree, instances: Mapping[str, Instances]
) -> tuple[Node, ...]:
    """Return the loops of a tree with the loops `around` it, generated part by part where the parts
    have the same loops around them: a step changes few of them, and isl takes longer for all.
    """
    if isinstance(tree, Loop) and tree.kind == "loop" and isinstance(tree.child, Block):
        return _by_parts((*around, tree), tree.child, instances)
    parts = list(_parts(tree)) if isinstance(tree, Block) else [tree]
    if len(parts) != 1:
        joined = _joined([_by_parts(around, p, instances) for p in parts], len(around))
        if joined is not None:
            return joined
    for loop in reversed(around):
        tree = with_child(loop, tree)
    return _loops(tree, tuple(_Domain.of(instances[name]) for name in statements(tree)))


def _parts(tree: Block) -> Iterator[Tree]:
    """Yield the parts of a sequence: what has loops, and neighbours that have none together."""
    for looped, group in groupby(tree.children, key=has_loop):
        together = tuple(group)
        if looped:
            yield from together
        else:
            yield together[0] if len(together) == 1 else Block(together)


def _joined(parts: Sequence[tuple[Node, ...]], depth: int) -> tuple[Node, ...] | None:
    """Return parts one behind the other inside the loops around all, which are so many; None where
    they have not the same.
    """
    if depth == 0:
        return tuple(node for part in parts for node in part)
    first, *_ = heads = [part[0] for part in parts]
    if any(len(part) != 1 for part in parts) or not isinstance(first, LoopNode):
        return None
    same = replace(first, body=())
    bodies = []
    for head in heads:
        if not isinstance(head, LoopNode) or replace(head, body=()) != same:
            return None
        bodies.append(head.body)
    body = _joined(bodies, depth - 1)
    return None if body is None else (replace(first, body=body),)


@dataclass(frozen=True)
class _Domain:
    """The part of a statement that its loops depend on."""

    name: str
    dims: tuple[str, ...]
    text: str

    @staticmethod
    def of(statement: Instances) -> _Domain:
        return _Domain(statement.name, statement.dims, statement.domain)


@lru_cache(maxsize=1024)
def _loops(tree: Tree, domains: tuple[_Domain, ...]) -> tuple[Node, ...]:
    at = paths(tree)
    groups = _grouped([_Schedule(domain, at[domain.name]) for domain in domains])
    depth = max(len(group[0].path) for group in groups)
    whole = isl.UnionMap("{ }")
    names: list[str] = []
    for position, (first, *_) in enumerate(groups):
        own = first.relation(statement_tuple(position), depth)
        names += sizes_in(own)
        whole = whole.union(own.to_union_map())
    isl.DEFAULT_CONTEXT.set_ast_build_detect_min_max(1)
    with limited("generating loops", OPERATIONS):
        build = isl.AstBuild.from_context(context(names))
        root = build.node_from_schedule_map(whole)
        return read(root, groups)


class _Schedule:
    """A statement's path as a vector of times: sequence positions and loop values."""

    def __init__(self, domain: _Domain, path: Path) -> None:
        self.name = domain.name
        self.path = path
        axes = {axis.dim for axis in loops_above(path, "axis")}
        blocks = axis_blocks(domain.name, domain.dims, path)
        self.whole = domain.dims
        self.blocks = {block.loop: block.number for block in blocks}
        self.dims = (*(d for d in domain.dims if d not in axes), *self.blocks.values())
        counted = with_blocks(domain.text, blocks)
        self.domain = project_out(counted, [d for d in domain.dims if d in axes])

    def loop(self, depth: int) -> Loop:
        """Return the loop whose values stand at `depth`."""
        node, _ = self.path[depth]
        assert isinstance(node, Loop), f"{self.name} has no loop at depth {depth}"
        return node

    def relation(self, name: str, depth: int) -> isl.Map:
        """Return { instance -> times }, padded to `depth`."""
        times = [self._time(node, at) for node, at in self.path]
        times += ["0"] * (depth - len(times))
        order = parse_map(f"{{ {name}[{dims_text(self.dims)}] -> [{', '.join(times)}] }}")
        return order.intersect_domain(parse_set(self.domain).set_tuple_name(name))

    def follows(self, other: _Schedule) -> bool:
        """Tell whether this runs right behind the other, wherever that runs and nowhere else."""
        if (self.dims, self.domain, len(self.path)) != (other.dims, other.domain, len(other.path)):
            return False
        *above, (last, at) = self.path or [(None, 0)]
        *others, (end, to) = other.path or [(None, 0)]
        if not isinstance(last, Block) or last is not end or at != to + 1:
            return False
        return all(
            node is same
            and p == q
            and (not isinstance(node, Loop) or node.offset(self.name) == node.offset(other.name))
            for (node, p), (same, q) in zip(above, others, strict=True)
        )

    def _time(self, node: Loop | Block, at: int) -> str:
        if not isinstance(node, Loop):
            return str(at)
        if node.kind == "axis":
            return "0"
        if node.name in self.blocks:
            value = dim_name(self.blocks[node.name])
        else:
            stands = standing(node, self.name, self.whole)
            value = f"{dim_name(self.whole[stands.position])} + {stands.shift}"
            value = value if stands.divisor == 1 else f"floor(({value})/{stands.divisor})"
        return f"-({value})" if node.backwards else value


def _grouped(schedules: Sequence[_Schedule]) -> list[list[_Schedule]]:
    """Group neighbours of one sequence that run at the same points: isl sees each group as one."""
    groups: list[list[_Schedule]] = []
    for s in schedules:
        if groups and s.follows(groups[-1][-1]):
            groups[-1].append(s)
        else:
            groups.append([s])
    return groups
