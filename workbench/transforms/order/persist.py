"""Persist: blocks of a dimension, with all that runs over it, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.program.values import Program
from workbench.transforms.equations.accumulate import Accumulate, splits
from workbench.transforms.step.argument_names import DimName, StatementNames, dims_of
from workbench.transforms.step.refusal import Refusal
from workbench.transforms.step.transform import Rewritten, Transform

SIZES = (8, 16, 32, 128)
"""The block sizes that are offered."""

CACHE = 1 << 20
"""The bytes of a processor core's own cache: a tile that fits is neither loaded nor stored."""

DTYPE = "float32"
"""The dtype in which a tile's bytes are said."""


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

    least: ClassVar[Mapping[str, int]] = {"size": 1, "chunks": 1}

    @classmethod
    def candidates(cls, program: Program) -> Iterator[Persist]:
        """Yield the usual sizes for each dimension that may run in blocks in any order."""
        for dim in dims_of(program):
            if isinstance(cls(dim, SIZES[0]).attempt(program), Rewritten):
                yield from (cls(dim, size) for size in SIZES)

    def attempt(self, program: Program) -> Rewritten | Refusal:
        """Split the sums, gather what runs over the dimension in blocks, and contract these."""
        for name, least in self.least.items():
            given = getattr(self, name)
            if type(given) is not int or given < least:
                sentence = f"{self}: {name} is a whole number from {least} on, not {given!r}"
                return Refusal("input", sentence, argument=name)
        chosen = None if self.statements is None else self._chosen(program)
        if isinstance(chosen, Refusal):
            return chosen
        sums = splits(program, self.dim, chosen)
        split = program
        if sums:
            points = Accumulate(self.dim, sums).attempt(program)
            if isinstance(points, Refusal):
                return replace(points, sentence=points.sentence.replace(str(points), str(self)))
            split = points.program
        return self._in_blocks(program, split, chosen)
