"""A snapshot as Graphviz DOT text, and drawn by Graphviz' `dot` program.

`extensions/jupyterlab-workbench/src/graph/layout/dot.ts` assembles the same text in the browser,
where scopes open and close; a test holds the two to equal text. Nodes are `n<position>`, scopes
`s<position>`, arrows `e<position>`.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import product

from workbench.session.picture.dot_boxes import (
    CARRIED,
    CLOSED,
    END,
    FLOW,
    HEAD,
    KINDS,
    LARGE,
    OPEN,
    PATIENT,
    ROUTED,
    decimal,
)
from workbench.session.picture.edges import Edge
from workbench.session.picture.scopes import OVERVIEW, Scope, box, closed_at_first, scopes
from workbench.session.picture.snapshot import Snapshot

STATIC = (OVERVIEW, 12)
"""The most boxes of the static picture, which cannot be zoomed: the first that fits WIDEST."""

WIDEST = 840
"""The most points of its width. Code hosts and notebooks give an output some 840 pixels: letters of
9 points, the smallest, are 9 pixels there."""

LETTERS = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
"""The faces of the static picture, as wide as the Courier by which Graphviz measures."""

TIGHT = 'graph [outputorder="edgesfirst", nodesep="0.16"]'
GROUND = '<table border="0" cellborder="0" cellpadding="0" bgcolor="white"><tr><td>'
GROUND_END = "</td></tr></table>"
"""The markup around a label that may lie on arrows."""


@dataclass
class Arrow:
    """The arrows between the same two boxes, drawn as one."""

    source: str
    target: str
    carried: bool
    marks: list[str] = field(default_factory=list)


def dot(snapshot: Snapshot, closed: frozenset[Scope] | None = None, tight: bool = False) -> str:
    """Return the DOT text of the snapshot, each of the scopes `closed` drawn as one box.

    Without `closed`, the snapshot says which. A `tight` picture gives labels of arrows no room of
    their own and boxes none for larger letters.
    """
    closed = frozenset(snapshot.closed) if closed is None else closed
    paths = scopes(node.scope for node in snapshot.nodes)
    names = {path: f"s{position}" for position, path in enumerate(paths)}
    boxes = len({box(n.scope, closed) or n.id for n in snapshot.nodes})
    lines = ["digraph {", *HEAD, *([TIGHT] if tight else [])]
    if boxes > ROUTED:
        limit = decimal(min(100, 100 * PATIENT**2 // boxes**2))
        lines.append(LARGE.replace("LIMIT", limit))
    lines += _inside(snapshot, (), closed, names)
    for position, arrow in enumerate(_arrows(snapshot, closed, names)):
        label = _label(arrow, tight) if boxes <= ROUTED else ""
        lines.append(_arrow_text(position, arrow, label))
    text = "\n".join([*lines, "}", ""])
    return re.sub(r'\bwidth="[\d.]+", ', "", text) if tight else text


@dataclass(frozen=True)
class Static:
    """The static picture: the DOT text with its choice of closed scopes, and Graphviz' SVG text."""

    dot: str
    svg: str


def static_svg(snapshot: Snapshot) -> str | None:
    """Return the static picture as SVG text; None where there is none."""
    picture = static(snapshot)
    return None if picture is None else picture.svg


def static(snapshot: Snapshot) -> Static | None:
    """Return the static picture, which is as tight and closes as many scopes as its width asks for;
    None where Graphviz' `dot` program is not installed or fails.
    """
    if shutil.which("dot") is None:
        return None
    picture = None
    for closed, tight in product(_closings(snapshot), (False, True)):
        text = dot(snapshot, closed, tight)
        svg = _svg(text)
        if svg is None:  # dot gives up on some nestings of boxes
            continue
        picture = Static(text, svg)
        if _width(svg) <= WIDEST:
            break
    return picture


def _closings(snapshot: Snapshot) -> list[frozenset[Scope]]:
    """Return the choices of closed scopes, from the most boxes to the fewest."""
    paths = [node.scope for node in snapshot.nodes]
    chosen = [frozenset(closed_at_first(paths, boxes=most)) for most in STATIC]
    outermost = frozenset(path[:1] for path in paths if path)
    return list(dict.fromkeys([*chosen, outermost]))


def _svg(text: str) -> str | None:
    import graphviz

    try:
        drawn = graphviz.Source(text).pipe(format="svg", encoding="utf-8", quiet=True)
    except graphviz.CalledProcessError:
        return None
    svg = re.sub(r'font-family="Courier[^"]*"', f'font-family="{LETTERS}"', str(drawn))
    svg = re.sub(r'<text ([^>]*font-size="([\d.]+)"[^>]*)>([^<]*)', _as_measured, svg)
    return svg[svg.index("<svg") :]


def _as_measured(text: re.Match[str]) -> str:
    """Return a text that is as wide as Courier's letters, whatever face the reader has."""
    attributes, size, letters = text.groups()
    length = 0.6 * float(size) * max(1, len(unescape(letters)))
    return f'<text textLength="{length:.2f}" lengthAdjust="spacingAndGlyphs" {attributes}>{letters}'


def _width(svg: str) -> float:
    """Return the points that a picture is wide."""
    found = re.match(r'<svg width="([\d.]+)pt"', svg)
    assert found is not None
    return float(found[1])


def _inside(
    snapshot: Snapshot, path: Scope, closed: frozenset[Scope], names: dict[Scope, str]
) -> list[str]:
    """Return the statements and scopes directly in the scope `path`, in the order of the text: dot
    breaks cycles where it meets them first.
    """
    lines = []
    seen: set[Scope] = set()
    for position, node in enumerate(snapshot.nodes):
        if node.scope == path:
            attributes = f"{KINDS[node.kind]}, {node.box.dot}"
            lines.append(f'n{position} [id="n{position}", {attributes}]')
            continue
        inner = node.scope[: len(path) + 1]
        if inner[:-1] != path or inner in seen:
            continue
        seen.add(inner)
        name, text = names[inner], snapshot.scopes[inner[-1]]
        if inner in closed:
            count = sum(n.scope[: len(inner)] == inner for n in snapshot.nodes)
            what = "1 statement" if count == 1 else f"{count} statements"
            lines.append(f'{name} [id="{name}", {CLOSED}, {text.closed}{what}{END}]')
            continue
        lines.append(f'subgraph "cluster_{name}" {{')
        lines.append(f'graph [id="{name}", {OPEN}, {text.open}]')
        lines += _inside(snapshot, inner, closed, names)
        lines.append("}")
    return lines


def _arrows(snapshot: Snapshot, closed: frozenset[Scope], names: dict[Scope, str]) -> list[Arrow]:
    boxes = {}
    for position, node in enumerate(snapshot.nodes):
        outer = box(node.scope, closed)
        boxes[node.id] = names[outer] if outer else f"n{position}"
    merged: dict[tuple[str, str, bool], Arrow] = {}
    for edge in snapshot.edges:
        _merge(merged, boxes[edge.source], boxes[edge.target], edge)
    return list(merged.values())


def _merge(
    merged: dict[tuple[str, str, bool], Arrow], source: str, target: str, edge: Edge
) -> None:
    if source == target and source.startswith("s"):
        return
    arrow = merged.setdefault((source, target, edge.carried), Arrow(source, target, edge.carried))
    if edge.mark and edge.mark not in arrow.marks:
        arrow.marks.append(edge.mark)


def _label(arrow: Arrow, tight: bool) -> str:
    mark = "" if len(arrow.marks) > 2 else "; ".join(arrow.marks)
    if mark and tight and arrow.source != arrow.target:  # an arrow to itself has room
        return f", xlabel=<{GROUND}{escape(mark)}{GROUND_END}>"
    return f", label={json.dumps(f' {mark} ', ensure_ascii=False)}" if mark else ""


def _arrow_text(position: int, arrow: Arrow, label: str) -> str:
    attributes = CARRIED if arrow.carried else FLOW
    return f'{arrow.source} -> {arrow.target} [id="e{position}", {attributes}{label}]'
