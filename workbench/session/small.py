"""Small sizes: for pictures of instances, and the least at which a given element exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.measure.check_sizes import Need, fitting
from workbench.polyhedral.counting import count
from workbench.polyhedral.expression import size
from workbench.program.sizes import resolve
from workbench.program.values import Program, Statement

LENGTHS = (6, 5, 4, 3, 2)
"""Instances along a dimension, the more the better."""
SHOWN = 64
"""Instances of a statement that make a picture in which each can be told apart."""

Sizes = Mapping[str, int]


def picture_sizes(program: Program, statements: Sequence[Statement], given: Sizes) -> Sizes:
    """All sizes, those that are not given as small as a picture of the statements wants them.

    Raises SizeError for given ones that the program does not take.
    """
    dims = {d for s in statements for d in (*s.dims, *s.reduction_dims) if d in program.dim}
    found: Sizes = {}
    for length in LENGTHS:
        needs = [Need(program.dim[d].size, length, "") for d in dims]
        found = _resolved(program, needs, given)
        if all(count(s.domain, found) <= SHOWN for s in statements):
            break
    return found


def sizes_at_least(program: Program, least: Sizes, given: Sizes) -> Sizes:
    """All sizes, those that are not given as small as they can be where none is below `least`."""
    return _resolved(program, [Need(size(name), n, "") for name, n in least.items()], given)


def sizes_with(program: Program, array: str, element: Sizes, given: Sizes) -> Sizes:
    """All sizes, those that are not given as small as they can be where the array has the element
    (its coordinates by dimension).
    """
    record = program.array[array]
    extent = {dim: upper for dim, (_, upper) in zip(record.dims, record.extent, strict=True)}
    needs = [Need(extent[dim], at + 1, "") for dim, at in element.items() if dim in extent]
    return _resolved(program, needs, given)


def settable(program: Program, sizes: Sizes) -> Sizes:
    """Those of all sizes that are not derived from others."""
    return {p.name: sizes[p.name] for p in program.parameters if p.definition is None}


def _resolved(program: Program, needs: Sequence[Need], given: Sizes) -> Sizes:
    resolve(program, given)
    return resolve(program, {**settable(program, fitting(program, needs)), **given})
