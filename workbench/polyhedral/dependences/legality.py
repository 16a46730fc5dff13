"""Legality: the dependences that a schedule tree violates, each with two instances as witness.

Writer and reader go down the tree together. At a loop, a read in an earlier iteration than its
write is a violation; where the loop's blocks are apart, a read in any other block is. Pairs in
different iterations are settled, pairs in one iteration go on. An axis settles nothing: all its
values run in lockstep, statement by statement, so pairs that nothing else orders meet at the leaf.
At a sequence the children's order decides. A pair left at a leaf needs the result of its own array
operation.

The answer depends only on the dependence and on the shared part of the two paths. It is remembered
by these (`PathStep`), so that an edit asks few new questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import islpy as isl

from workbench.identity import remembered
from workbench.polyhedral.accesses import Instances
from workbench.polyhedral.dependences.flow import (
    Dependence,
    Dependences,
    RelationKey,
    pair_order,
    pair_witness,
    relation,
    standings,
)
from workbench.polyhedral.dependences.witness import Witness
from workbench.polyhedral.tree import (
    Block,
    Loop,
    Path,
    Standing,
    Tree,
    loops_above,
    paths,
    shared_path,
)

TreePlace = Literal["loop", "sequence", "leaf"]

StepKind = Literal["forwards", "backwards", "apart", "own", "before", "after", "same"]


class PathStep(NamedTuple):
    """One step that two statements' paths share, as far as it orders their instances.

    For a loop it holds the values at which source and sink stand; its blocks may be "apart". In an
    "own" step they are too, and each has its own copy of the array in question (`conflicts.py`).
    "before" and "after" say where the source's child stands in the sequence that parts them. "same"
    ends the path of a statement and itself.
    """

    kind: StepKind
    source: Standing = Standing(0)
    sink: Standing = Standing(0)


BEFORE, AFTER, SAME = PathStep("before"), PathStep("after"), PathStep("same")


@dataclass(frozen=True)
class Violation:
    """A dependence that a tree does not respect.

    `place` says what breaks it: the "loop" over `dim` runs the reader first (or may, where its
    blocks are apart), the "sequence" has the reader's part first, or the "leaf", one array
    operation, would need its own result. The witness's statements are the source and the sink.
    """

    dependence: Dependence
    place: TreePlace
    dim: str | None
    description: str
    witness: Witness


@remembered(16, same=2)
def violation(tree: Tree, dependences: Dependences) -> Violation | None:
    """Return the first dependence, in their order, that the tree violates. The last answers are
    kept: steps that make a tree look first, and all are checked again.
    """
    return next(_violations(tree, dependences), None)


def violations(tree: Tree, dependences: Dependences) -> tuple[Violation, ...]:
    """Return every dependence that the tree violates, with outermost place and smallest witness."""
    return tuple(_violations(tree, dependences))


def _violations(tree: Tree, dependences: Dependences) -> Iterator[Violation]:
    at = paths(tree)
    for d, key in dependences.keys.items():
        source, sink = dependences.statements[d.source], dependences.statements[d.sink]
        steps = shared_steps(source, sink, at)
        broken = _broken(key, steps)
        if broken is not None:
            yield _violation(dependences, d, steps, broken, at)


def shared_steps(
    source: Instances, sink: Instances, found: Mapping[str, Path]
) -> tuple[PathStep, ...]:
    """Return the steps that the paths of two statements share, down to where they part."""
    steps: list[PathStep] = []
    both = source.name, source.dims, sink.name, sink.dims
    for (node, at), (other, to) in zip(found[source.name], found[sink.name], strict=False):
        if node is not other:
            break  # cannot happen before a sequence has parted them
        if isinstance(node, Block):
            if at != to:
                return (*steps, BEFORE if at < to else AFTER)
        elif node.kind == "loop":
            step = node.steps.get(both)
            if step is None:  # every dependence asks, at every step
                step = node.steps[both] = PathStep(_way(node), *standings(node, source, sink))
            steps.append(step)
    return (*steps, SAME)


def _way(loop: Loop) -> StepKind:
    if loop.apart:
        return "apart"
    return "backwards" if loop.backwards else "forwards"


def shared_loops(source: str, sink: str, found: Mapping[str, Path]) -> tuple[Loop, ...]:
    """Return the sequential loops around both statements, outermost first, one for each step."""
    return loops_above(shared_path([found[source], found[sink]]), "loop")


def near_witness(
    dependences: Dependences,
    dependence: Dependence,
    found: Mapping[str, Path],
    loop: str,
    distance: int,
) -> Witness | None:
    """Return the smallest pair of a legal dependence at near values of the loop called `loop`.

    Both instances are in one iteration of the loops around it, no more than `distance` of its
    values apart. None where there is no such pair.
    """
    source, sink = (dependences.statements[end] for end in (dependence.source, dependence.sink))
    around = shared_loops(dependence.source, dependence.sink, found)
    depth = [node.name for node in around].index(loop)
    *outer, step = shared_steps(source, sink, found)[: depth + 1]
    way, sign = (-1, ">=") if around[depth].backwards else (1, "<=")
    shift = step.source.shift + way * distance * step.source.divisor
    step = step._replace(source=step.source._replace(shift=shift))
    pairs = dependences.relation(dependence)
    for same in outer:
        pairs = together(pairs, same)
    near = pairs.intersect(compared(pairs, step, sign))
    if near.is_empty():
        return None
    return pair_witness(source, sink, dependence.array, near)


@lru_cache(maxsize=65536)
def _broken(key: RelationKey, steps: tuple[PathStep, ...]) -> int | None:
    """Return the index of the step that violates the dependence, or None."""
    pairs = relation(key)
    for position, step in enumerate(steps):
        if pairs.is_empty() or step.kind == "before":
            return None
        if not _wrong(pairs, step).is_empty():
            return position
        pairs = together(pairs, step)
    return None


def _wrong(pairs: isl.Map, step: PathStep) -> isl.Map:
    """Return the pairs that a step runs in the wrong order (at the end: not in any order)."""
    if step.kind in ("after", "same"):
        return pairs
    if step.kind == "apart":
        return pairs.subtract(together(pairs, step))
    return pairs.intersect(compared(pairs, step, "<" if step.kind == "forwards" else ">"))


def together(pairs: isl.Map, step: PathStep) -> isl.Map:
    """Return the pairs in one iteration of a loop that orders them."""
    return pairs.intersect(compared(pairs, step, "="))


def compared(pairs: isl.Map, step: PathStep, sign: str) -> isl.Map:
    ranks = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    return pair_order(*ranks, step.source, step.sink, sign)


def _violation(
    dependences: Dependences,
    dependence: Dependence,
    steps: tuple[PathStep, ...],
    broken: int,
    found: Mapping[str, Path],
) -> Violation:
    pairs = dependences.relation(dependence)
    for step in steps[:broken]:
        pairs = together(pairs, step)
    source = dependences.statements[dependence.source]
    sink = dependences.statements[dependence.sink]
    witness = pair_witness(source, sink, dependence.array, _wrong(pairs, steps[broken]))
    kind = steps[broken].kind
    if kind == "after":
        place: TreePlace = "sequence"
        text = f"{dependence.sink} comes before {dependence.source}"
        return Violation(dependence, place, None, text, witness)
    if kind == "same":
        text = f"{dependence.sink} needs the result of its own array operation"
        return Violation(dependence, "leaf", None, text, witness)
    loop = shared_loops(dependence.source, dependence.sink, found)[broken]
    way = "in any order" if loop.apart else "backwards" if loop.backwards else "forwards"
    over = loop.dim if loop.tile is None else f"blocks of {loop.tile} values of {loop.dim}"
    text = f"the loop over {over} runs {way}"
    return Violation(dependence, "loop", loop.dim, text, witness)
