"""Names that nothing else has."""

from __future__ import annotations

from collections.abc import Container


def free(wish: str, taken: Container[str], mark: str = "_") -> str:
    """Find a name that is not taken: the wish, or the wish with a number behind the mark."""
    number, name = 1, wish
    while name in taken:
        number += 1
        name = f"{wish}{mark}{number}"
    return name


def unique(wish: str, taken: set[str]) -> str:
    """Find a name that is not taken, numbered if need be, and take it."""
    name = free(wish, taken)
    taken.add(name)
    return name


def lengthened(wish: str, taken: Container[str]) -> str:
    """Find a name that is not taken: the wish, or the wish with underscores behind it."""
    while wish in taken:
        wish += "_"
    return wish
