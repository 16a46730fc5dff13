"""A snapshot as Graphviz DOT text: what is drawn, in which boxes, with which light-theme colours.

`extensions/jupyterlab-workbench/src/dot.ts` says the same in the browser, where scopes open and
close; a test holds the two to equal text. Nodes are `n<position>`, scopes `s<position>`, arrows
`e<position>`; every element carries a class, so that a style sheet can give it the theme's colours.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

from workbench.session.picture.edges import Edge
from workbench.session.picture.scopes import Scope, box, closed_at_first, scopes
from workbench.session.picture.snapshot import Node, Snapshot

COLOURS = {
    "operation": ("#ffffff", "#8c959f"),
    "contraction": ("#dcecfa", "#0072b2"),
    "reduction": ("#fdf0d2", "#b87f00"),
    "random": ("#f8e3ef", "#b0578a"),
    "recurrence": ("#d9f2e9", "#00805c"),
    "update": ("#fce5d6", "#c24e00"),
    "external": ("#e8e4f6", "#6a51a3"),
    "closed": ("#eef0f3", "#57606a"),
}
"""Fill and line of a box by kind; the lines are Okabe and Ito's colours, told apart by all. The
seventh has a shape of its own too: a component, which plugs in from outside."""

ROUTED = 150
"""Arrows go round boxes, and have room for what they say, up to this many boxes; beyond it Graphviz
is slow and sometimes fails at that."""

PATIENT = 300
"""Up to this many boxes Graphviz takes as many steps as it has boxes; beyond it fewer, as its time
grows with more than the square."""

STATIC = 40
"""Boxes of the static picture, which cannot be zoomed into."""

NAME = 16
"""Points of a name that stands alone on its box, for which every box has room."""

_HEAD = (
    'graph [bgcolor="transparent", rankdir="TB", ranksep="0.38", nodesep="0.22", pad="0.1", '
    'fontname="Courier", fontsize="11", fontcolor="#57606a", labeljust="l"]',
    'node [shape="box", style="rounded,filled", fontname="Courier", fontsize="11", height="0.3", '
    'margin="0.1,0.05", fontcolor="#1f2328"]',
    'edge [fontname="Courier", fontsize="9", color="#8c959f", fontcolor="#57606a", '
    'arrowsize="0.6"]',
)


@dataclass
class Arrow:
    """Arrows between the same two boxes, drawn as one."""

    source: str
    target: str
    carried: bool
    labels: list[str] = field(default_factory=list)


def dot(snapshot: Snapshot, closed: frozenset[Scope] | None = None) -> str:
    """DOT text of the snapshot with the scopes `closed` drawn as one box each.

    Without `closed`, the snapshot says which.
    """
    closed = frozenset(snapshot.closed) if closed is None else closed
    paths = scopes(node.scope for node in snapshot.nodes)
    names = {path: f"s{position}" for position, path in enumerate(paths)}
    lines = ["digraph {", *(f"  {line}" for line in _HEAD)]
    boxes = len({box(n.scope, closed) or n.id for n in snapshot.nodes})
    if boxes > ROUTED:
        limit = _decimal(min(100, 100 * PATIENT**2 // boxes**2))
        # Ranks of all scopes together: arrows are half as long as with ranks of each its own.
        limits = f'nslimit="{limit}", nslimit1="{limit}", mclimit="{limit}"'
        lines.append(f'  graph [splines="line", newrank="true", {limits}]')
    lines += _inside(snapshot, (), closed, names, "  ")
    for position, arrow in enumerate(_arrows(snapshot, closed, names)):
        lines.append(f"  {_arrow_text(position, arrow, labelled=boxes <= ROUTED)}")
    return "\n".join([*lines, "}", ""])


def static_svg(snapshot: Snapshot) -> str | None:
    """The picture as SVG text; None where Graphviz' `dot` program is not installed or fails."""
    if shutil.which("dot") is None:
        return None
    import graphviz

    paths = [node.scope for node in snapshot.nodes]
    outermost = frozenset(path[:1] for path in paths if path)
    for closed in (frozenset(closed_at_first(paths, boxes=STATIC)), outermost):
        try:
            # Its colours are for a light ground, so it brings its own.
            text = dot(snapshot, closed).replace('bgcolor="transparent"', 'bgcolor="white"', 1)
            svg = graphviz.Source(text).pipe(format="svg", encoding="utf-8", quiet=True)
            break
        except graphviz.CalledProcessError:  # dot gives up on some nestings of boxes
            continue
    else:
        return None
    mono = "font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\""
    drawn = str(svg).replace('font-family="Courier"', mono)
    return drawn[drawn.index("<svg") :]


def _inside(
    snapshot: Snapshot,
    path: Scope,
    closed: frozenset[Scope],
    names: dict[Scope, str],
    indent: str,
) -> list[str]:
    """What stands directly in the scope `path`, statements and scopes in the order of the text: dot
    breaks cycles where it meets them first.
    """
    lines = []
    seen: set[Scope] = set()
    for position, node in enumerate(snapshot.nodes):
        if node.scope == path:
            lines.append(f"{indent}{_node_text(snapshot, position, node)}")
            continue
        inner = node.scope[: len(path) + 1]
        if inner[:-1] != path or inner in seen:
            continue
        seen.add(inner)
        name = names[inner]
        if inner in closed:
            count = sum(n.scope[: len(inner)] == inner for n in snapshot.nodes)
            lines.append(f"{indent}{_closed_text(name, inner[-1], count)}")
            continue
        lines.append(f'{indent}subgraph "cluster_{name}" {{')
        lines.append(
            f'{indent}  graph [id="{name}", class="scope", label={_quoted(shortened(inner[-1]))}, '
            'style="rounded,filled", color="#d0d7de", fillcolor="#8c959f14", margin="9"]'
        )
        lines += _inside(snapshot, inner, closed, names, indent + "  ")
        lines.append(f"{indent}}}")
    return lines


def second_line(snapshot: Snapshot, node: Node) -> str:
    """What a statement does, and the loops it stands in: `contract (64,) · i ←t [b]`."""
    marks = " ".join(snapshot.loops[position].mark for position in node.loops)
    return f"{node.summary} · {marks}" if marks else node.summary


def _node_text(snapshot: Snapshot, position: int, node: Node) -> str:
    fill, line = COLOURS[node.kind]
    double = ', peripheries="2"' if node.outputs else ""
    shape = ', shape="component", style="filled"' if node.kind == "external" else ""
    return (
        f'n{position} [id="n{position}", class="statement {node.kind}", '
        f'label={_lines(node.title, second_line(snapshot, node))}, width="{_width(node.short)}", '
        f'color="{line}", fillcolor="{fill}"{double}{shape}]'
    )


def _closed_text(name: str, label: str, count: int) -> str:
    fill, line = COLOURS["closed"]
    what = "1 statement" if count == 1 else f"{count} statements"
    return (
        f'{name} [id="{name}", class="scope closed", label={_lines(f"▸ {label}", what)}, '
        f'width="{_width(f"▸ {label}")}", '
        f'color="{line}", fillcolor="{fill}", penwidth="1.5"]'
    )


def _arrows(snapshot: Snapshot, closed: frozenset[Scope], names: dict[Scope, str]) -> list[Arrow]:
    boxes = {}
    for position, node in enumerate(snapshot.nodes):
        outer = box(node.scope, closed)
        boxes[node.id] = names[outer] if outer else f"n{position}"
    found: dict[tuple[str, str, bool], Arrow] = {}
    for edge in snapshot.edges:
        _merge(found, boxes[edge.source], boxes[edge.target], edge)
    return list(found.values())


def _merge(found: dict[tuple[str, str, bool], Arrow], source: str, target: str, edge: Edge) -> None:
    if source == target and source.startswith("s"):
        return
    arrow = found.setdefault((source, target, edge.carried), Arrow(source, target, edge.carried))
    if edge.label and edge.label not in arrow.labels:
        arrow.labels.append(edge.label)


def _arrow_text(position: int, arrow: Arrow, labelled: bool) -> str:
    label = "" if len(arrow.labels) > 2 else "; ".join(shortened(text, 18) for text in arrow.labels)
    parts = [f'id="e{position}"', f'class="{"carried" if arrow.carried else "flow"}"']
    if label and labelled:
        parts.append(f"label={_quoted(f' {label} ')}")
    if arrow.carried:
        parts.append('style="dashed", color="#b5420e", fontcolor="#b5420e", weight="0"')
    return f"{arrow.source} -> {arrow.target} [{', '.join(parts)}]"


def shortened(text: str, length: int = 34) -> str:
    """The text, its middle left out where it is longer than `length`."""
    if len(text) <= length:
        return text
    tail = length // 2 - 1
    return f"{text[: length - tail - 1]}…{text[len(text) - tail :]}"


def _width(name: str) -> str:
    """Inches that the name takes alone, its characters 0.6 em wide, with 8 points on both sides."""
    return _decimal((60 * NAME * len(shortened(name)) + 1600) // 72)


def _decimal(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02d}"


def _lines(title: str, summary: str) -> str:
    first, second = _markup(shortened(title, 44)), _markup(shortened(summary, 54))
    return f'<{first}<br/><font point-size="9" color="#57606a">{second}</font>>'


def _markup(text: str) -> str:
    for plain, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(plain, escaped)
    return " ".join(text.split()) or " "


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
