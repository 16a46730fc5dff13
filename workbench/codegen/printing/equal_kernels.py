"""Kernels whose text is equal but for names and places become one function, which is told the
places. A program has the same few kernels again and again, for each array of parameters its own,
and compiling takes as long as the text is long.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
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


def as_functions(
    texts: Mapping[str, str], names: Mapping[str, Collection[str]]
) -> tuple[dict[str, str], dict[str, Call]]:
    """Return the functions of kernels by name, and how each kernel is called.

    `texts` are the kernels, each as a function of its own called by the kernel's name. `names` are
    what a kernel calls things itself, for those kernels that may be told places.
    """
    equal: dict[str, list[str]] = {}
    for kernel, text in texts.items():
        alike = _but_for_names(text, {kernel, *names[kernel]}) if kernel in names else kernel
        equal.setdefault(alike, []).append(kernel)
    functions, calls = {}, {}
    for first, *others in equal.values():
        told = bool(others and _places(texts[first]))
        functions[first] = _told_places(first, texts[first]) if told else texts[first]
        for kernel in (first, *others):
            calls[kernel] = Call(first, _places(texts[kernel]) if told else ())
    return functions, calls


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
