"""Legal steps of every transform on small programs, each with the program that it is taken on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from tests.programs import PROGRAMS
from tests.transforms.documented import documented
from workbench.transforms.step.transform import REGISTRY, Transform
from workbench.variants.variant import Variant, variant

NAMES = ("leaky_sum", "returns", "n_step", "carried", "staggered", "small_reinforce")
EACH = 2
"""Steps of a transform on a program."""

Taken = tuple[str, Variant, Transform]


@cache
def taken(name: str) -> tuple[Taken, ...]:
    """The documented step of a transform, then the first legal ones on each program."""
    before, _, after = documented(name)
    assert after.step is not None
    return (("example", before, after.step), *_on_programs(name))


def _on_programs(name: str) -> Iterator[Taken]:
    for program in NAMES:
        root = variant(PROGRAMS[program][0]())
        on = root.apply(REGISTRY["Vectorize"]("b")) if name == "Donate" else root
        legal = (m.step for m in on.each_move(REGISTRY[name]) if m.legal)
        for step in islice(legal, EACH):
            yield program, on, step
