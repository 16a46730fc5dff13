"""Small sizes: for pictures of instances, and the least at which a given element exists. Sizes that
neither says anything of are the program's own as far as the reference computes with them at once:
an output shows what it is there, and not what it would be of one step of one environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.measure.checking.check_sizes import Need, fitting, points
from workbench.polyhedral.expression import size
from workbench.polyhedral.sets.counting import count
from workbench.program.sizes import resolve, settable, settable_in
from workbench.program.values import Program, Statement

LENGTHS = (6, 5, 4, 3, 2)
"""Instances along a dimension, the more the better."""
SHOWN = 64
"""Instances of a statement that make a picture in which each can be told apart."""
QUICK = 20_000
"""Points that the reference evaluates within a second or so."""
BESIDE = (64, 32, 16, 8, 4, 2)
"""The most that sizes beside the picture are where the program's own are too large."""

Sizes = Mapping[str, int]


def picture_sizes(program: Program, statements: Sequence[Statement], given: Sizes) -> Sizes:
    """All sizes, those of the statements that are not given as small as a picture wants them.

    Raises SizeError for given ones that the program does not take.
    """
    dims = {d for s in statements for d in (*s.dims, *s.reduction_dims) if d in program.dim}
    lengths = [program.dim[d].size for d in sorted(dims)]

    def fits(sizes: Sizes) -> bool:
        return all(count(s.domain, sizes) <= SHOWN for s in statements)

    for length in LENGTHS:
        needs = [Need(extent, length, "") for extent in lengths]
        if fits(_resolved(program, needs, given)):
            break
    sizes = _with_others(program, needs, given)
    return sizes if fits(sizes) else _resolved(program, needs, given)


def sizes_at_least(program: Program, least: Sizes, given: Sizes) -> Sizes:
    """All sizes, those that are not given as small as they can be where none is below `least`."""
    return _resolved(program, [Need(size(name), n, "") for name, n in least.items()], given)


def sizes_with(program: Program, array: str, element: Sizes, given: Sizes) -> Sizes:
    """All sizes, those along the array that are not given as small as they can be where it has the
    element (its coordinates by dimension).
    """
    record = program.array[array]
    extent = {dim: upper for dim, (_, upper) in zip(record.dims, record.extent, strict=True)}
    needs = [Need(extent[dim], at + 1, "") for dim, at in element.items() if dim in extent]
    return _with_others(program, needs, given)


def _with_others(program: Program, needs: Sequence[Need], given: Sizes) -> Sizes:
    """Sizes that meet the needs, no larger than they must be where a need is about them; the others
    are the program's own, or what the reference can afford of them.
    """
    least = _resolved(program, needs, given)
    own = settable(program, resolve(program))
    about = settable_in(program, [need.length for need in needs]) | given.keys()
    others = own.keys() - about
    for most in (max(own.values(), default=1), *BESIDE) if others else ():
        beside = [Need(size(name), min(own[name], most), "") for name in sorted(others)]
        sizes = _resolved(program, [*needs, *beside], given)
        if points(program, sizes) <= QUICK:
            return sizes
    return least


def _resolved(program: Program, needs: Sequence[Need], given: Sizes) -> Sizes:
    resolve(program, given)
    return resolve(program, {**settable(program, fitting(program, needs)), **given})
