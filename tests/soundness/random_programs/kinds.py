"""The kinds of random programs, and what each of them is held to."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.soundness.random_programs import episodes, in_place, reads, updates
from tests.soundness.random_programs.author import Source
from tests.soundness.random_programs.pairs import unlike_a_variation
from tests.soundness.random_programs.parts import unlike_the_whole
from tests.soundness.random_programs.variants import unlike_the_reference
from tests.soundness.walks import described, within

LIMIT = 120.0
"""Seconds of the processor's time that one program may take."""
Writer = Callable[[Random], Source]
Check = Callable[[Source, Random], str | None]


@dataclass(frozen=True)
class Kind:
    """Programs by one of some writers, and a check that tells a fault of one."""

    writers: Sequence[Writer]
    check: Check


KINDS: Mapping[str, Kind] = {
    "episodes": Kind((episodes.written,), unlike_the_reference),
    "in place": Kind((in_place.written,), unlike_the_reference),
    "reads": Kind((reads.written,), unlike_the_reference),
    "pairs": Kind(
        (reads.written, reads.written, episodes.written, updates.written), unlike_a_variation
    ),
    "parts": Kind((updates.written,), unlike_the_whole),
}


def wrong(kind: str, number: int, seed: int = 0) -> str | None:
    """The fault of program `number` of a kind, which these three decide; None where it has none."""
    dice = Random(f"{kind} {seed} {number}")
    source = dice.choice(KINDS[kind].writers)(dice)
    try:
        with within(LIMIT):
            found = KINDS[kind].check(source, dice)
    except Exception as error:  # a crash of any kind is a finding, told with its program
        at = "".join(traceback.format_tb(error.__traceback__)[-3:])
        found = f"{described(error)}\n{at}"
    return found and f"{kind}, program {number}: {found}\n{source.text}"
