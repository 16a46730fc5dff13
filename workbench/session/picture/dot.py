"""A snapshot as Graphviz DOT text, and drawn by Graphviz' `dot` program.

`extensions/jupyterlab-workbench/src/graph/layout/dot.ts` assembles the same text in the browser,
where scopes open and close; a test holds the two to equal text. Nodes are `n<position>`, scopes
`s<position>`, arrows `e<position>`.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field

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
from workbench.session.picture.scopes import Scope, box, closed_at_first, scopes
from workbench.session.picture.snapshot import Snapshot

STATIC = 40
"""The most boxes of the static picture, which cannot be zoomed."""


@dataclass
class Arrow:
    """The arrows between the same two boxes, drawn as one."""

    source: str
    target: str
    carried: bool
    marks: list[str] = field(default_factory=list)


def dot(snapshot: Snapshot, closed: frozenset[Scope] | None = None) -> str:
    """Return the DOT text of the snapshot, each of the scopes `closed` drawn as one box.

    Without `closed`, the snapshot says which.
    """
    closed = frozenset(snapshot.closed) if closed is None else closed
    paths = scopes(node.scope for node in snapshot.nodes)
    names = {path: f"s{position}" for position, path in enumerate(paths)}
    boxes = len({box(n.scope, closed) or n.id for n in snapshot.nodes})
    lines = ["digraph {", *HEAD]
    if boxes > ROUTED:
        limit = decimal(min(100, 100 * PATIENT**2 // boxes**2))
        lines.append(LARGE.replace("LIMIT", limit))
    lines += _inside(snapshot, (), closed, names)
    for position, arrow in enumerate(_arrows(snapshot, closed, names)):
        lines.append(_arrow_text(position, arrow, labelled=boxes <= ROUTED))
    return "\n".join([*lines, "}", ""])


def static_svg(snapshot: Snapshot, boxes: int = STATIC) -> str | None:
    """Return the picture as SVG text, of so many boxes at most; None where Graphviz' `dot` program
    is not installed or fails.
    """
    if shutil.which("dot") is None:
        return None
    import graphviz

    paths = [node.scope for node in snapshot.nodes]
    outermost = frozenset(path[:1] for path in paths if path)
    for closed in (frozenset(closed_at_first(paths, boxes)), outermost):
        try:
            source = graphviz.Source(dot(snapshot, closed))
            svg = source.pipe(format="svg", encoding="utf-8", quiet=True)
            break
        except graphviz.CalledProcessError:  # dot gives up on some nestings of boxes
            continue
    else:
        return None
    mono = "font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\""
    drawn = str(svg).replace('font-family="Courier"', mono)
    return drawn[drawn.index("<svg") :]


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


def _arrow_text(position: int, arrow: Arrow, labelled: bool) -> str:
    mark = "" if len(arrow.marks) > 2 else "; ".join(arrow.marks)
    label = f", label={json.dumps(f' {mark} ', ensure_ascii=False)}" if mark and labelled else ""
    attributes = CARRIED if arrow.carried else FLOW
    return f'{arrow.source} -> {arrow.target} [id="e{position}", {attributes}{label}]'
