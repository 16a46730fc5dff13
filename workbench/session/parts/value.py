"""One instance's value, and the direct inputs it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.session.snapshot import LineView


@dataclass(frozen=True)
class ElementView:
    """An element of an array: its value as text (of a tensor its least, mean and greatest),
    `finite`: whether all of it is.
    """

    array: str
    coordinates: Mapping[str, int]
    text: str
    shape: tuple[int, ...]
    finite: bool


@dataclass(frozen=True)
class ValueView:
    """`of` and where it came from. `statement` is null where the value was given from outside."""

    of: ElementView
    statement: str | None
    equation: str
    line: LineView | None
    inputs: tuple[ElementView, ...]
    more_inputs: int
    """How many inputs are left out of `inputs`."""
    sizes: Mapping[str, int]
    seed: int
