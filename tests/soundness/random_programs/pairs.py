"""Pairs of programs that mean the same, where what both return must be equal: other values
returned too, or fewer, a value written where it is used, dims whose names come in another order.

What is returned or named decides which values have arrays of their own, and where they are held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

from tests.soundness.lines import traced
from tests.soundness.random_programs.author import Source
from tests.soundness.walks import SEED, agree
from workbench.backends.reference.evaluator import Reference
from workbench.program.values import Program

OTHER_NAMES = {"b": "worker", "i": "again", "t": "clock", "k": "action"}
"""Names that come in another order in the alphabet."""
_ASSIGNED = re.compile(r"([a-z]\w*) = (.*)")
_OWN = re.compile(
    r"wb\.(uniform|recurrent|dim|until|gradient|within)\b|nn\.|rl\.|net|sampled|replay"
)
"""Marks of what is written once: it is no value, or is called by where it stands."""


@dataclass(frozen=True)
class Variation:
    """A program that means the same: what was done, its text, what its dims are called."""

    done: str
    text: str
    called: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Values:
    """The outputs of a program: their values, where those are defined, and their dims."""

    arrays: Mapping[str, Any]
    defined: Mapping[str, Any]
    dims: Mapping[str, tuple[str, ...]]


def unlike_a_variation(source: Source, dice: Random) -> str | None:
    """The first output that is other in some variation of a program; None where all are alike."""
    sizes = source.sizes(dice)
    expected = by_the_equations(traced(source.text), sizes)
    for variation in variations(source, dice):
        found = by_the_equations(traced(variation.text), sizes)
        wrong = _unlike(found, expected, variation.called)
        if wrong is not None:
            return f"{dict(sizes)}: {variation.done}: {wrong}\n{variation.text}"
    return None


def variations(source: Source, dice: Random) -> Iterator[Variation]:
    """Programs that mean the same."""
    values = dict(_values(source))
    fewer = tuple(name for name in source.outputs if dice.random() < 0.5) or source.outputs[:1]
    yield Variation("fewer are returned", replace(source, outputs=fewer).text)
    more = (*source.outputs, *source.draws, *values)
    yield Variation("more are returned", replace(source, outputs=more).text)
    once = [name for name in values if _is_used_once(source, name)]
    if once:
        name = dice.choice(once)
        text = _written_where_used(source, name, values[name]).text
        yield Variation(f"{name} is written where it is used", text)
    if "rl.Replay" not in source.text:  # which draws under names that have those of dims
        text = re.sub(r"\b[bitk]\b", lambda found: OTHER_NAMES[found[0]], source.text)
        yield Variation("dims called otherwise", text, OTHER_NAMES)


def _values(source: Source) -> Iterator[tuple[str, str]]:
    """The named values of a program that are neither draws nor made of any, and their text."""
    for line in source.lines:
        found = _ASSIGNED.fullmatch(line)
        if found and not _OWN.search(found[2]):
            yield found[1], found[2]


def _is_used_once(source: Source, name: str) -> bool:
    """True if a value is not returned, and used in one place, at the reader's own instance."""
    uses = re.findall(rf"\b{name}\b(\[)?", "\n".join(source.lines))
    return name not in source.outputs and uses == ["", ""]


def _written_where_used(source: Source, name: str, text: str) -> Source:
    """The program with a value's text where its name stood."""
    others = [line for line in source.lines if not line.startswith(f"{name} = ")]
    lines = (re.sub(rf"\b{name}\b", lambda _: f"({text})", line) for line in others)
    return replace(source, lines=tuple(lines))


def by_the_equations(program: Program, sizes: Mapping[str, int]) -> Values:
    """The outputs of a program by the reference."""
    reference = Reference(program.equations, sizes, SEED)
    arrays = {o.name: o.array for o in program.outputs}
    return Values(
        {name: reference.array(array) for name, array in arrays.items()},
        {name: reference.mask(array) for name, array in arrays.items()},
        {name: program.array[array].dims for name, array in arrays.items()},
    )


def _unlike(found: Values, expected: Values, called: Mapping[str, str]) -> str | None:
    """The first of the outputs that both have which is not equal; None where all are."""
    for name in found.arrays.keys() & expected.arrays.keys():
        dims = [called.get(d, d) for d in expected.dims[name]]
        if sorted(dims) != sorted(found.dims[name]):
            return f"{name} is over {found.dims[name]} instead of {dims}"
        order = [found.dims[name].index(d) for d in dims]
        defined, wanted = expected.defined[name], expected.arrays[name]
        inner = range(len(order), wanted.ndim)
        here, values = found.defined[name].transpose(order), found.arrays[name]
        values = values.transpose(*order, *inner)
        if values.shape != wanted.shape or not np.array_equal(here, defined):
            return f"{name} is defined elsewhere"
        if not agree(values[defined], wanted[defined]):
            return f"{name} is {values.ravel()[:6]} instead of {wanted.ravel()[:6]}"
    return None
