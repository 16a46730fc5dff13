"""The storage of an array, in words."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lowering.memory.lives import lives
from workbench.polyhedral.lifetimes.windows import Lifetime
from workbench.program.accumulating import derived
from workbench.program.values import Array, Program


def storage_text(program: Program, array: str) -> str:
    """Describe an array's storage as steps left it: `device memory` as written, else the changes,
    such as `host memory, slices come to the device for their use` or `device memory, of t only the
    slices in use`.
    """
    storage = program.storage
    swapped = dict(storage.swapped)
    told = ["host memory" if array in swapped else "device memory"]
    if array in swapped:
        early = swapped[array]
        ahead = f", {early} iteration{'s' if early > 1 else ''} early" if early else ""
        told.append(f"slices come to the device for their use{ahead}")
    if array in storage.added:
        told.append("an element for each sum: the points are added up, not stored")
    windows = [dim for name, dim in storage.contracted if name == array]
    if windows:
        told.append(f"of {' and '.join(windows)} only the slices in use")
    order = dict(storage.layouts).get(array)
    if order is not None:
        told.append(f"laid out as {' '.join(order)}")
    for given, to in storage.donated:
        if given == to == array:
            told.append("updated in place")
        elif to == array:
            told.append(f"takes over that of {given}")
        elif given == array:
            told.append(f"handed on to {to}")
    return ", ".join(told)


def storage_marks(program: Program) -> dict[str, tuple[str, ...]]:
    """Return what is kept of arrays, and where, if steps changed that: `2 of T + 1` slices of a
    dimension, `host`.
    """
    known = lives(program) if program.storage.contracted else {}
    stored = derived(program).arrays  # of points that are added up, one element a sum
    return {a.name: tuple(_marks(program, a, known.get(a.name))) for a in stored}


def _marks(program: Program, array: Array, lifetime: Lifetime | None) -> Iterator[str]:
    contracted = {dim for name, dim in program.storage.contracted if name == array.name}
    if contracted and lifetime is not None:
        windows = lifetime.windows
        for dim, (lower, upper), window in zip(array.dims, array.extent, windows, strict=True):
            if dim in contracted and window not in (None, upper - lower):
                yield f"{window} of {upper - lower}"
    if array.name in program.storage.on_host:
        yield "host"
