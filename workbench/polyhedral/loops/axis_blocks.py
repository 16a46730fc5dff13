"""Blocks of array axes: the part of an axis in one iteration of a loop over blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.identity import remembered
from workbench.polyhedral.expression import Expression, variable
from workbench.polyhedral.sets.as_text import dims_of, domain_with, with_dims
from workbench.polyhedral.tree import Path, loops_above, standing


@dataclass(frozen=True)
class AxisBlock:
    """The axis `dim` of a statement inside the loop `loop` over blocks of `size` values.

    In block n are the instances with `n * size <= dim + shift < (n + 1) * size`.
    """

    loop: str
    dim: str
    size: int
    shift: int = 0

    @property
    def number(self) -> str:
        """The name of the block's number beside the statement's dimensions: no dimension has it."""
        return f"@{self.loop}"


def axis_blocks(name: str, dims: tuple[str, ...], path: Path) -> tuple[AxisBlock, ...]:
    """Return the blocks of a statement's axes, outermost first.

    They are the loops over blocks on its path that hold an axis over the same dimension.
    """
    return _axis_blocks(path, name, dims)


@remembered(4096)
def _axis_blocks(path: Path, name: str, dims: tuple[str, ...]) -> tuple[AxisBlock, ...]:
    nodes = loops_above(path)
    axes = {node.dim for node in nodes if node.kind == "axis"}
    return tuple(
        AxisBlock(node.name, node.dim, node.tile, standing(node, name, dims).shift)
        for node in nodes
        if node.tile is not None and node.dim in axes and node.name not in dims
    )


def aligned(e: Expression, blocks: Sequence[AxisBlock]) -> frozenset[int]:
    """Return the block sizes n whose multiples `e` never crosses in one iteration of the loop.

    `e` then stays between two neighbouring multiples of n.
    """
    return frozenset(
        block.size
        for block in blocks
        if (rest := e - variable(block.dim)) == rest.constant
        and (rest.constant - block.shift) % block.size == 0
    )


@lru_cache(maxsize=4096)
def with_blocks(text: str, blocks: tuple[AxisBlock, ...]) -> str:
    """Return the set with the block numbers of its points as further dimensions."""
    if not blocks:
        return text
    wide = with_dims(text, (*dims_of(text), *(block.number for block in blocks)))
    limits = []
    for block in blocks:
        at, first = variable(block.dim) + block.shift, variable(block.number) * block.size
        limits += [(at, first), (first + block.size - 1, at)]
    return domain_with(wide, at_least=limits)
