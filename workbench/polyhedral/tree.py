"""The schedule: an immutable tree of records that says *when* each statement's instances run.

Statements and dimensions are known by name. isl is not needed to hold, edit or print a tree;
`dependences/legality.py` judges one and `loops/from_tree.py` turns one into loops.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple

from workbench.identity import remembered

Kind = Literal["loop", "axis"]


@dataclass(frozen=True)
class Leaf:
    """One statement's instance (all enclosing dimensions fixed)."""

    statement: str

    @property
    def below(self) -> tuple[str, ...]:
        """The statement."""
        return (self.statement,)


@dataclass(frozen=True)
class Block:
    """A sequence of children, one after the other."""

    children: tuple[Tree, ...]

    @cached_property
    def below(self) -> tuple[str, ...]:
        """The statements below, in the tree's order."""
        return tuple(chain.from_iterable(child.below for child in self.children))


@dataclass(frozen=True)
class Loop:
    """A loop over a dimension of all statements below.

    `kind`: "loop" runs sequentially, "axis" as one whole-array operation per statement (lockstep).
    `backwards` runs from the last value to the first. `offsets` shifts single statements: a
    statement at offset o executes its instance `d` at loop value `d + o`.

    With `tile` it is a loop over blocks of so many consecutive values of `dim`. Its value is
    `floor((d + o) / tile)`, and a loop or axis over `dim` further inside runs within the block. A
    statement that has the dimension `block_dim(dim, tile)` itself stands at that dimension's value
    (plus its offset) instead.

    A loop over blocks may be `apart`: its blocks run in any order, or at once. They are dealt to
    `chunks` runs of consecutive blocks. What the blocks add up is added in their order within a
    run, and then run by run (`chunks.py`).
    """

    dim: str
    child: Tree
    kind: Kind = "loop"
    backwards: bool = False
    offsets: tuple[tuple[str, int], ...] = ()
    tile: int | None = None
    apart: bool = field(default=False, repr=False)
    chunks: int = field(default=1, repr=False)
    """Both are left out of the text that keys are made from: no schedule as written has them, and
    what is made of others has a key of its own (`made_files.py`).
    """

    def __post_init__(self) -> None:
        """Expect that only the blocks of a loop are apart, which then have no direction."""
        in_blocks = self.kind == "loop" and self.tile is not None
        assert not self.apart or (in_blocks and not self.backwards), f"{self.dim} is apart"
        assert self.chunks == 1 or self.apart, f"{self.dim} has chunks"

    @property
    def name(self) -> str:
        """The loop's name among those around a statement: its dimension or that of its blocks."""
        return self.dim if self.tile is None else block_dim(self.dim, self.tile)

    def offset(self, statement: str) -> int:
        """Return the shift of `statement` in this loop."""
        return self._shifts.get(statement, 0) if self.offsets else 0

    @property
    def below(self) -> tuple[str, ...]:
        """The statements below, in the tree's order."""
        return self.child.below

    @cached_property
    def _shifts(self) -> dict[str, int]:
        return dict(self.offsets)

    @cached_property
    def standings(self) -> dict[tuple[object, ...], tuple[Standing, Standing]]:
        """The answers of `standings` for this loop and those like it."""
        return _standings_like(self.dim, self.tile, self.offsets)

    @cached_property
    def steps(self) -> dict[tuple[object, ...], Any]:
        """The answers of `legality.py` for this loop and those like it that run the same way."""
        return _steps_like(self.dim, self.tile, self.offsets, self.backwards, self.apart)


def block_dim(dim: str, size: int) -> str:
    """Return the name of the dimension that counts blocks of `size` values of `dim`."""
    return f"{dim}_block{size}"


def loop_text(name: str) -> str:
    """Return a loop's name as people read it: `t/64` for `t_block64`, a loop over blocks."""
    blocks = re.fullmatch(r"(.+)_block(\d+)", name)
    return f"{blocks[1]}/{blocks[2]}" if blocks else name


class Standing(NamedTuple):
    """The value of a loop at which an instance runs: `floor((coordinate + shift) / divisor)`.

    `position` says which coordinate of the instance it is.
    """

    position: int
    shift: int = 0
    divisor: int = 1


@lru_cache(maxsize=1024)
def _standings_like(
    dim: str, tile: int | None, offsets: tuple[tuple[str, int], ...]
) -> dict[tuple[object, ...], tuple[Standing, Standing]]:
    """Return a place for the answers about loops that are alike: a step makes new ones of all that
    are around what it changes.
    """
    return {}


@lru_cache(maxsize=1024)
def _steps_like(
    dim: str,
    tile: int | None,
    offsets: tuple[tuple[str, int], ...],
    backwards: bool,
    apart: bool,
) -> dict[tuple[object, ...], Any]:
    return {}


def standing(loop: Loop, statement: str, dims: tuple[str, ...]) -> Standing:
    """Return where a statement over `dims` stands in a loop around it, by the loop's dimension.

    In a loop over blocks it stands by the dimension that counts them, if it has one.
    """
    shift = loop.offset(statement)
    if loop.tile is None:
        return Standing(dims.index(loop.dim), shift)
    if loop.name in dims:
        return Standing(dims.index(loop.name), shift)
    return Standing(dims.index(loop.dim), shift, loop.tile)


Tree = Leaf | Block | Loop
Path = tuple[tuple[Block | Loop, int], ...]


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return the nodes directly below a node."""
    if isinstance(tree, Block):
        return tree.children
    return (tree.child,) if isinstance(tree, Loop) else ()


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield every node, each before those below it, in the tree's order."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def statements(tree: Tree) -> Iterator[str]:
    """Yield the statements below `tree`, in its order."""
    return iter(tree.below)


def loops(tree: Tree) -> Iterator[Loop]:
    """Yield the loops and axes of a tree, outer ones first."""
    return (node for node in nodes(tree) if isinstance(node, Loop))


def has_loop(tree: Tree) -> bool:
    """Tell whether a tree has a sequential loop."""
    return any(loop.kind == "loop" for loop in loops(tree))


@remembered(64)
def paths(tree: Tree) -> Mapping[str, Path]:
    """Return each statement's path from the root: nodes with positions taken (0 for a loop). Those
    of the last trees are kept: they are asked for again and again.
    """
    if isinstance(tree, Leaf):
        return {tree.statement: ()}
    path_of: dict[str, Path] = {}

    def walk(node: Block | Loop, above: Path) -> None:
        for position, child in enumerate(children(node)):
            path = (*above, (node, position))
            if isinstance(child, Leaf):
                path_of[child.statement] = path
            else:
                walk(child, path)

    walk(tree, ())
    return path_of


def loops_above(path: Path, kind: Kind | None = None) -> tuple[Loop, ...]:
    """Return the loops of a path, outermost first: all, or those of one kind."""
    return tuple(n for n, _ in path if isinstance(n, Loop) and kind in (None, n.kind))


def shared_path(paths: Iterable[Path]) -> Path:
    """Return the beginning that all paths have in common."""
    shared: list[tuple[Block | Loop, int]] = []
    for (node, at), *others in zip(*paths, strict=False):
        if any(other is not node or to != at for other, to in others):
            break
        shared.append((node, at))
    return tuple(shared)


@remembered(64)
def axis_dims(tree: Tree) -> Mapping[str, tuple[str, ...]]:
    """Return the dimensions of each statement that run as array axes."""
    return {
        name: tuple(axis.dim for axis in loops_above(path, "axis"))
        for name, path in paths(tree).items()
    }


@remembered(64)
def loop_dims(tree: Tree) -> Mapping[str, tuple[str, ...]]:
    """Return the names of each statement's sequential loops, outermost first.

    A loop over blocks has the name of the dimension that counts them (`blocks` says of which).
    """
    return {
        name: tuple(loop.name for loop in loops_above(path, "loop"))
        for name, path in paths(tree).items()
    }


def blocks(tree: Tree) -> dict[str, tuple[str, int]]:
    """Return the dimension and the block size of each loop over blocks, by the loop's name."""
    return {
        loop.name: (loop.dim, loop.tile)
        for path in paths(tree).values()
        for loop in loops_above(path)
        if loop.tile is not None
    }


def apart_loops(tree: Tree) -> dict[str, dict[str, int]]:
    """Return the names of the loops around each statement whose blocks are apart, with chunks."""
    return {
        name: {loop.name: loop.chunks for loop in loops_above(path) if loop.apart}
        for name, path in paths(tree).items()
    }


def sequence(children: list[Tree]) -> Tree:
    """Return a sequence without nested or one-child sequences."""
    flat: list[Tree] = []
    for child in children:
        flat.extend(child.children if isinstance(child, Block) else (child,))
    return flat[0] if len(flat) == 1 else Block(tuple(flat))


def only(tree: Tree, kept: Collection[str]) -> Tree | None:
    """Return the tree without all other statements; None where none is left."""
    if isinstance(tree, Leaf):
        return tree if tree.statement in kept else None
    if isinstance(tree, Loop):
        child = only(tree.child, kept)
        return None if child is None else with_child(tree, child)
    children = [child for child in (only(c, kept) for c in tree.children) if child is not None]
    return sequence(children) if children else None


def mapped(tree: Tree, edit: Callable[[Tree], Tree | None]) -> Tree:
    """Replace the outermost nodes that `edit` turns into a tree (it returns None for the others).

    Nodes with nothing new below stay the same objects.
    """
    new = edit(tree)
    if new is not None:
        return new
    before = children(tree)
    after = [mapped(child, edit) for child in before]
    if all(a is b for a, b in zip(after, before, strict=True)):
        return tree
    return replace(tree, child=after[0]) if isinstance(tree, Loop) else sequence(after)


def replaced(tree: Tree, node: Tree, new: Tree) -> Tree:
    """Return the tree with `new` in place of a node."""
    return mapped(tree, lambda other: new if other is node else None)


def with_sibling(path: Path, children: list[Tree], new: str, like: str) -> Tree:
    """Return the tree with children in place of the one node at the end of a path.

    The statement `new`, which is in them, is shifted in the loops of the path as `like` is.
    """
    tree = sequence(children)
    for node, position in reversed(path):
        if isinstance(node, Block):
            beside = list(node.children)
            beside[position] = tree
            tree = sequence(beside)
        else:
            offset = node.offset(like)
            shift = ((new, offset),) if offset else ()
            tree = replace(node, child=tree, offsets=(*node.offsets, *shift))
    return tree


def with_child(loop: Loop, child: Tree) -> Loop:
    """Put the loop around another child; offsets of statements no longer below are dropped."""
    below = set(statements(child))
    return replace(loop, child=child, offsets=tuple((s, o) for s, o in loop.offsets if s in below))


def text(tree: Tree, indent: str = "") -> str:
    """Return the tree as indented text, a statement a line.

    Loops read `for t reversed:`, `axis b:`, `for t in blocks of 64:`, and where the blocks are
    apart `for t in blocks of 64, in any order, at most 16 chunks:`.
    """
    return "".join(f"{line}\n" for line, _ in lines(tree, indent))


def lines(tree: Tree, indent: str = "") -> Iterator[tuple[str, str | None]]:
    """Yield the lines of the text, each with the statement that it is; None for a loop."""
    if isinstance(tree, Leaf):
        yield indent + tree.statement, tree.statement
    elif isinstance(tree, Block):
        for child in tree.children:
            yield from lines(child, indent)
    else:
        shifts = ", ".join(f"{s} {o:+d}" for s, o in tree.offsets if o)
        yield indent + heading(tree, shifts), None
        yield from lines(tree.child, indent + "    ")


def heading(loop: Loop, shifts: str) -> str:
    """Return the line that a loop begins with: `for t:    # shifted: ahead +1`."""
    word = "for" if loop.kind == "loop" else "axis"
    of = "" if loop.tile is None else f" in blocks of {loop.tile}"
    chunks = f", at most {loop.chunks} chunks" if loop.chunks > 1 else ""
    way = f", in any order{chunks}" if loop.apart else " reversed" if loop.backwards else ""
    note = f"    # shifted: {shifts}" if shifts else ""
    return f"{word} {loop.dim}{of}{way}:{note}"
