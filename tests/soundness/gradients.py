"""Gradients of random programs against central differences: `python -m tests.soundness.gradients
--count 20000`. Prints a JSON line, and each program whose gradient is wrong, or which NumPy
computes otherwise than the reference.

Program n is decided by n and --seed alone: `--first n --count 1` repeats it. The equations of a
gradient are as wrong for the reference as for every backend, so they need this truth of their own:
it evaluates the loss only. An element counts where two step sizes agree and every branch of the
program is taken as without a step.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import workbench as wb
from tests.soundness.differentiable import SIZE_OF, Written, written
from tests.soundness.provenance import provenance
from workbench.backends.reference.evaluator import Override, Reference
from workbench.errors import ProgramError
from workbench.program.values import Array, Program
from workbench.transforms import Vectorize

STEPS = (5e-5, 5e-6)
"""The second where the first is too long: a sine of something large, a kink nearby."""
AGREE = 1e-6
"""How far two step sizes, or a gradient and the differences, may lie apart, relative to the largest
difference of the program (at least `LEAST`).
"""
LEAST = 1e-2
MOST = 12
"""Elements of a gradient that are looked at."""
PART = 50
"""Programs that a process is given at a time."""

Point = tuple[int, ...]


@dataclass
class Tally:
    """What was found."""

    programs: int = 0
    elements: int = 0
    refused: int = 0
    """Programs of a loss whose instances depend on one another's values along a dim that `x` lacks.
    """
    left_out: int = 0
    left_out_without_kinks: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count what another one counted."""
        self.programs += other.programs
        self.refused += other.refused
        self.elements += other.elements
        self.left_out += other.left_out
        self.left_out_without_kinks += other.left_out_without_kinks
        self.wrong += other.wrong


@dataclass(frozen=True)
class Entry:
    """One number of a gradient: of the loss at a point, by an element of `x` and an inner place."""

    at: Point
    element: Point
    inner: Point


class Differences:
    """Differences of a program's loss at given sizes. All of `x` is given, so that the loss varies
    with one element of it alone. What stands or was written at another point of the loss's dims is
    given too, for a gradient takes it as constant.
    """

    def __init__(self, program: Program, sizes: Mapping[str, int], branches: Sequence[str]) -> None:
        self.program, self.sizes, self.branches = program, sizes, branches
        self.plain = Reference(program.equations, sizes, 3)
        self.dims = program.array[self.plain.resolve("loss")].dims
        self.x = program.array[self.plain.resolve("x")]

    def entries(self) -> Iterator[Entry]:
        """All numbers of the gradient."""
        for at in product(*(range(self.plain.sizes[SIZE_OF[d]]) for d in self.dims)):
            seeds = dict(zip(self.dims, at, strict=True))
            for element in self._elements("x"):
                place = dict(zip(self.x.dims, element, strict=True))
                if all(place.get(d, s) == s for d, s in seeds.items()):
                    for inner in np.ndindex(self.plain.element("x", element).shape):
                        yield Entry(at, element, inner)

    def gradient(self, entry: Entry) -> float:
        """What the program computes."""
        array = self.program.array[self.plain.resolve("gradient")]
        place = dict(zip((*self.x.dims, *self.dims), (*entry.element, *entry.at), strict=True))
        value = self.plain.element("gradient", [place[d] for d in array.dims])
        return float(value[entry.inner])

    def difference(self, entry: Entry) -> float | None:
        """The derivative by differences; None where it cannot be told."""
        found = (self._with_step(entry, step) for step in STEPS)
        return next((slope for slope in found if slope is not None), None)

    def _with_step(self, entry: Entry, longest: float) -> float | None:
        found = []
        sides = self._sides(self.plain)
        for step in (longest, longest / 2):
            ends = []
            for sign in (1.0, -1.0):
                moved = self._moved(entry, sign * step)
                ends.append(float(moved.element("loss", entry.at)))
                if self._sides(moved) != sides:
                    return None
            found.append((ends[0] - ends[1]) / (2 * step))
        scale = max(LEAST, abs(found[0]))
        return (4 * found[1] - found[0]) / 3 if abs(found[0] - found[1]) <= AGREE * scale else None

    def _sides(self, reference: Reference) -> list[Any]:
        return [reference.array(name).tolist() for name in self.branches]

    def _moved(self, entry: Entry, step: float) -> Reference:
        given: dict[str, Override] = {}
        for name, array in self.program.array.items():
            if set(array.dims) & set(self.dims):
                given[name] = partial(self._elsewhere, array, entry)
        given[self.x.name] = partial(self._x, entry, step)
        return self.plain.overridden(given)

    def _elsewhere(self, array: Array, entry: Entry, element: Point) -> Any:
        """What is given of an array over the loss's dims: elements at other points of them, and
        what other points wrote.
        """
        places = [dict(zip(array.dims, element, strict=True))]
        writer = self.plain.defining(array.name, element)
        if writer is not None:
            places.append(dict(zip(writer[0].dims, writer[1], strict=False)))
        here = zip(self.dims, entry.at, strict=True)
        if all(place.get(d, at) == at for d, at in here for place in places):
            return None
        return self.plain.element(array.name, element)

    def _x(self, entry: Entry, step: float, element: Point) -> Any:
        value = self.plain.element("x", element)
        if element == entry.element:
            value = np.array(value)
            value[entry.inner] += step
        return value

    def _elements(self, name: str) -> list[Point]:
        array = self.program.array[self.plain.resolve(name)]
        lower = [low.evaluate(self.plain.sizes) for low, _ in array.extent]
        mask = self.plain.mask(name)
        return [
            tuple(int(p) + low for p, low in zip(q, lower, strict=True)) for q in np.argwhere(mask)
        ]


def assert_same_in_numpy(differences: Differences, *axes: str) -> None:
    """NumPy computes the gradient that the reference computes, with dims as array axes where they
    may be.
    """
    variant = wb.variant(differences.program)
    for dim in axes:
        if variant.check(Vectorize(dim)) is None:
            variant = variant.apply(Vectorize(dim))
    result = wb.run(
        variant,
        backend="numpy",
        sizes=differences.sizes,
        seed=3,
        dtype="float64",
        progress=False,
    )
    expected = differences.plain.array("gradient")
    np.testing.assert_allclose(result["gradient"], expected, rtol=1e-9, atol=1e-9)


def held(program: Written, dice: Random, kinks: bool, runs: bool = True) -> Tally:
    """A program's gradient against differences, at random sizes; where it `runs` NumPy's too."""
    tally = Tally(1)
    try:
        traced = program.traced()
        sizes = {p.name: dice.choice((1, 2, 2, 3)) for p in traced.parameters}
        differences = Differences(traced, sizes, program.branches)
        entries = list(differences.entries())
        chosen = entries if len(entries) <= MOST else dice.sample(entries, MOST)
        pairs = [(e, differences.gradient(e), differences.difference(e)) for e in chosen]
        if runs:
            dims = [d for d in SIZE_OF if d in traced.dim and dice.random() < 0.4]
            assert_same_in_numpy(differences, *dims)
    except Exception as error:
        if isinstance(error, ProgramError) and "sum or average the loss over" in error.message:
            tally.refused = 1
            return tally
        tally.wrong.append(f"{program.text}\n{type(error).__name__}: {error}")
        return tally
    scale = max([LEAST, *(abs(d) for _, _, d in pairs if d is not None)])
    for entry, computed, expected in pairs:
        tally.elements += 1
        if expected is None:
            tally.left_out += 1
            tally.left_out_without_kinks += not kinks
        elif not abs(computed - expected) <= AGREE * scale:
            tally.wrong.append(f"{program.text}\n{sizes} {entry}: {computed}, expected {expected}")
            break
    return tally


def numbered(number: int, seed: int) -> Tally:
    """Program `number`; every second one has kinks."""
    dice, kinks = Random(f"{seed} {number}"), number % 2 == 1
    return held(written(dice, kinks), dice, kinks, runs=number % 8 < 2)


def several(seed: int, first: int, count: int) -> Tally:
    """Programs first … first + count - 1."""
    tally = Tally()
    for number in range(first, first + count):
        found = numbered(number, seed)
        found.wrong = [f"program {number}: {text}" for text in found.wrong]
        tally.add(found)
    return tally


def main() -> int:
    """Hold so many programs against differences, print, and fail where one was wrong."""
    parser = argparse.ArgumentParser(prog="tests.soundness.gradients", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--record", type=Path, help="append the line, where nothing was wrong")
    given = parser.parse_args()
    start, tally = time.time(), Tally()
    end = given.first + given.count
    with ProcessPoolExecutor(given.workers) as pool:
        firsts = range(given.first, end, PART)
        counts = [min(PART, end - n) for n in firsts]
        for found in pool.map(partial(several, given.seed), firsts, counts):
            for text in found.wrong:
                print(f"WRONG {text}\n", file=sys.stderr, flush=True)
            tally.add(found)
    line = json.dumps(
        {
            **provenance(),
            "gradients": tally.programs,
            "seed": given.seed,
            "first": given.first,
            "refused": tally.refused,
            "elements": tally.elements,
            "left out": tally.left_out,
            "left out without kinks": tally.left_out_without_kinks,
            "wrong": len(tally.wrong),
            "seconds": round(time.time() - start, 1),
        }
    )
    print(line)
    if given.record and not tally.wrong:
        with given.record.open("a") as file:
            file.write(f"{line}\n")
    return bool(tally.wrong) or tally.left_out_without_kinks > 0


if __name__ == "__main__":
    sys.exit(main())
