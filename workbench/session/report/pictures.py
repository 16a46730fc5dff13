"""Graphviz' pictures as parts of an HTML page: their colours are the page's, what differs between
two programs is marked, and nothing is left that could be more than a drawing.
"""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from workbench.session.picture.dot import static_svg
from workbench.session.picture.scopes import Scope, scopes
from workbench.session.picture.snapshot import Node, Snapshot

DRAWN = {"g", "path", "polygon", "polyline", "ellipse", "text"}
KEPT = {
    "class", "cx", "cy", "d", "font-family", "font-size", "points", "rx", "ry", "stroke-dasharray",
    "stroke-width", "text-anchor", "transform", "x", "y",
}  # fmt: skip
"""The attributes of elements that a page takes over. Colours are those of its style sheet, by
class."""
SECOND = "9.00"
"""The font size by which Graphviz' text tells the second line of a box from the first."""
LARGER = 1.35
"""The most by which a picture is drawn larger than Graphviz does, so that a small one does not fill
the page."""

WIDE = 1.1
"""The width of a picture over its height from which on two do not stand beside each other."""


def picture(drawn: Snapshot, other: Snapshot) -> str | None:
    """Return a program's picture as HTML. Statements that the `other` program does not have, or has
    in other loops or with other storage, are marked, and so are closed scopes around them. None
    where Graphviz' `dot` program is not installed or fails.
    """
    svg = static_svg(drawn)
    if svg is None:
        return None
    root = ElementTree.fromstring(svg)
    changed = differing(drawn, other)
    tips, marked = _texts(drawn, changed)
    inside = "".join(_element(child, tips, marked) for child in root)
    title = escape(f"Dependence graph of {drawn.name}, {len(drawn.nodes)} statements")
    width, height = (float(root.get(side, "1").removesuffix("pt")) for side in ("width", "height"))
    shape = "wide" if width > WIDE * height else "tall"
    return (
        f'<svg class="{shape}" role="img" aria-label="{title}" '
        f'viewBox="{escape(root.get("viewBox", ""))}" '
        f'style="max-width: {width * LARGER * 4 / 3:.0f}px">{inside}</svg>'
    )


def differing(drawn: Snapshot, other: Snapshot) -> frozenset[str]:
    """Return the statements, by id, that the other program does not have or has otherwise."""
    theirs = {node.id: _how(node, other) for node in other.nodes}
    return frozenset(n.id for n in drawn.nodes if theirs.get(n.id) != _how(n, drawn))


def _how(node: Node, drawn: Snapshot) -> tuple[object, ...]:
    """Return what a step can change of a statement."""
    marks = tuple(drawn.loops[position].mark for position in node.loops)
    return node.equation, node.domain, marks, node.storage, node.kept


def _texts(drawn: Snapshot, changed: Collection[str]) -> tuple[dict[str, str], set[str]]:
    """Return the tooltips of boxes, and the boxes that are marked, by Graphviz' ids."""
    tips = {f"n{position}": node.equation for position, node in enumerate(drawn.nodes)}
    marked = {f"n{position}" for position, n in enumerate(drawn.nodes) if n.id in changed}
    around: set[Scope] = set()
    for node in drawn.nodes:
        if node.id in changed:
            around |= set(scopes([node.scope]))
    for position, scope in enumerate(scopes(node.scope for node in drawn.nodes)):
        tips[f"s{position}"] = ".".join(scope)
        if scope in around:
            marked.add(f"s{position}")
    return tips, marked


def _element(element: Element, tips: dict[str, str], marked: Collection[str]) -> str:
    """Return an element and what is in it; of others than shapes and texts nothing."""
    name = _local(element.tag)
    if name not in DRAWN or (name == "polygon" and element.get("fill") == "white"):
        return ""  # the white one is the ground of the picture
    own = {key: value for key, value in element.attrib.items() if key in KEPT}
    identity = element.get("id", "")
    if identity in marked and "cluster" not in own.get("class", ""):
        own["class"] = f"{own.get('class', '')} changed"
    if name == "text" and element.get("font-size") == SECOND:
        own["class"] = "second"
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in own.items())
    tip = f"<title>{escape(tips[identity])}</title>" if identity in tips else ""
    inside = "".join(_element(child, tips, marked) for child in element)
    return f"<{name}{attributes}>{tip}{escape(element.text or '').strip()}{inside}</{name}>"


def _local(tag: str) -> str:
    """Return a tag's name without its namespace."""
    return tag.rpartition("}")[2]
