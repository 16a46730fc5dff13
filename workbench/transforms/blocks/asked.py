"""What a step asks for: the blocks of a dimension."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from workbench.errors import SourceLine
from workbench.transforms.step.refusal import Kind, Refusal
from workbench.transforms.trees.block_loops import BlockLoops


@dataclass(frozen=True)
class Asked:
    """Blocks of `size` values of `dim`, dealt to `chunks` runs. `step` is the step in words."""

    step: str
    dim: str
    size: int
    chunks: int

    def loops(self, able: Collection[str], ends: bool) -> BlockLoops:
        """Return the walk that puts the statements `able` in loops over such blocks. With `ends`
        some may stand in a loop of their own at the end of an iteration.
        """
        return BlockLoops(self.dim, self.size, self.chunks, frozenset(able), ends)

    def refuse(self, kind: Kind, reason: str, line: SourceLine | None = None) -> Refusal:
        """Return the refusal of the step for a reason other than a dependence."""
        return Refusal(kind, f"{self.step}: {reason}", line=line)
