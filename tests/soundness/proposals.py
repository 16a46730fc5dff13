"""Steps to try on a program: what a transform proposes itself, and arguments chosen at random.

The choices are made by a `Chooser`, so that a seeded generator and Hypothesis (which shrinks what
it finds) walk the same way.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from workbench.polyhedral.tree import Loop, block_dim, paths
from workbench.program.values import Program
from workbench.transforms.rules import BY_NAME
from workbench.transforms.step.refusal import Refused
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.type_hints import Hint, field_hints
from workbench.variants.variant import Variant

T = TypeVar("T")
SIZES = (1, 2, 3, 4, 5)
"""Sizes of tiles and blocks: around the extents of the small programs."""
SHIFTS = (-2, -1, 1, 2, 3)
AHEAD = (0, 1, 2, 3)
"""Iterations by which slices come early."""
MOST_NAMED = 4
"""Statements that one step names at most."""


class Chooser(Protocol):
    """Whoever decides."""

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""


class Dice:
    """Choices by a seeded generator."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def choose(self, options: Sequence[T]) -> T:
        """One of the options, each as likely."""
        return self._random.choice(options)


def often(names: Sequence[str], one: str | None) -> tuple[str, ...]:
    """The names, among which one is chosen as often as all others together."""
    return (*names, *[one] * (len(names) - 1)) if one else tuple(names)


def propose(program: Program, chooser: Chooser, names: Sequence[str]) -> Transform | None:
    """A step of one of the transforms `names`, legal or not; None where the transform has none.

    What it proposes itself may get other numbers: few blocks of many are one block.
    """
    transform = REGISTRY[chooser.choose(names)]
    hints = field_hints(transform)
    if chooser.choose((True, False)):
        candidates = list(transform.candidates(program))
        if not candidates:
            return None
        step = chooser.choose(candidates)
        hints = {name: hint for name, hint in hints.items() if hint.what == "whole number"}
        if not hints or chooser.choose((True, False)):
            return step
        given = {n: _argument(program, chooser, n, hint) for n, hint in hints.items()}
        return replace(step, **given)
    return transform(**{n: _argument(program, chooser, n, hint) for n, hint in hints.items()})


def _argument(program: Program, chooser: Chooser, name: str, hint: Hint) -> Any:
    """A value for the parameter `name`; what a parameter of that name means is the same in all."""
    if hint.optional and chooser.choose((True, False)):
        return None
    if hint.what == "choice":
        return chooser.choose(hint.choices)
    if hint.what == "tuple":
        return tuple(_argument(program, chooser, name, part) for part in hint.parts)
    if hint.what == "list":
        count = chooser.choose(range(1, MOST_NAMED + 1))
        entries = [_argument(program, chooser, name, hint.parts[0]) for _ in range(count)]
        return tuple(dict.fromkeys(entries))
    return chooser.choose(_options(program, name, hint))


def _options(program: Program, name: str, hint: Hint) -> Sequence[Any]:
    if hint.what == "whole number":
        return {"shifts": SHIFTS, "prefetch": AHEAD}.get(name, SIZES)
    if hint.what == "truth":
        return (True, False)
    statements = [s.name for s in program.statements]
    if name in ("statement", "statements", "readers", "shifts"):
        return statements
    if name in ("array", "to"):
        return [a.name for a in program.arrays]
    if name == "rules":
        return list(BY_NAME)
    assert hint.what == "text", f"no values for the parameter {name}: {hint}"
    dims = [d for s in program.statements for d in (*s.dims, *s.reduction_dims)]
    blocks = [
        block_dim(node.dim, node.tile)
        for path in paths(program.schedule).values()
        for node, _ in path
        if isinstance(node, Loop) and node.tile is not None
    ]
    return list(dict.fromkeys([*dims, *blocks]))


def accepted(
    variant: Variant, chooser: Chooser, tried: int, names: Sequence[str] = ()
) -> Iterator[Variant]:
    """Variants, each a random step further than the one before: of the transforms `names`, or of
    all.
    """
    for _ in range(tried):
        step = propose(variant.program, chooser, names or sorted(REGISTRY))
        if step is None:
            continue
        try:
            variant = variant.apply(step)
        except Refused:
            continue
        yield variant
