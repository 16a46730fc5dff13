"""Sites in a tree: loops of a sequence that could be one, and the parts between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.polyhedral.dependences.flow import Dependences
from workbench.polyhedral.tree import Block, Leaf, Loop, Tree, statements
from workbench.transforms.step.refusal import Kind
from workbench.transforms.trees.regions import blocks_of, edited, sides


class Apart(Exception):
    """An error: the statements stand in no loops that could be one.

    `pair` are two loops that differ; `outside` are statements in no loop, with the dim of the
    others'.
    """

    def __init__(
        self,
        kind: Kind,
        text: str,
        pair: tuple[Loop, Loop] | None = None,
        outside: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.kind = kind
        self.pair = pair
        self.outside = tuple(outside)
        super().__init__(text)


@dataclass(frozen=True)
class Site:
    """The loops to join (`chosen` among the parts of `block`, a sequence in `tree`).

    `caught` are the parts that need one of the loops and are needed by another; `behind` those that
    can stand behind the joined loop only. `dependences` are those that the loops around leave.
    """

    tree: Tree
    block: Block
    names: tuple[str, ...]
    chosen: tuple[int, ...]
    caught: frozenset[int]
    behind: frozenset[int]
    dependences: Dependences

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The parts of the sequence."""
        return self.block.children

    @property
    def between(self) -> tuple[Tree, ...]:
        """The caught parts, in their order."""
        return tuple(self.parts[k] for k in sorted(self.caught))

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops to join, in their order."""
        return tuple(p for k in self.chosen if isinstance(p := self.parts[k], Loop))

    @property
    def ways(self) -> tuple[bool, ...]:
        """Directions for the joined loop (backwards or not): the first loop's, then the other.

        An axis has none, nor has a loop whose blocks are apart.
        """
        first = self.loops[0]
        if self.apart:
            return (False,)
        return (
            (first.backwards,) if first.kind == "axis" else (first.backwards, not first.backwards)
        )

    @property
    def apart(self) -> bool:
        """True if the joined loop's blocks are apart: those of one of the loops are."""
        return any(loop.apart for loop in self.loops)

    @property
    def chunks(self) -> int:
        """The runs to which the joined loop's blocks are dealt: the most of one of the loops."""
        return max(loop.chunks for loop in self.loops)

    def turned(self, backwards: bool) -> tuple[str, ...]:
        """Return a sentence on each loop that runs the other way once it is joined."""
        way = "backwards" if backwards else "forwards"
        if self.apart:
            way = "in any order" + (f", at most {self.chunks} chunks" if self.chunks > 1 else "")
        return tuple(
            f"the loop over {loop.name} around {next(statements(loop))} now runs {way}"
            for loop in self.loops
            if (loop.backwards, loop.apart, loop.chunks) != (backwards, self.apart, self.chunks)
        )


def alike(a: Loop, b: Loop) -> bool:
    """Tell whether two loops run over the same values in the same manner."""
    return (a.name, a.kind) == (b.name, b.kind)


def neighbours(tree: Tree) -> Iterator[tuple[Loop, Loop]]:
    """Yield each loop of a sequence and the next one there that is alike."""
    for block in blocks_of(tree):
        loops = [child for child in block.children if isinstance(child, Loop)]
        for number, loop in enumerate(loops):
            other = next((o for o in loops[number + 1 :] if alike(loop, o)), None)
            if other is not None:
                yield loop, other


def site(tree: Tree, names: Sequence[str], dependences: Dependences) -> Site:
    """Find the loops that part the statements. Raises Apart."""
    places: list[tuple[Tree, Dependences]] = []

    def look(node: Tree, left: Dependences) -> Tree:
        places.append((node, left))
        return node

    edited(tree, names, dependences, look)
    node, left = places[0]
    assert isinstance(node, Block)
    wanted = set(names)
    chosen = tuple(k for k, part in enumerate(node.children) if wanted & set(statements(part)))
    _expect_alike([node.children[k] for k in chosen], names)
    at = sides(node.children, chosen, left)
    behind = at.after | {k for k in at.free if k > chosen[0]}
    return Site(tree, node, tuple(names), chosen, at.caught, frozenset(behind), left)


def _expect_alike(parts: Sequence[Tree], names: Sequence[str]) -> None:
    loops = [part for part in parts if isinstance(part, Loop)]
    alone = [part.statement for part in parts if isinstance(part, Leaf)]
    if not loops:
        raise Apart("no effect", f"{', '.join(names)} stand in one loop already")
    if alone:
        outside = [(name, loops[0].dim) for name in alone]
        raise Apart(
            "capability",
            f"{alone[0]} stands beside the {_what(loops[0])} around "
            f"{next(statements(loops[0]))}, in no loop of its own",
            outside=outside,
        )
    first = loops[0]
    for other in loops[1:]:
        if not alike(first, other):
            both = f"{_what(first)} around {next(statements(first))}"
            text = f"the {both} and the {_what(other)} around {next(statements(other))}"
            raise Apart(
                "capability",
                f"{text} are not over the same dimension in the same manner",
                pair=(first, other),
            )


def _what(loop: Loop) -> str:
    return f"{loop.kind} over {loop.name}"
