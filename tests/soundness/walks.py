"""A walk: steps at random, one after the other, each accepted one run and compared with the
reference evaluation of the program as written.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import workbench as wb
from tests.soundness.proposals import Chooser, propose
from workbench.backends.numpy import NumPyBackend
from workbench.backends.reference import Reference
from workbench.errors import WorkbenchError
from workbench.program.carried import keeping
from workbench.program.sizes import resolve
from workbench.program.values import Program
from workbench.transforms.refusal import Refused
from workbench.variants.variant import Variant

Sizes = Mapping[str, int]
SEED = 5


@dataclass(frozen=True)
class Wrong:
    """An accepted step whose program does not compute what the program as written does."""

    program: str
    sizes: Sizes
    recipe: str
    what: str

    def __str__(self) -> str:
        return f"{self.program} at {dict(self.sizes)}: {self.what}\n{self.recipe}"


@dataclass
class Tally:
    """What many walks met with."""

    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    """By transform and kind of refusal."""
    wrong: list[Wrong] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take in what another met with."""
        self.accepted += other.accepted
        self.refused += other.refused
        self.wrong += other.wrong


class Meaning:
    """A program as written, and what the reference says it computes at some sizes.

    What the last update carries on is compared too, where the program can say it.
    """

    def __init__(self, name: str, program: Program, sizes: Sizes) -> None:
        self.name = name
        self.root = wb.variant(program)
        self.sizes = {p.name: sizes[p.name] for p in program.parameters if p.name in sizes}
        kept = keeping(program)
        reference = Reference(kept, self.sizes, SEED)
        self.arrays = {o.name: reference.array(o.array) for o in kept.outputs}
        self.defined = {o.name: reference.mask(o.array) for o in kept.outputs}

    def difference(self, variant: Variant) -> str | None:
        """What the variant computes otherwise, in float64 at 1e-9; None where nothing."""
        program = keeping(variant.program)
        try:
            compiled = NumPyBackend().compile(program)
            done = compiled.run(self.sizes, SEED, "float64")
        except Exception as error:  # whatever it is, an accepted step must run
            return f"{type(error).__name__}: {error}"
        for name, wanted in self.arrays.items():
            if name not in done.outputs:
                return f"{name} is not among the outputs"
            found = done.outputs[name]
            if found.shape != wanted.shape:
                return f"{name} has shape {found.shape} instead of {wanted.shape}"
            found, wanted = found[self.defined[name]], wanted[self.defined[name]]
            if not _agree(found, wanted):
                return f"{name} is {found.ravel()[:6]} instead of {wanted.ravel()[:6]}"
        peak = compiled.loop_program.peak(resolve(program, self.sizes), "float64")
        if done.peak_bytes != peak:
            return f"a peak of {done.peak_bytes} bytes instead of the predicted {peak}"
        return None


def _agree(found: Any, wanted: Any) -> bool:
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(found, wanted))
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return False
    scale = np.abs(wanted[finite]).max(initial=0.0)
    near = np.abs(found[finite] - wanted[finite]) <= 1e-9 * (np.abs(wanted[finite]) + scale)
    return bool(near.all())


def walk(meaning: Meaning, chooser: Chooser, names: Sequence[str], length: int) -> Tally:
    """Try steps until `length` are accepted or as many again have been refused in a row."""
    tally, variant, stuck = Tally(), meaning.root, 0
    while len(variant.steps) < length and stuck < length:
        stuck += 1
        step = None
        try:
            step = propose(variant.program, chooser, names)
            if step is None:
                continue
            following = variant.apply(step)
        except Refused as refused:
            tally.refused[f"{type(step).__name__}: {refused.refusal.kind}"] += 1
            continue
        except WorkbenchError as error:
            tally.refused[f"{type(step).__name__}: {type(error).__name__}"] += 1
            continue
        except Exception as error:  # neither accepted nor refused in a sentence
            at = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{step}: {type(error).__name__}: {error} ({at.filename}:{at.lineno})"
            tally.wrong.append(Wrong(meaning.name, meaning.sizes, variant.recipe(), what))
            break
        variant, stuck = following, 0
        tally.accepted[type(step).__name__] += 1
        what = meaning.difference(variant)
        if what is not None:
            tally.wrong.append(Wrong(meaning.name, meaning.sizes, variant.recipe(), what))
            break
    return tally
