"""Programs under some schedules, at some sizes: what predictions are tried on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tests.programs import PROGRAMS, Sizes
from workbench.backends import get
from workbench.backends.arrays import CompiledArrays
from workbench.transforms import Vectorize
from workbench.transforms.refusal import Refused
from workbench.variants.variant import Variant, optimize, variant


@cache
def variants(name: str) -> tuple[Variant, ...]:
    """A program as written, after each single step of Vectorize, and after the automatic recipe."""
    root = variant(PROGRAMS[name][0]())
    return (root, *_single(root), optimize(root))


def _single(root: Variant) -> Iterator[Variant]:
    for step in Vectorize.candidates(root.program):
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
