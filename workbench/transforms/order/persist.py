"""Persist: blocks of a dimension, with all that runs over it, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.lowering.loops.bytes import bytes_of
from workbench.lowering.memory.lives import private
from workbench.lowering.memory.takeover import memory_of
from workbench.polyhedral.dependences.carrying import carries
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import Loop, loops_above, paths, replaced, statements
from workbench.program.dependences import dependences
from workbench.program.sizes import numbers, resolve
from workbench.program.text.units import amount
from workbench.program.values import Program
from workbench.transforms.equations.accumulate import split, sums_along, why_whole
from workbench.transforms.order.distribute import Distribute
from workbench.transforms.order.persisting import (
    InBlocks,
    added_by,
    contracted,
    fit_for_blocks,
    named_before,
)
from workbench.transforms.step.added_apart import added_at_once
from workbench.transforms.step.argument_names import DimName, StatementNames, all_meant, dims_of
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform, violated
from workbench.transforms.trees.block_loops import BlockLoops, Circular

SIZES = (8, 16, 32, 128)
"""The block sizes that are offered."""

CACHE = 1 << 20
"""The bytes of a processor core's own cache: a tile that fits stays there."""

DTYPE = "float32"
"""The dtype in which a tile's bytes are said."""

MOST = 3
"""The loops over blocks that are proposed, at most."""


@dataclass(frozen=True, repr=False)
class Persist(Transform):
    """All that runs over `dim` runs in blocks of `size` values, in any order or at once.

    A block goes through all of its statements before it ends, so that it needs memory of its own
    only: what is used inside keeps one block. Sums over `dim` become points, which a block adds up
    as it computes them, and a result behind the blocks (`Accumulate`). The blocks are dealt to
    `chunks` runs of consecutive ones, of two at least: each run adds up in order, and then the runs
    are combined in order, whatever runs at once.

    Without `statements`, all over `dim`: each stands in the latest blocks that precede all its
    readers or hold them. Where one needs a finished sum over `dim`, blocks end and others begin.
    With `statements` (a sum stands for its points), exactly those share one loop over blocks.

    Example::

        @wb.program
        def example(B=8, T=3):
            b, t = wb.dims(b=B, t=T)
            total = wb.recurrent("total", (), over=(b, t))
            total[b, 0] = wb.uniform(over=b)
            total[b, t + 1] = 0.9 * total
            return {"mean": total[b, T].mean(over=b)}

    Before::

        for b:
            total[0]
            for t:
                total[t+1]
        mean_sum
        mean

    After Persist("b", 4)::

        for b in blocks of 4, in any order, 16 chunks:
            axis b:
                total[0]
                for t:
                    total[t+1]
                mean_sum.points
        mean_sum
        mean

    Legal when no dependence leads from one block to another, and in a block `dim` can run as an
    array axis (`Vectorize`).
    """

    equation_step = True

    dim: DimName
    size: int
    chunks: int = 16
    statements: StatementNames | None = None

    least: ClassVar[Mapping[str, int]] = {"size": 2, "chunks": 1}

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Persist]:
        """Yield the usual sizes for each dimension that may run in blocks in any order."""
        for dim in dims_of(program):
            if isinstance(cls(dim, SIZES[0]).attempt(program), Rewritten):
                yield from (cls(dim, size) for size in SIZES)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Split the sums, gather what runs over the dimension in blocks, and contract these."""
        for name, least in self.least.items():
            if not self.large_enough(name):
                given = getattr(self, name)
                return self.unfit(name, f"{name} is a whole number from {least} on, not {given!r}")
        chosen = self._chosen(program)
        if isinstance(chosen, Refusal):
            return chosen
        blocks = self._in_blocks(program, chosen)
        if isinstance(blocks, Refusal):
            return blocks
        after, whole = contracted(blocks, self.dim)
        return Rewritten(after, (*self._described(after, blocks.regions), *blocks.left, *whole))

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield the step for what no dependence hinders: the statements of each loop over blocks
        that is possible.
        """
        chosen = self._chosen(program)
        if refusal.kind == "no effect" or isinstance(chosen, Refusal):
            return
        if self.chunks == 1:
            yield replace(self, chunks=type(self).chunks)
        after = split(program, self._sums(program, chosen))
        needs = dependences(after.equations)
        able = fit_for_blocks(str(self), after, self.dim, chosen).able
        crossing = {
            name
            for d in needs.all
            if {d.source, d.sink} <= able and carries(needs, d, self.dim)
            for name in (d.source, d.sink)
        }
        loops = self._loops(able - crossing)
        try:
            loops.placed(after.schedule, needs)
        except Circular:
            return
        inside = {name for region in loops.regions for name in region}
        beside = [name for name in able - crossing - inside if name in program.statement]
        if beside:
            yield Distribute(tuple(sorted(beside)))
        for region in sorted(loops.regions, key=len, reverse=True)[:MOST]:
            yield replace(self, statements=named_before(program, after, region))

    # -- what runs in blocks -----------------------------------------------------------------------

    def _chosen(self, program: Program) -> frozenset[str] | Refusal | None:
        """Return the statements that are named, or why one cannot be meant; None for all."""
        if self.statements is None:
            return None
        chosen = all_meant(program, self.statements)
        sums = sums_along(program, self.dim)
        for name in chosen:
            s = program.statement[name]
            if self.dim in s.dims or name in sums or added_by(program, s):
                continue
            why = f"does not vary over {self.dim}"
            if self.dim in s.reduction_dims:
                why = why_whole(program, s, self.dim) or why
            return self.refuse("capability", f"{name} {why}", s.line)
        return frozenset(chosen)

    def _sums(self, program: Program, chosen: frozenset[str] | None) -> list[str]:
        return [n for n in sums_along(program, self.dim) if chosen is None or n in chosen]

    def _loops(self, able: frozenset[str]) -> BlockLoops:
        return BlockLoops(self.dim, self.size, self.chunks, able)

    def _in_blocks(self, program: Program, chosen: frozenset[str] | None) -> InBlocks | Refusal:
        """Return the program with sums split and what is meant in blocks, not yet contracted.

        A sum whose points cannot run in blocks stays whole.
        """
        sums = self._sums(program, chosen)
        while True:
            after = split(program, sums)
            fit = fit_for_blocks(str(self), after, self.dim, chosen)
            if chosen is not None and fit.refusals:
                return fit.refusals[0]
            loops, needs = self._loops(fit.able), dependences(after.equations)
            try:
                tree = loops.placed(after.schedule, needs)
            except Circular as circular:
                tree = replaced(after.schedule, circular.loop, circular.blocks)
            broken = violation(tree, needs)
            if broken is not None:
                return violated(replace(after, schedule=tree), broken, str(self))
            shared = added_at_once(replace(after, schedule=tree), str(self))
            if shared is not None:
                return shared
            inside = {name for region in loops.regions for name in region}
            outside = [n for n in sums if not added_by(after, after.statement[n]) <= inside]
            if chosen is not None or not outside:
                break
            sums = [n for n in sums if n not in outside]
        refusals = [*fit.refusals, *self._beside(after, fit.able - inside)]
        if chosen is not None and (refusals or len(loops.regions) > 1):
            return refusals[0] if refusals else self._several(after, loops)
        reasons = [r.sentence.removeprefix(f"{self}: ") for r in refusals]
        if not loops.regions:
            nothing = f"nothing runs over {self.dim} that could run in blocks"
            return self.refuse("no effect", "; ".join([nothing, *reasons[:1]]))
        left = tuple(f"not in blocks: {reason}" for reason in reasons)
        return InBlocks(replace(after, schedule=tree), tuple(loops.regions), left)

    def _beside(self, after: Program, outside: frozenset[str]) -> Iterator[Refusal]:
        """Explain for statements why they stay outside of blocks: they share an inner loop."""
        around = paths(after.schedule)
        for s in after.statements:
            if s.name in outside:
                loop = loops_above(around[s.name])[-1]
                others = ", ".join(n for n in statements(loop) if n not in outside)
                reason = f"{s.name} shares the loop over {loop.name} with {others}"
                yield self.refuse("capability", reason, s.line)

    def _several(self, after: Program, loops: BlockLoops) -> Refusal:
        """Refuse for statements that cannot share one loop over blocks."""
        early, late = loops.regions[-2:]
        if not loops.between:
            reason = f"{early[0]} and {late[0]} stand in different loops"
            return self.refuse("capability", reason, after.statement[late[0]].line)
        names = loops.between[-1]
        sums = [n for n in names if after.statement[n].combiner is not None]
        arrays = {after.statement[n].array for n in names}
        reader = next(n for n in late if any(r.array in arrays for r in after.statement[n].reads))
        reason = (
            f"{reader} needs {', '.join(sums or names)}, complete over all blocks, which "
            f"needs what {early[-1]} gives: they cannot share one loop over blocks"
        )
        return self.refuse("capability", reason, after.statement[reader].line)

    # -- what is said ------------------------------------------------------------------------------

    def _described(self, after: Program, regions: Sequence[tuple[str, ...]]) -> Iterator[str]:
        """Yield for each loop over blocks what it holds, and the bytes of a block's arrays."""
        sizes, memory = resolve(after.equations), memory_of(after)
        at = f"({numbers(sizes)}, {DTYPE})"
        for region in regions:
            inside = [a for loop, own in private(after) if _holds(loop, region) for a in own]
            sums = sum(after.statement[n].array in after.storage.added for n in region)
            tile = sum(bytes_of(memory.stored(a).buffer, sizes, DTYPE) for a in inside)
            what = region[0]
            if len(region) > 1:
                points = f", {sums} of them points of sums" if sums else ""
                what += f" … {region[-1]} ({len(region)} statements{points})"
            yield (
                f"{what} in blocks of {self.size} of {self.dim}: a block's own arrays take "
                f"{amount(tile, 'B')} {at}"
            )
            if tile > CACHE:
                fitting = self.size * CACHE // tile
                instead = f"blocks of {fitting} fit" if fitting > 1 else "no blocks would fit"
                yield f"that is more than a core's cache of {amount(CACHE, 'B')}: {instead}"


def _holds(loop: Loop, region: Sequence[str]) -> bool:
    return set(statements(loop)) >= set(region)
