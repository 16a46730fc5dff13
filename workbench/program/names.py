"""Names that nothing else has."""

from __future__ import annotations


def unique(name: str, taken: set[str]) -> str:
    """The name, numbered if it is taken; it is taken from now on."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found
