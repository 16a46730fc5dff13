"""A variant in small blocks: its own tree, with loops over blocks of 3 values. So two blocks and a
tail are few enough instances for the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.errors import WorkbenchError
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.tree import Loop, Tree, blocks, children, sequence, statements, with_child
from workbench.program.dependences import dependences
from workbench.program.values import Program
from workbench.transforms.step.storage_holds import broken_storage
from workbench.transforms.step.transform import violated

SMALL = 3
"""The values of a small block: a first, a last, and one between."""


class NotInSmallBlocks(WorkbenchError):
    """Small blocks would change what the variant computes; the message says where."""


def in_small_blocks(program: Program) -> Program:
    """Return the program with loops over blocks of 3 values in place of larger ones.

    Blocks around others hold two or three of theirs. Blocks that a statement counts in a dimension
    of its own stay: their size is part of the equations. Storage is derived anew from the tree.

    Raises NotInSmallBlocks where a dependence or the storage needs the larger blocks.
    """
    tree = _small(program, program.schedule)
    if tree == program.schedule:
        return program
    small = replace(program, schedule=tree)
    broken = violation(tree, dependences(program.equations))
    title = f"blocks of {SMALL}"
    refusal = broken_storage(small, title) if broken is None else violated(small, broken, title)
    if refusal is not None:
        raise NotInSmallBlocks(refusal.sentence)
    return small


def sizes_of_blocks(program: Program) -> tuple[int, ...]:
    """Return the sizes of the blocks of a schedule, the smallest first."""
    return tuple(sorted({tile for _, tile in blocks(program.schedule).values()}))


def _small(program: Program, tree: Tree) -> Tree:
    if not isinstance(tree, Loop):
        below = [_small(program, child) for child in children(tree)]
        return sequence(below) if below else tree
    child = _small(program, tree.child)
    if tree.tile is None or _is_counted(program, tree):
        return with_child(tree, child)
    return replace(
        tree, child=child, tile=_size(tree, _inside(tree), _inside(replace(tree, child=child)))
    )


def _is_counted(program: Program, loop: Loop) -> bool:
    """Tell whether a statement has the number of its block as a dimension."""
    return any(loop.name in program.statement[name].dims for name in statements(loop))


def _size(loop: Loop, before: Sequence[int], after: Sequence[int]) -> int:
    """Return the new size of blocks, by the sizes of the blocks inside, before and after.

    Where those inside divide these, they still do; where not, they still do not.
    """
    assert loop.tile is not None
    if not after:
        return min(loop.tile, SMALL)
    largest = max(after)
    divided = all(loop.tile % size == 0 for size in before)
    return min(loop.tile, 3 * largest if divided else 2 * largest + 1)


def _inside(loop: Loop) -> list[int]:
    """Return the sizes of the blocks of the same dimension inside a loop over blocks."""
    return [tile for dim, tile in blocks(loop.child).values() if dim == loop.dim]


def blocks_text(own: Program, run: Program, why: str) -> str:
    """Say in which blocks a program ran instead of its own; "" where it has none."""
    sizes = sizes_of_blocks(own)
    if not sizes:
        return ""
    if why:
        return f"in its own blocks of {_listed(sizes)}: {why}"
    small = sizes_of_blocks(run)
    if small == sizes:
        return f"in its own blocks of {_listed(sizes)}"
    return f"in blocks of {_listed(small)} instead of {_listed(sizes)}"


def _listed(sizes: Sequence[int]) -> str:
    *first, last = map(str, sizes)
    return f"{', '.join(first)} and {last}" if first else last
