"""Joins of a sequence's loops, legal or not: `Fuse` tries one and then judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.polyhedral.dependences.flow import Dependences, standings
from workbench.polyhedral.dependences.legality import violation
from workbench.polyhedral.ordering.as_written import least_distance
from workbench.polyhedral.tree import (
    Block,
    Leaf,
    Loop,
    Tree,
    replaced,
    sequence,
    standing,
    statements,
)
from workbench.transforms.step.refusal import Kind, dependence_text
from workbench.transforms.trees.regions import edited, sides


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
        """Whether the joined loop's blocks are apart: those of one of the loops are."""
        return any(loop.apart for loop in self.loops)

    def turned(self, backwards: bool) -> tuple[str, ...]:
        """Return a sentence on each loop that runs the other way once it is joined."""
        way = "in any order" if self.apart else "backwards" if backwards else "forwards"
        return tuple(
            f"the loop over {loop.name} around {next(statements(loop))} now runs {way}"
            for loop in self.loops
            if (loop.backwards, loop.apart) != (backwards, self.apart)
        )


def alike(a: Loop, b: Loop) -> bool:
    """Tell whether two loops run over the same values in the same manner."""
    return (a.name, a.kind) == (b.name, b.kind)


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


def joined(
    at: Site,
    shifts: Sequence[int],
    backwards: bool,
    caught: Literal["before", "behind"] = "behind",
) -> Tree:
    """Return the tree with the loops as one, each so many iterations behind."""
    late = at.behind | (at.caught if caught == "behind" else frozenset())
    rest = [k for k in range(len(at.parts)) if k not in at.chosen]
    before, after = ([at.parts[k] for k in rest if (k in late) == way] for way in (False, True))
    return replaced(at.tree, at.block, sequence([*before, _whole(at, shifts, backwards), *after]))


def _whole(at: Site, shifts: Sequence[int], backwards: bool) -> Loop:
    """Return the joined loop. A shift of all statements together is none."""
    first = next((loop for loop in at.loops if loop.tile is not None), at.loops[0])
    child = sequence([loop.child for loop in at.loops])
    chunks = max(loop.chunks for loop in at.loops)
    whole = replace(first, child=child, backwards=backwards, apart=at.apart, chunks=chunks)
    offsets = {}
    for loop, shift in zip(at.loops, shifts, strict=True):
        behind = -shift if backwards else shift
        for name in statements(loop):
            unit = standing(whole, name, at.dependences.statements[name].dims).divisor
            offsets[name] = loop.offset(name) + behind * unit
    least = min(offsets.values()) if whole.tile is None else 0
    return replace(whole, offsets=tuple((n, o - least) for n, o in offsets.items() if o != least))


def least_shifts(at: Site) -> tuple[tuple[str, int], ...] | None:
    """Return how far each loop must run behind for every dependence to lead forwards.

    The result names a statement of each; None where a loop needs all of an earlier one.
    """
    backwards = at.ways[0]
    whole = _whole(at, [0] * len(at.loops), backwards)
    place = {name: k for k, loop in enumerate(at.loops) for name in statements(loop)}
    behind = [0] * len(at.loops)
    between = [
        d
        for d in at.dependences.all
        if d.source in place and d.sink in place and place[d.source] < place[d.sink]
    ]
    for d in sorted(between, key=lambda d: place[d.sink]):
        source, sink = (at.dependences.statements[n] for n in (d.source, d.sink))
        first, second = standings(whole, source, sink)
        least = least_distance(at.dependences.keys[d], first.position, second.position, backwards)
        if least is None or first.divisor != second.divisor:
            return None
        apart = second.shift - first.shift
        ahead = -(least + (-apart if backwards else apart))
        needed = behind[place[d.source]] + -(-ahead // first.divisor)
        behind[place[d.sink]] = max(behind[place[d.sink]], needed)
    own = [next(n for n in statements(loop) if n in at.names) for loop in at.loops]
    return tuple((name, count) for name, count in zip(own, behind, strict=True) if count)


def inward(
    tree: Tree, names: Sequence[str], dependences: Dependences
) -> tuple[Tree, tuple[str, ...]]:
    """Join the loops inside a joined one too, as far as dependences allow.

    Returns the tree and a sentence on each pair that stays apart.
    """
    notes: list[str] = []
    for group in _groups(tree, names):
        at = site(tree, group, dependences)
        if at.caught:
            between = next(statements(at.parts[min(at.caught)]))
            notes.append(
                f"the loops over {at.loops[0].name} inside stay apart: {between} is between"
            )
            continue
        zero = [0] * len(at.loops)
        for backwards in at.ways:
            made = joined(at, zero, backwards)
            if violation(made, dependences) is None:
                tree, more = inward(made, group, dependences)
                notes += [*at.turned(backwards), *more]
                break
        else:
            wrong = violation(joined(at, zero, at.ways[0]), dependences)
            assert wrong is not None
            why = dependence_text(wrong.witness)
            notes.append(f"{_stays(at)}: {why}")
    return tree, tuple(notes)


def _stays(at: Site) -> str:
    return f"the loops over {at.loops[0].name} inside stay apart"


def _groups(tree: Tree, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the statements below the innermost node that holds all, by loops that could be one."""
    node = _holding(tree, set(names))
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for part in node.children if isinstance(node, Block) else ():
        own = [n for n in statements(part) if n in names]
        if own and isinstance(part, Loop):
            groups.setdefault((part.name, part.kind), []).append(own)
    return [tuple(n for own in parts for n in own) for parts in groups.values() if len(parts) > 1]


def _holding(tree: Tree, names: set[str]) -> Tree:
    if isinstance(tree, Loop):
        return _holding(tree.child, names)
    if isinstance(tree, Block):
        for child in tree.children:
            if names <= set(statements(child)):
                return _holding(child, names)
    return tree
