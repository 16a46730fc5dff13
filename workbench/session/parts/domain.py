"""Instances of a few statements at small sizes, and the dependences between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as numbers
from typing import Any, Literal

from workbench.errors import WorkbenchError, nearest
from workbench.polyhedral import tree as trees
from workbench.polyhedral.dependences.witness import written_element
from workbench.polyhedral.loops.execution_order import Point, places
from workbench.polyhedral.sets.counting import count
from workbench.polyhedral.sets.scanning import pairs, scanner
from workbench.polyhedral.tree import Tree
from workbench.program.dependences import dependences
from workbench.program.values import Program, Statement
from workbench.session.picture.small_sizes import picture_sizes
from workbench.session.picture.snapshot import title
from workbench.variants.variant import Variant

MOST_POINTS = 400
"""The most instances of a statement in a picture."""
MOST_ARROWS = 2000
"""The most dependences in a picture."""


@dataclass(frozen=True)
class PointsView:
    """A statement's instances. `dims` name the coordinates. `order` is each instance's place in the
    order of execution (equal places run as one array operation), null without an order to show.
    `elements` are the elements that the instances write, of `array` over `array_dims`.
    """

    statement: str
    title: str
    dims: tuple[str, ...]
    points: tuple[tuple[int, ...], ...]
    order: tuple[int, ...] | None
    array: str
    array_dims: tuple[str, ...]
    elements: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ArrowView:
    """A pair of instances of which the first must come before the second. "reads": `sink` reads
    what `source` wrote. "copies": `sink` reads it from a copy made some iterations early.
    "overwrites": `sink` overwrites an element that `source` has still to read. "adds": both add to
    one element. Statements are positions in `DomainView.statements`, points positions in their
    `points`. `violated`: the second would not come after the first.
    """

    kind: Literal["reads", "copies", "overwrites", "adds"]
    source_statement: int
    source: int
    sink_statement: int
    sink: int
    array: str
    violated: bool


@dataclass(frozen=True)
class DomainView:
    """The drawn statements, instances and dependences. `remark` says what is left out, "" if
    nothing.
    """

    sizes: Mapping[str, int]
    statements: tuple[PointsView, ...]
    arrows: tuple[ArrowView, ...]
    remark: str


def domain(variant: Variant, arguments: Mapping[str, Any]) -> DomainView:
    """Return the instances of `statements` in the variant's order at `sizes`, small by default.

    Raises WorkbenchError for an unknown statement, SizeError for sizes that the program does not
    take.
    """
    program = variant.program
    names = tuple(dict.fromkeys(arguments["statements"]))
    for name in names:
        if name not in program.statement:
            hint = nearest(str(name), program.statement, "statements")
            raise WorkbenchError(f"unknown statement {name!r}: {hint}")
    chosen = [program.statement[name] for name in names]
    sizes = picture_sizes(program, chosen, arguments["sizes"])
    return space(program, chosen, sizes, program.schedule)


def space(
    program: Program, chosen: Sequence[Statement], sizes: Mapping[str, int], order: Tree
) -> DomainView:
    """Return the instances of some statements, in the order of a tree that holds them all."""
    points, remarks = _instances(chosen, sizes)
    own = trees.only(order, [s.name for s in chosen])
    assert own is not None
    run = places(own, {s.name: s.dims for s in chosen}, points)
    arrows = _arrows(program, chosen, sizes, points, run)
    if len(arrows) > MOST_ARROWS:
        remarks.append(f"{MOST_ARROWS:,} of {len(arrows):,} dependences are drawn")
    return DomainView(
        sizes=sizes,
        statements=tuple(_points(program, s, points[s.name], sizes, run) for s in chosen),
        arrows=tuple(arrows[:MOST_ARROWS]),
        remark="; ".join(remarks),
    )


def _instances(
    chosen: Sequence[Statement], sizes: Mapping[str, int]
) -> tuple[dict[str, list[Point]], list[str]]:
    """Return every statement's instances. A statement with too many gets none, and a remark."""
    points: dict[str, list[Point]] = {}
    remarks = []
    for s in chosen:
        amount = count(s.domain, sizes)
        points[s.name] = scanner(s.domain, sizes, 0)(()) if amount <= MOST_POINTS else []
        if amount > MOST_POINTS:
            remarks.append(
                f"{s.name} has {amount:,} instances at these sizes, more than the {MOST_POINTS} "
                "that can be drawn"
            )
    return points, remarks


def _points(
    program: Program,
    statement: Statement,
    points: Sequence[Point],
    sizes: Mapping[str, int],
    run: Mapping[tuple[str, Point], int],
) -> PointsView:
    written = statement.instances
    return PointsView(
        statement=statement.name,
        title=title(replace(statement, scope=())),
        dims=statement.dims,
        points=tuple(points),
        order=tuple(run[statement.name, p] for p in points) if run or not points else None,
        array=statement.array,
        array_dims=program.array[statement.array].dims,
        elements=tuple(
            written_element(written, dict(zip(statement.dims, p, strict=True)), sizes)
            for p in points
        ),
    )


def _arrows(
    program: Program,
    chosen: Sequence[Statement],
    sizes: Mapping[str, int],
    points: Mapping[str, Sequence[Point]],
    run: Mapping[tuple[str, Point], int],
) -> list[ArrowView]:
    """Return every dependence between drawn instances, each pair of instances and array once,
    violated ones first.
    """
    position = {s.name: k for k, s in enumerate(chosen)}
    number = {name: dict(zip(listed, numbers())) for name, listed in points.items()}
    arrows: dict[ArrowView, None] = {}
    for d in dependences(program.equations).among([s.name for s in chosen]).all:
        if not points[d.source] or not points[d.sink]:
            continue
        for source, sink in pairs(dependences(program.equations).relation(d), sizes):
            late = bool(run) and run[d.sink, sink] <= run[d.source, source]
            arrow = ArrowView(
                "reads",
                position[d.source],
                number[d.source][source],
                position[d.sink],
                number[d.sink][sink],
                d.array,
                late,
            )
            arrows[arrow] = None
    return sorted(arrows, key=lambda arrow: not arrow.violated)
