"""Statements that can run in blocks of a dimension, as array axes inside, and why others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.polyhedral.tree import Path, loops_above, paths
from workbench.program.values import Program, Statement
from workbench.transforms.blocks.asked import Asked
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.trees.axes import why_no_axis


@dataclass(frozen=True)
class Fit:
    """The statements that can run in blocks, as array axes inside, and why others cannot."""

    able: frozenset[str]
    refusals: tuple[Refusal, ...]


def fit_for_blocks(asked: Asked, program: Program, chosen: frozenset[str] | None) -> Fit:
    """Return which statements over a dimension can run in blocks of it; a chosen sum stands for
    its points.
    """
    meant = None
    if chosen is not None:
        meant = chosen.union(*(added_by(program, program.statement[n]) for n in chosen))
    able, refusals = set[str](), list[Refusal]()
    around = paths(program.schedule)
    for s in program.statements:
        if asked.dim in s.dims and (meant is None or s.name in meant):
            refusal = _unfit(asked, s, around[s.name])
            if refusal is None:
                able.add(s.name)
            else:
                refusals.append(refusal)
    return Fit(frozenset(able), tuple(refusals))


def _unfit(asked: Asked, s: Statement, path: Path) -> Refusal | None:
    dim = asked.dim
    own = [node for node in loops_above(path) if node.dim == dim]
    blocks = next((loop.tile for loop in own if loop.tile is not None), None)
    if blocks is not None:
        reason = f"{s.name} runs in blocks of {blocks} of {dim} already"
        return asked.refuse("no effect", reason, s.line)
    if any(loop.offset(s.name) for loop in own):
        reason = f"{s.name} is shifted against others in the loop over {dim}"
        return asked.refuse("capability", reason, s.line)
    why = why_no_axis(s, dim, [a.dim for a in loops_above(path, "axis") if a.dim != dim])
    return None if why is None else asked.refuse("capability", why, s.line)


def added_by(program: Program, s: Statement) -> frozenset[str]:
    """Return the statements whose points a sum adds up as they are computed."""
    arrays = {r.array for r in s.reads} & set(program.storage.added)
    return frozenset(w.name for array in arrays for w in program.writers[array])


def named_before(before: Program, after: Program, region: Sequence[str]) -> tuple[str, ...]:
    """Return statements by names that are there before sums are split: a sum for its points."""
    sums = {points: s.name for s in after.statements for points in added_by(after, s)}
    return tuple(n if n in before.statement else sums[n] for n in region)
