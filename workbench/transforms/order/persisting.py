"""The parts that can run in blocks in any order: statements, points, arrays of one block."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from workbench.polyhedral.tree import Loop, Path, loops_above, paths
from workbench.program.values import Array, Program, Statement
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.storage_holds import Pair, folding
from workbench.transforms.trees.axes import why_no_axis


@dataclass(frozen=True)
class InBlocks:
    """A program in blocks, the statements of each loop over blocks, and what was left out."""

    program: Program
    regions: tuple[tuple[str, ...], ...]
    left: tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """The statements that can run in blocks, as array axes inside, and why others cannot."""

    able: frozenset[str]
    refusals: tuple[Refusal, ...]


def fit_for_blocks(step: str, program: Program, dim: str, chosen: frozenset[str] | None) -> Fit:
    """Return which statements over a dimension can run in blocks of it; a chosen sum stands for
    its points.
    """
    meant = None
    if chosen is not None:
        meant = chosen.union(*(added_by(program, program.statement[n]) for n in chosen))
    able, refusals = set[str](), list[Refusal]()
    around = paths(program.schedule)
    for s in program.statements:
        if dim in s.dims and (meant is None or s.name in meant):
            refusal = _unfit(step, s, around[s.name], dim)
            if refusal is None:
                able.add(s.name)
            else:
                refusals.append(refusal)
    return Fit(frozenset(able), tuple(refusals))


def _unfit(step: str, s: Statement, path: Path, dim: str) -> Refusal | None:
    own = [node for node in loops_above(path) if node.dim == dim]
    blocks = next((loop.tile for loop in own if loop.tile is not None), None)
    if blocks is not None:
        sentence = f"{step}: {s.name} runs in blocks of {blocks} of {dim} already"
        return Refusal("no effect", sentence, line=s.line)
    if any(loop.offset(s.name) for loop in own):
        sentence = f"{step}: {s.name} is shifted against others in the loop over {dim}"
        return Refusal("capability", sentence, line=s.line)
    why = why_no_axis(s, dim, [a.dim for a in loops_above(path, "axis") if a.dim != dim])
    return None if why is None else Refusal("capability", f"{step}: {why}", line=s.line)


def added_by(program: Program, s: Statement) -> frozenset[str]:
    """Return the statements whose points a sum adds up as they are computed."""
    arrays = {r.array for r in s.reads} & set(program.storage.added)
    return frozenset(w.name for array in arrays for w in program.writers[array])


def named_before(before: Program, after: Program, region: Sequence[str]) -> tuple[str, ...]:
    """Return statements by names that are there before sums are split: a sum for its points."""
    sums = {points: s.name for s in after.statements for points in added_by(after, s)}
    return tuple(n if n in before.statement else sums[n] for n in region)


def contracted(blocks: InBlocks, dim: str) -> tuple[Program, tuple[str, ...]]:
    """Keep one block of the arrays that are used in one loop over blocks only.

    Such an array keeps one iteration of the loops around the blocks too: what of it is stored
    whole there does not live in a block. Returns the program, and a sentence on arrays along the
    dimension that stay whole.
    """
    program = blocks.program
    users: dict[str, set[str]] = {a.name: set() for a in program.arrays}
    for s in program.statements:
        for name in {s.array, *(r.array for r in s.reads)}:
            users[name].add(s.name)
    around = paths(program.schedule)
    wanted: list[Pair] = []
    touched: dict[str, None] = {}
    for region in blocks.regions:
        outer = {loop.dim for loop in _outside(loops_above(around[region[0]], "loop"), dim)}
        for array in program.arrays:
            if users[array.name] & set(region) and array.name not in program.storage.added:
                touched |= dict.fromkeys(a for a, _ in _along(program, array, {dim}))
                if users[array.name] <= set(region):
                    wanted += _along(program, array, {*outer, dim})
    fresh = [pair for pair in wanted if pair not in program.storage.contracted]
    storage = program.storage
    folded = (*storage.contracted, *folding(program, fresh))
    program = replace(program, storage=replace(storage, contracted=folded))
    whole = [
        name
        for name in touched
        if any(pair not in folded for pair in _along(program, program.array[name], {dim}))
    ]
    note = f"kept whole along {dim}: {', '.join(whole)}"
    return program, (note,) if whole else ()


def _outside(loops: Sequence[Loop], dim: str) -> Iterator[Loop]:
    """Yield the loops around the one over blocks of a dimension."""
    return takewhile(lambda loop: not (loop.apart and loop.dim == dim), loops)


def _along(program: Program, array: Array, dims: Collection[str]) -> list[Pair]:
    """Return the dimensions of an array that are written along some dimension of statements."""
    return [
        (array.name, d)
        for k, d in enumerate(array.dims)
        if any(s.write[k].variables & set(dims) for s in program.writers[array.name])
    ]
