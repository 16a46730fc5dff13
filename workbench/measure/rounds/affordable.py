"""Sizes at which runs are soon over, where the given ones take too long. The number of updates is
cut first, then the sizes along recurrences, then the rest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from workbench.errors import SizeError
from workbench.measure.rounds import expected
from workbench.measure.rounds.expected import NONE, Expectation
from workbench.program.sizes import resolve, settable, settable_in
from workbench.program.values import Program

MARGIN = 4.0
"""The factor by which runs may exceed a prediction with constants of another machine."""
FEW = 10
"""The least value of a cut size as long as others can be cut."""

Sizes = dict[str, int]


def affordable(
    expectation: Expectation,
    written: Program,
    sizes: Mapping[str, int] | None,
    runs: int,
    pace: float | None,
    lengths: Mapping[str, Any] = NONE,
) -> Sizes | None:
    """Return the largest cut sizes at which so many runs take at most half of the allowed time;
    None where there are none, or nothing is predicted.

    `pace` is the ratio of a trial run's seconds to those predicted. Without it predictions have a
    margin until the machine is calibrated. `lengths` are those of episodes that end.
    """

    def fits(smaller: Sizes) -> bool:
        taken = seconds(expectation, smaller, pace, lengths)
        return taken is not None and runs * taken <= expected.LIMIT / 2

    way = list(cuts(written, settable(written.equations, resolve(written.equations, sizes))))
    position = bisect_left(way, True, key=fits)
    return way[position] if position < len(way) else None


def seconds(
    expectation: Expectation,
    sizes: Mapping[str, int],
    pace: float | None,
    lengths: Mapping[str, Any] = NONE,
) -> float | None:
    """Return the seconds of a run by a trial run's pace, or with a margin; None where nothing is
    predicted.
    """
    said = expectation.at(sizes, lengths)
    if said is None:
        return None
    if pace is None:
        pace = MARGIN if said.note else 1.0
    return said.seconds * pace


def smallest(found: Sequence[Mapping[str, int] | None]) -> Sizes | None:
    """Return the farthest of several cuts of the same sizes; None where one of them is None."""
    cut = [one for one in found if one is not None]
    if not cut or len(cut) < len(found):
        return None
    return {name: min(one[name] for one in cut) for name in cut[0]}


def cuts(program: Program, sizes: Mapping[str, int]) -> Iterator[Sizes]:
    """Yield ever smaller sizes in round numbers, one cut after the other; the program takes them
    all. Sizes that are small already are cut last.
    """
    now = dict(sizes)
    for name, least in _order(program, sizes):
        for stop, next_stop in _stops(now[name], least):
            for value in range(stop, next_stop, -1):
                if _takes(program, {**now, name: value}):
                    now = {**now, name: value}
                    yield now
                    break


def _order(program: Program, sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the sizes in the order of cutting, each with its least value."""
    updates = _along(program, {program.updates})
    time = _along(program, _recurrent(program)) - updates
    others = [name for name in sizes if name not in updates]
    longest = sorted(others, key=lambda name: (name not in time, -sizes[name]))
    long = [name for name in longest if sizes[name] > FEW]
    yield from ((name, 1) for name in sizes if name in updates)
    yield from ((name, FEW) for name in long)
    yield from ((name, 1) for name in long)
    yield from ((name, 1) for name in longest if name not in long)


def _along(program: Program, dims: Iterable[str]) -> set[str]:
    """Return the sizes in the lengths of dimensions."""
    return settable_in(program.equations, [program.dim[d].size for d in dims if d in program.dim])


def _recurrent(program: Program) -> set[str]:
    """Return the dimensions that an array reaches beyond: its next element comes of those
    before.
    """
    return {
        dim
        for array in program.arrays
        for dim, (_, upper) in zip(array.dims, array.extent, strict=True)
        if dim in program.dim and upper != program.dim[dim].size
    }


def _stops(value: int, least: int) -> Iterator[tuple[int, int]]:
    """Yield round numbers below a value down to the least, each with the next one."""
    rounds = [
        digit * 10**power
        for power in reversed(range(len(str(value))))
        for digit in (5, 2, 1)
        if least <= digit * 10**power < value
    ]
    yield from zip(rounds, [*rounds[1:], least - 1], strict=True) if rounds else ()


def _takes(program: Program, sizes: Mapping[str, int]) -> bool:
    """Tell whether derived sizes divide."""
    try:
        resolve(program.equations, sizes)
    except SizeError:
        return False
    return True
