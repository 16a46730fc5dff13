"""The sizes at which a variant runs in its own blocks: two tiles and a tail of one value, and of
one less than a tile, along every dimension in blocks, as small as possible otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import lcm, prod

from workbench.errors import SizeError
from workbench.measure.checking.check_sizes import constants, least_lengths, points
from workbench.polyhedral.expression import Expression
from workbench.polyhedral.sets.relations import count
from workbench.polyhedral.tree import blocks
from workbench.program.fitting import Sizes, evaluated, fitting
from workbench.program.operations.table import OPERATIONS
from workbench.program.sizes import resolve, settable, settable_in
from workbench.program.values import Program

AFFORDABLE = 2_200_000
"""The most points (instances, and their reduction points) of a program that runs as written on
NumPy: about four seconds."""
DRAW = 75
"""The points that one draw takes as long as."""
QUICKER = 4
"""The factor by which a run is to be quicker for a dimension without blocks to have more values."""
FEW = 2
"""The values of a dimension without blocks where more are too many."""
TILES = 8
"""The most tiles in a size that is searched for one with a tail."""
MOST = 8_192
"""The most values of one size that are searched."""
BESIDE = 4
"""The values of the other sizes that are tried with each of these."""


@dataclass(frozen=True)
class Tail:
    """A length of two tiles at least, and a tail of `rest` values, along a dimension."""

    dim: str
    length: Expression
    tile: int
    rest: int

    def met(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether the length is so at these sizes."""
        whole, rest = divmod(self.length.evaluate(sizes), self.tile)
        return whole >= 2 and rest == self.rest

    def __str__(self) -> str:
        return f"two tiles of {self.tile} and a tail of {self.rest} along {self.dim}"


@dataclass(frozen=True)
class TailSizes:
    """Sizes, and the tails that they have."""

    sizes: Mapping[str, int]
    tails: tuple[Tail, ...]


def tail_sizes(root: Program, program: Program) -> tuple[list[TailSizes], tuple[str, ...]]:
    """Return sizes of the root with all tails of a program that steps have made of it, and a
    sentence on each tail that is at no sizes, or at none that can be afforded.

    Tails of several dimensions share sizes where that can be afforded.
    """
    found: list[TailSizes] = []
    missed: list[str] = []
    for tails in _wanted(program):
        together: list[TailSizes] = []
        for tail in tails:
            for place, others in enumerate(together):
                joined = _affordable(root, (*others.tails, tail))
                if joined is not None:
                    together[place] = joined
                    break
            else:
                alone = _affordable(root, (tail,))
                if alone is None:
                    missed.append(_missed(root, tail))
                else:
                    together.append(alone)
        found += [one for one in together if one not in found]
    return found, tuple(missed)


def _wanted(program: Program) -> Iterator[list[Tail]]:
    """Yield the tails of one value of all loops over blocks, and those of one less than a tile."""
    tiled = dict.fromkeys(blocks(program.schedule).values())
    for rest in (lambda tile: 1, lambda tile: tile - 1):
        yield [
            Tail(dim, program.dim[dim].size, tile, rest(tile))
            for dim, tile in tiled
            if dim in program.dim
        ]


def _affordable(root: Program, tails: tuple[Tail, ...]) -> TailSizes | None:
    """Return the smallest sizes found with these tails, if the root runs there soon enough."""
    for floors, most in zip(_floors(root), (AFFORDABLE // QUICKER, AFFORDABLE), strict=True):
        sizes = _with_tails(root, tails, floors)
        if sizes is not None and _work(root, sizes) <= most:
            return TailSizes(sizes, tails)
    return None


def _work(root: Program, sizes: Sizes) -> int:
    """Count the points of a run, and those that its draws are worth."""
    draws = sum(
        count(s.domain, sizes)
        for s in root.statements
        if any(OPERATIONS[call.operation].random for call in s.calls)
    )
    return points(root, sizes) + DRAW * draws


def _missed(root: Program, tail: Tail) -> str:
    """Say why a tail is at no sizes."""
    *_, floors = _floors(root)
    if _with_tails(root, (tail,), floors) is not None:
        return f"no {tail}: NumPy would run the program as written for too long"
    derived = [
        f"{p.name} = {p.definition}"
        for p in root.parameters
        if p.definition is not None and p.name in tail.length.sizes
    ]
    length = ", ".join(derived) or str(tail.length)
    return f"no {tail}: {length} is never so long at the sizes tried"


def _floors(root: Program) -> Iterator[Sizes]:
    """Yield the least sizes of all: such that every statement has instances; two of everything."""
    yield fitting(root, [*least_lengths(root), *constants(root)])
    yield fitting(root, list(least_lengths(root, FEW)))


def _with_tails(root: Program, tails: Sequence[Tail], floors: Sizes) -> Sizes | None:
    """Return the sizes with these tails whose product is the least of those tried, each at least
    its floor; None where there are none.
    """
    free = settable(root.equations, floors)
    periods = [lcm(*(t.tile for t in tails if t.dim == tail.dim)) for tail in tails]
    reach = min(TILES * max(periods), MOST)
    values = {}
    for name in _involved(root, tails):
        own = [t for t in tails if settable_in(root.equations, [t.length]) == {name}]
        values[name] = [
            n
            for n in range(free[name], free[name] + reach)
            if all(t.met(evaluated(root, free | {name: n})) for t in own)
        ]
    tried = {
        choice
        for far in values or [""]
        for choice in product(*(v if n == far else v[:BESIDE] for n, v in values.items()))
    }
    for choice in sorted(tried, key=lambda choice: (prod(choice), choice)):
        chosen = free | dict(zip(values, choice, strict=True))
        if all(tail.met(evaluated(root, chosen)) for tail in tails):
            try:
                return resolve(root.equations, chosen)
            except SizeError:  # a derived size that does not divide
                continue
    return None


def _involved(root: Program, tails: Sequence[Tail]) -> list[str]:
    """Return the sizes that the lengths are made of, and those beside them in derived sizes."""
    names = settable_in(root.equations, [tail.length for tail in tails])
    for p in root.parameters:
        if p.definition is not None:
            own = settable_in(root.equations, [p.definition])
            names |= own if own & names else set()
    return [p.name for p in root.parameters if p.name in names]
