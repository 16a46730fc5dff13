"""What a step asks for: the blocks of a dimension."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import SourceLine
from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.tree import Tree
from workbench.transforms.step.refusal import Kind, Refusal
from workbench.transforms.trees.block_loops import (
    Circular,
    InBlockLoops,
    in_block_loops,
    sized,
    sized_loop,
)


@dataclass(frozen=True)
class Asked:
    """Blocks of `size` values of `dim`, dealt to `chunks` runs. `step` is the step in words."""

    step: str
    dim: str
    size: int
    chunks: int

    def placed(
        self, tree: Tree, found: Dependences, able: frozenset[str], ends: bool
    ) -> InBlockLoops:
        """Return a tree with the statements `able` in loops over such blocks; `found` are all its
        dependences. With `ends` some may stand in a loop of their own at the end of an iteration.
        Raises Circular.
        """
        try:
            placed = in_block_loops(tree, found, self.dim, able, ends)
        except Circular as circular:
            blocks = sized_loop(circular.blocks, self.size, self.chunks)
            raise Circular(circular.loop, blocks) from None
        return placed._replace(tree=sized(placed.tree, self.dim, able, self.size, self.chunks))

    def refuse(self, kind: Kind, reason: str, line: SourceLine | None = None) -> Refusal:
        """Return the refusal of the step for a reason other than a dependence."""
        return Refusal(kind, f"{self.step}: {reason}", line=line)
