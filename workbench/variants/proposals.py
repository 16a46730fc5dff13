"""Steps to judge: those that transforms propose, and those that name a selection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.program.values import Program, Statement
from workbench.transforms import (
    Contract,
    Distribute,
    Fuse,
    Incrementalize,
    Interchange,
    Recompute,
    Vectorize,
)
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.transforms.trees.regions import own_loops


def every_step(program: Program, kind: str | None = None) -> Iterator[Transform]:
    """Yield what each transform proposes, or the one of that name."""
    for name, transform in REGISTRY.items():
        if kind in (None, name):
            yield from transform.candidates(program)


def steps_about(program: Program, statements: Sequence[Statement]) -> Iterator[Transform]:
    """Yield steps that name these statements or the arrays they write, legal or not: the loops they
    share vectorized, exchanged, split off or joined; ranges as running updates; arrays folded or
    recomputed.
    """
    names = tuple(s.name for s in statements)
    loops = own_loops(program)
    own = [loops[name] for name in names]
    common = [d for d in own[0] if all(d in dims for dims in own)] if own else []
    for dim in reversed(common):
        yield Vectorize(dim, names)
    if common:
        yield Distribute(names, common[-1])
    if len(names) > 1:
        yield Fuse(names)
    for outer, inner in pairwise(common):
        yield Interchange(outer, inner, names)
    for s in statements:
        for dim in s.dims if s.reduction_dims else ():
            yield Incrementalize(s.name, dim)
    for array in dict.fromkeys(s.array for s in statements):
        for dim in reversed(program.array[array].dims):
            yield Contract(array, dim)
        yield Recompute(array)
