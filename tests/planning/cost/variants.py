"""Programs under some schedules, at some sizes: what predictions are tried on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from tests.programs import PROGRAMS, Sizes, automatic
from workbench.backends import get
from workbench.backends.arrays.compiled import CompiledArrays
from workbench.transforms import Swap, Tile
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.variants.variant import Variant, variant

LARGE = ("small_ppo", "small_reinforce")


@cache
def variants(name: str) -> tuple[Variant, ...]:
    """A program as written, after a step of each kind (of small programs), and after the automatic
    recipe.
    """
    root = variant(PROGRAMS[name][0]())
    between = () if name in LARGE else tuple(_single(root))
    return (root, *between, automatic(name))


def _single(root: Variant) -> Iterator[Variant]:
    """After the first legal step of each kind, in blocks that leave a tail, and with slices that
    come early.
    """
    tiles = [Tile(dim.name, 2) for dim in root.program.dims]
    early = [Swap(array.name, prefetch=1) for array in root.program.arrays]
    for steps in (*(t.candidates(root.program) for t in REGISTRY.values()), tiles, early):
        yield from islice(_legal(root, steps), 1)


def _legal(root: Variant, steps: Iterable[Transform]) -> Iterator[Variant]:
    for step in steps:
        try:
            yield root.apply(step)
        except Refused:
            continue


@cache
def compiled(chosen: Variant) -> CompiledArrays:
    """A variant on NumPy."""
    found = get("numpy").compile(chosen.program)
    assert isinstance(found, CompiledArrays)
    return found


def cases(name: str) -> Iterator[tuple[CompiledArrays, Sizes]]:
    """Every variant of a program with every choice of sizes."""
    for chosen in variants(name):
        for sizes in PROGRAMS[name][1]:
            yield compiled(chosen), sizes
