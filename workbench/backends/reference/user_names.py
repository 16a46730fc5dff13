"""The meaning of users' names: an array, an output, or a value that an array holds elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.errors import ProgramError, nearest
from workbench.program.values import Alias, Equations


def meaning(equations: Equations, name: str) -> Alias:
    """Return the array that holds what the user calls `name`, and where.

    Raises ProgramError for a name that is none of the program's.
    """
    if name in equations.array:
        return equations.array[name].alias(name)
    aliases = {alias.name: alias for alias in equations.aliases}
    aliases |= {o.name: equations.array[o.array].alias(o.name) for o in equations.outputs}
    if name not in aliases:
        known = [*equations.array, *(n for n in aliases if n not in equations.array)]
        raise ProgramError(f"unknown array {name!r}: {nearest(name, known, 'arrays')}")
    return aliases[name]


def point_of(alias: Alias, coordinates: Mapping[str, int]) -> tuple[int, ...]:
    """Return the point at which a value is asked for: one coordinate for each of its dimensions.

    Raises ProgramError for an unknown or a missing coordinate, and for one that is no integer.
    """
    name, dims = alias.name, alias.dims
    for given in coordinates:
        if given not in dims:
            offered = nearest(given, dims, "dimensions")
            raise ProgramError(f"{name} has no dimension {given!r}: {offered}")
    missing = [d for d in dims if d not in coordinates]
    if missing:
        listed, lacking = ", ".join(dims), ", ".join(missing)
        shown = ", ".join(f'"{d}": …' for d in dims)
        reserved = {"seed", "sizes", "data"} & set(missing)
        hint = f', in a mapping: wb.value(program, "{name}", {{{shown}}})' if reserved else ""
        raise ProgramError(f"{name} has the dimensions {listed}: say where along {lacking}{hint}")
    for d in dims:
        if not isinstance(coordinates[d], (int, np.integer)) or isinstance(coordinates[d], bool):
            raise ProgramError(f"{name} at {d}={coordinates[d]!r}: a coordinate is an integer")
    return tuple(int(coordinates[d]) for d in dims)
