"""What a variant will cost at given sizes: prediction, shared out by statement, with formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ShareView:
    """A statement's part of a run: seconds, arithmetic operations, bytes moved, launches."""

    statement: str
    seconds: float
    operations: int
    bytes: int
    launches: int


@dataclass(frozen=True)
class FootprintView:
    """The bytes of an array's storage at the sizes, and as a formula in them."""

    array: str
    bytes: int
    formula: str
    space: str
    storage: str
    """What is kept of each dimension, in words; whose memory is taken over."""


@dataclass(frozen=True)
class CostView:
    """A prediction. `note` and `assumed` say what the seconds rest on."""

    sizes: Mapping[str, int]
    dtype: str
    backend: str
    seconds: float
    peak_bytes: Mapping[str, int]
    peak_formula: str
    operations: int
    bytes: int
    launches: int
    shares: tuple[ShareView, ...]
    arrays: tuple[FootprintView, ...]
    note: str
    assumed: str
