"""Kernels whose text is equal but for names and places become one function, which is told the
places. A program has the same few kernels again and again, for each array of parameters its own,
and compiling takes as long as the text is long.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

PLACES = "places"
"""The parameter by which a function is told the places of its arrays."""

_PLACE = re.compile(r"\brun->(buffers|scratch)\[(\d+)\]")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
"""A word that is no part of a number."""


class Call(NamedTuple):
    """The function that a kernel is called by, and the places that are told it; none where the
    function is the kernel's alone.
    """

    function: str
    places: tuple[int, ...] = ()


class Functions:
    """The functions of the kernels so far: by its name how each is called."""

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        self._alike: dict[str, str] = {}

    def add(self, kernel: str, text: str, names: Collection[str] | None) -> str | None:
        """Add a kernel by its name, with its text as a function of its own called so; return the
        text of the function that it needs, None where that is one before.

        `names` are what it calls things itself; None where it may not be told places.
        """
        if names is None:
            self.calls[kernel] = Call(kernel)
            return text
        alike, places = _but_for_names(text, {kernel, *names}), _places(text)
        function = self._alike.setdefault(alike, kernel)
        self.calls[kernel] = Call(function, places)
        if function != kernel:
            return None
        return _told_places(kernel, text) if places else text


def _but_for_names(text: str, names: Collection[str]) -> str:
    """Return a text without comments, with names by the order in which they come, and no places."""
    number: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        word = found[0]
        return f"@{number.setdefault(word, len(number))}" if word in names else word

    return _NAME.sub(numbered, _PLACE.sub(r"run->\1[]", COMMENT.sub("", text)))


def _places(text: str) -> tuple[int, ...]:
    return tuple(int(found[2]) for found in _PLACE.finditer(text))


def _told_places(function: str, text: str) -> str:
    """Return the text of a function that takes its places one after the other from a parameter."""
    count = iter(range(len(text)))
    text = _PLACE.sub(lambda found: f"run->{found[1]}[{PLACES}[{next(count)}]]", text)
    declared = f"void {function}(Run *run"
    return text.replace(declared, f"{declared}, const int32_t *{PLACES}", 1)
