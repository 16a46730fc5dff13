"""Persist: blocks of a dimension, with all that runs over it, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.polyhedral.tree import Loop, block_dim, loops, loops_above, paths, statements
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms.blocks.asked import Asked
from workbench.transforms.blocks.fitting import added_by
from workbench.transforms.blocks.own_arrays import contracted, described
from workbench.transforms.blocks.regions import in_blocks, possible
from workbench.transforms.equations.accumulate import sums_along, why_whole
from workbench.transforms.order.distribute import Distribute
from workbench.transforms.step.argument_names import DimName, StatementNames, all_meant, dims_of
from workbench.transforms.step.condition import Condition
from workbench.transforms.step.refusal import Refusal, few
from workbench.transforms.step.transform import Rewritten, Transform

SIZES = (8, 16, 32, 128)
"""The block sizes that are offered."""

MOST = 3
"""The loops over blocks that are proposed, at most."""


@dataclass(frozen=True, repr=False)
class Persist(Transform):
    """All that runs over `dim` runs in blocks of `size` values, in any order or at once.

    A block goes through all of its statements before it ends, so that it needs memory of its own
    only: what is used inside keeps one block. Sums over `dim` become points, which a block adds up
    as it computes them, and a result behind the blocks (`Accumulate`). The blocks are dealt to
    `chunks` runs of consecutive ones: each run adds up in order, and then the runs are combined in
    order, whatever runs at once. In a block of one nothing runs side by side along `dim`.

    Without `statements`, all over `dim`: each stands in the latest blocks that precede all its
    readers or hold them. Where one needs a finished sum over `dim`, blocks end and others begin.
    With `statements` (a sum stands for its points), exactly those share one loop over blocks.

    Loops inside a block are fused: each joins the latest over the same dimension that it reads
    from, where dependences allow, in either direction. What only later iterations of a loop around
    need, as the state in which the next rollout starts, comes last in its blocks; or in blocks at
    the end of the iteration, if what it overwrites is read behind the others.

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

        for b in blocks of 4, in any order, at most 16 chunks:
            axis b:
                total[0]
                for t:
                    total[t+1]
                mean_sum.points
        mean_sum
        mean

    Legal when no dependence leads from one block to another, in a block `dim` can run as an array
    axis (`Vectorize`), and sums have two chunks at least, so that blocks never add to one element
    at once. Refused where episodes end for all `dim` together, not each at its own step
    (`wb.until`).
    """

    equation_step = True

    dim: DimName
    size: int
    chunks: int = 16
    statements: StatementNames | None = None

    least: ClassVar[Mapping[str, int]] = {"size": 1, "chunks": 1}

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Persist]:
        """Yield the usual sizes for each dimension that may run in blocks in any order; where it
        has fewer values than those, one block.
        """
        sizes = resolve(program.equations)
        for dim in dims_of(program):
            most = program.dim[dim].size.evaluate(sizes) if dim in program.dim else SIZES[-1]
            steps = [cls(dim, size) for size in SIZES if size <= most] or [cls(dim, most)]
            if steps[0].check(program) is None:  # which is not asked anew of that very step
                yield from steps

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Split the sums, gather what runs over the dimension in blocks, and contract these."""
        for name in self.least:
            if not self.in_range(name):
                sentence = f"{name} is {self.expected(name)}, not {getattr(self, name)!r}"
                return self.unfit(name, sentence)
        chosen = self._chosen(program)
        if isinstance(chosen, Refusal):
            return chosen
        tied = self._tied(program) if chosen is None else None
        if tied is not None:
            return tied
        blocks = in_blocks(self._asked, program, chosen)
        if isinstance(blocks, Refusal):
            return blocks
        after, whole = contracted(blocks.program, blocks.regions, self.dim)
        notes = (*described(self._asked, after, blocks.regions), *blocks.left, *whole)
        return Rewritten(after, notes)

    def conditions(self, program: Program, after: Program) -> Iterator[Condition]:
        """Yield what each new loop over blocks holds, and how its sums are added up."""
        for loop in self._fresh(program, after):
            held = list(statements(loop))
            yield Condition(
                "no dependence from one block to another",
                f"nothing of {few(held)} needs another block of {self.dim}",
                held[0],
            )
            yield Condition(
                "an axis in each block",
                f"in a block {self.dim} runs as an array axis in {few(held)}",
                held[0],
            )
            sums = [n for n in held if after.statement[n].array in after.storage.added]
            if sums:
                yield Condition(
                    "sums of which no two blocks add to one element",
                    f"each of {self.chunks} chunks has its own part of {few(sums)}",
                    sums[0],
                )

    def _fresh(self, program: Program, after: Program) -> Iterator[Loop]:
        """Yield the loops over blocks that the step has made."""
        name = block_dim(self.dim, self.size)
        around = paths(program.schedule).items()
        old = {n for n, path in around if any(loop.name == name for loop in loops_above(path))}
        for loop in loops(after.schedule):
            if loop.apart and loop.name == name and not old.issuperset(statements(loop)):
                yield loop

    def repairs(self, program: Program, refusal: Refusal) -> Iterator[Transform]:
        """Yield the step with chunks, and for what no dependence hinders: the statements of each
        loop over blocks that is possible, after those that share a loop with others leave it.
        """
        chosen = self._chosen(program)
        if isinstance(chosen, Refusal):
            varying = [n for n in self.statements or () if self._why_not(program, n) is None]
            if varying:
                yield replace(self, statements=tuple(varying))
            return
        if refusal.kind == "no effect":
            return
        if self.chunks == 1:
            yield replace(self, chunks=type(self).chunks)
        regions: dict[tuple[str, ...], None] = {}
        for found in possible(self._asked, program, chosen):
            yield from (Distribute(names, loop) for names, loop in found.beside if names)
            regions |= dict.fromkeys(found.regions)
        for region in sorted(regions, key=len, reverse=True)[:MOST]:
            yield replace(self, statements=region)

    def _tied(self, program: Program) -> Refusal | None:
        """Refuse where the episodes of all blocks end together: none goes through its own alone."""
        for end in program.equations.ends:
            guarded = (
                s.name
                for s in program.statements
                if self.dim in s.dims and any(g.array == end.open for g in s.guards)
            )
            name = next(guarded, None)
            if self.dim not in program.equations.array[end.open].dims and name is not None:
                return self.refuse(
                    "capability",
                    f"{name} runs along {end.dim} to an end that is one for all {self.dim}, so no "
                    f"block of {self.dim} goes through its episodes alone; write wb.until with an "
                    f"event per {self.dim}, or name the statements of a block in one step of "
                    f"{end.dim}",
                    end.line,
                )
        return None

    @property
    def _asked(self) -> Asked:
        return Asked(str(self), self.dim, self.size, self.chunks)

    def _chosen(self, program: Program) -> frozenset[str] | Refusal | None:
        """Return the statements that are named, or why one cannot be meant; None for all."""
        if self.statements is None:
            return None
        chosen = all_meant(program, self.statements)
        for name in chosen:
            why = self._why_not(program, name)
            if why is not None:
                return self.refuse("capability", f"{name} {why}", program.statement[name].line)
        return frozenset(chosen)

    def _why_not(self, program: Program, name: str) -> str | None:
        """Explain why a statement has nothing that runs over the dimension."""
        s = program.statement.get(name)
        if s is None:  # an array, which stands for what writes it
            return None
        if self.dim in s.dims or name in sums_along(program, self.dim) or added_by(program, s):
            return None
        whole = why_whole(program, s, self.dim) if self.dim in s.reduction_dims else None
        return whole or f"does not vary over {self.dim}"
