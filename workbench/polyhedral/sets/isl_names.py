"""The user's names and the names inside isl text.

A user's name never enters isl text: `min` and `exists` are reserved there, `NaN` silently gives an
empty set, Greek letters and dots do not parse. A dimension `t` is `d_t`, a size `T` is `p_T`. Every
character that isl cannot read is escaped, and two names never meet. Statements and arrays are
numbered.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ESCAPED = re.compile(r"_x([0-9a-f]+)_")
_GENERATED = re.compile(r"(?<![A-Za-z_])[dp]_[A-Za-z0-9_]+")  # also behind a factor: 2d_t


@lru_cache(maxsize=4096)
def dim_name(name: str) -> str:
    """Return the isl name of the dimension `name`."""
    return "d_" + _escape(name)


@lru_cache(maxsize=4096)
def size_name(name: str) -> str:
    """Return the isl name of the size parameter `name`."""
    return "p_" + _escape(name)


def user_name(generated: str) -> str:
    """Return the user's name of a dimension or size, given its isl name."""
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), generated[2:])


def statement_tuple(position: int) -> str:
    """Return the isl tuple name of the statement at `position`."""
    return f"S{position}"


def readable(text: str) -> str:
    """Return isl text with the user's names, for display only."""
    return _GENERATED.sub(lambda match: user_name(match.group(0)), text)


def _escape(name: str) -> str:
    # A literal `_x` would read as an escape, so its underscore is escaped too.
    result = []
    for position, character in enumerate(name):
        plain = character.isascii() and (character.isalnum() or character == "_")
        if plain and not (character == "_" and name[position + 1 : position + 2] == "x"):
            result.append(character)
        else:
            result.append(f"_x{ord(character):x}_")
    return "".join(result)
