"""Instances of a few statements at small sizes, and the dependences between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PointsView:
    """A statement's instances: `dims` name the coordinates, `order` is each one's place in the
    order of execution (equal places run as one array operation), null where there is none to show.
    """

    statement: str
    title: str
    dims: tuple[str, ...]
    points: tuple[tuple[int, ...], ...]
    order: tuple[int, ...] | None


@dataclass(frozen=True)
class ArrowView:
    """A dependence between two instances: `sink` reads what `source` wrote. Statements are
    positions in `DomainView.statements`, points positions in their `points`. `violated`: the sink
    would not run after the source.
    """

    source_statement: int
    source: int
    sink_statement: int
    sink: int
    array: str
    violated: bool


@dataclass(frozen=True)
class DomainView:
    """`cut`: there are more points or arrows than are shown; `remark` says how many."""

    sizes: Mapping[str, int]
    statements: tuple[PointsView, ...]
    arrows: tuple[ArrowView, ...]
    remark: str
