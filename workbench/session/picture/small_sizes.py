"""Small sizes: for pictures of instances, and the least at which a given element exists. A size
about which neither says anything is the program's own, as far as the reference computes with it at
once. So an output shows its real value, not that of one step of one environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.measure.checking.check_sizes import points
from workbench.polyhedral.expression import size
from workbench.polyhedral.sets.counting import count
from workbench.program.fitting import Need, fitting
from workbench.program.sizes import resolve, settable, settable_in
from workbench.program.values import Alias, Program, Statement

LENGTHS = (6, 5, 4, 3, 2)
"""Instances along a dimension, the more the better."""
SHOWN = 64
"""The most instances of a statement that can be told apart in a picture."""
QUICK = 20_000
"""The points that the reference evaluates within a second or so."""
BESIDE = (64, 32, 16, 8, 4, 2)
"""The upper bounds, tried in turn, of the other sizes where the program's own are too large."""

Sizes = Mapping[str, int]


def picture_sizes(program: Program, statements: Sequence[Statement], given: Sizes) -> Sizes:
    """Return all sizes; those of the statements that are not given are as small as a picture wants
    them.

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
    """Return all sizes; those not given are as small as possible, with none below `least`."""
    return _resolved(program, [Need(size(name), n, "") for name, n in least.items()], given)


def sizes_with(program: Program, value: Alias, at: Sizes, given: Sizes) -> Sizes:
    """Return all sizes. Those along the array that are not given are as small as possible where the
    array has the element that holds the value at a point (its coordinates by dimension).
    """
    extent = program.array[value.array].extent
    held = zip(value.index, extent, strict=True)
    needs = [Need(upper - e.substitute(at), 1, "") for e, (_, upper) in held]
    return _with_others(program, needs, given)


def _with_others(program: Program, needs: Sequence[Need], given: Sizes) -> Sizes:
    """Return sizes that meet the needs. Sizes with a need are no larger than they must be; the
    others are the program's own, or as large as the reference can afford.
    """
    least = _resolved(program, needs, given)
    own = settable(program.equations, resolve(program.equations))
    about = settable_in(program.equations, [need.length for need in needs]) | given.keys()
    others = own.keys() - about
    for most in (max(own.values(), default=1), *BESIDE) if others else ():
        beside = [Need(size(name), min(own[name], most), "") for name in sorted(others)]
        sizes = _resolved(program, [*needs, *beside], given)
        if points(program, sizes) <= QUICK:
            return sizes
    return least


def _resolved(program: Program, needs: Sequence[Need], given: Sizes) -> Sizes:
    resolve(program.equations, given)
    return resolve(
        program.equations, {**settable(program.equations, fitting(program, needs)), **given}
    )
