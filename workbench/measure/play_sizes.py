"""The sizes at which schedules are played: the smallest that show what happens, and smaller ones
where given ones are too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from workbench.errors import SizeError
from workbench.lowering.memory.takeover import memory_of
from workbench.measure.checking.check_sizes import LEAST
from workbench.polyhedral.lifetimes.folding import most_slots
from workbench.polyhedral.tree import blocks
from workbench.program.fitting import Need, dividing, fitting
from workbench.program.sizes import resolve, settable
from workbench.program.values import Program

Sizes = Mapping[str, int]


def smallest_sizes(program: Program, given: Sizes) -> dict[str, int]:
    """Return all sizes. Those that are not given are the smallest with three values of each
    dimension and three blocks of each loop over blocks, and one slice more than each window.

    Raises SizeError for sizes that the program does not take.
    """
    resolve(program.equations, given)
    fitted = settable(program.equations, fitting(program, list(_needs(program))))
    return resolve(program.equations, {**fitted, **given})


def _needs(program: Program) -> Iterator[Need]:
    for dim in program.dims:
        yield Need(dim.size, LEAST, "")
    for name, tile in blocks(program.schedule).values():
        if name in program.dim:
            yield Need(program.dim[name].size, (LEAST - 1) * tile + 1, "")
    memory = memory_of(program)
    for array in memory.program.arrays:
        windows = memory.stored(array.name).windows
        for window, (lower, upper) in zip(windows, array.extent, strict=True):
            slots = None if window is None else most_slots(window, upper - lower)
            if slots is not None:
                yield Need(upper - lower, slots + 1, "")


def playable_sizes(
    program: Program, sizes: Sizes, plays: Callable[[Sizes], bool]
) -> dict[str, int] | None:
    """Return sizes at which something plays, none of them derived, where it does not at `sizes`:
    those that matter halved as often as need be. None where even the smallest are too large.
    """

    def all_of(chosen: Sizes) -> dict[str, int] | None:
        try:
            found = dividing(program, dict(chosen))
        except SizeError:
            return None
        return found if plays(found) else None

    least = settable(program.equations, smallest_sizes(program, {}))
    cut = dict(sizes)
    found = None
    while found is None:
        name = max(cut, key=lambda size: cut[size] / least[size])
        if cut[name] <= least[name]:
            return None
        cut[name] = max(least[name], cut[name] // 2)
        found = all_of(cut)
    for name in cut:
        as_it_was = all_of({**settable(program.equations, found), name: sizes[name]})
        found = found if as_it_was is None else as_it_was
    return settable(program.equations, found)
