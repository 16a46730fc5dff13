"""Statements that can run in blocks of a dimension, as array axes inside, and why others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.errors import SourceLine
from workbench.identity import remembered
from workbench.polyhedral.tree import Path, loops_above, paths
from workbench.program.values import Program, Statement
from workbench.transforms.step.refusal import Kind
from workbench.transforms.trees.axes import why_no_axis


class Unfit(NamedTuple):
    """Why a statement cannot run in blocks: what `Asked.refuse` takes."""

    kind: Kind
    reason: str
    line: SourceLine | None


@dataclass(frozen=True)
class Fit:
    """The statements that can run in blocks, as array axes inside, and why others cannot."""

    able: frozenset[str]
    unfit: tuple[Unfit, ...]


@remembered(16)
def fit_for_blocks(program: Program, dim: str, chosen: frozenset[str] | None) -> Fit:
    """Return which statements over a dimension can run in blocks of it, of any size; a chosen sum
    stands for its points.
    """
    meant = None
    if chosen is not None:
        meant = chosen.union(*(added_by(program, program.statement[n]) for n in chosen))
    able, unfit = set[str](), list[Unfit]()
    around = paths(program.schedule)
    for s in program.statements:
        if dim in s.dims and (meant is None or s.name in meant):
            why = _unfit(s, dim, around[s.name])
            if why is None:
                able.add(s.name)
            else:
                unfit.append(why)
    return Fit(frozenset(able), tuple(unfit))


def _unfit(s: Statement, dim: str, path: Path) -> Unfit | None:
    own = [node for node in loops_above(path) if node.dim == dim]
    blocks = next((loop.tile for loop in own if loop.tile is not None), None)
    if blocks is not None:
        reason = f"{s.name} runs in blocks of {blocks} of {dim} already"
        return Unfit("no effect", reason, s.line)
    if any(loop.offset(s.name) for loop in own):
        reason = f"{s.name} is shifted against others in the loop over {dim}"
        return Unfit("capability", reason, s.line)
    why = why_no_axis(s, dim, [a.dim for a in loops_above(path, "axis") if a.dim != dim])
    return None if why is None else Unfit("capability", why, s.line)


def added_by(program: Program, s: Statement) -> frozenset[str]:
    """Return the statements whose points a sum adds up as they are computed."""
    arrays = {r.array for r in s.reads} & set(program.storage.added)
    return frozenset(w.name for array in arrays for w in program.writers[array])


def named_before(before: Program, after: Program, region: Sequence[str]) -> tuple[str, ...]:
    """Return statements by names that are there before sums are split: a sum for its points."""
    sums = {points: s.name for s in after.statements for points in added_by(after, s)}
    return tuple(n if n in before.statement else sums[n] for n in region)
