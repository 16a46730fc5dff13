"""DOT text of a picture's boxes, scopes and arrows: labels, sizes, colours, escaping.

Snapshots carry what differs from box to box, `protocol.ts` the constants. `dot.py` and the browser
only put them together, each for its closed scopes. Every element has a class, so that a style sheet
can give it the theme's colours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.session.picture.scopes import Scope

NAME = 16
"""Font size, in points, of a name that stands alone on its box; every box has room for it."""

CHIP = 15
"""Font size, in points, of a chip on the lower edge of a box whose name stands alone."""

CHIP_BEYOND = 8
"""Points by which chips may stand out of their box on either side."""

KEPT = 8
"""The most characters of the marks of what is kept of an array for which a box is made wider."""

ROUTED = 150
"""The most boxes up to which arrows go round boxes and have room for their labels. Beyond it
Graphviz is slow at that and sometimes fails."""

PATIENT = 300
"""The most boxes up to which Graphviz takes as many steps as there are boxes. Beyond it takes
fewer, as its time grows faster than the square."""

HEAD = (
    'graph [bgcolor="white", rankdir="TB", ranksep="0.38", nodesep="0.22", pad="0.1", '
    'fontname="Courier", fontsize="11", fontcolor="#57606a", labeljust="l"]',
    'node [shape="box", style="rounded,filled", fontname="Courier", fontsize="11", height="0.3", '
    'margin="0.1,0.05", fontcolor="#1f2328"]',
    'edge [fontname="Courier", fontsize="9", color="#8c959f", fontcolor="#57606a", '
    'arrowsize="0.6"]',
)

LARGE = 'graph [splines="line", newrank="true", nslimit="LIMIT", nslimit1="LIMIT", mclimit="LIMIT"]'
"""Attributes of a graph of more than ROUTED boxes. Scopes share their ranks, which halves the
length of arrows."""

KINDS = {
    kind: f'class="statement {kind}", color="{line}", fillcolor="{fill}"{shape}'
    for kind, fill, line, shape in (
        ("operation", "#ffffff", "#8c959f", ""),
        ("contraction", "#dcecfa", "#0072b2", ""),
        ("reduction", "#fdf0d2", "#b87f00", ""),
        ("random", "#f8e3ef", "#b0578a", ""),
        ("recurrence", "#d9f2e9", "#00805c", ""),
        ("update", "#fce5d6", "#c24e00", ""),
        ("external", "#e8e4f6", "#6a51a3", ', shape="component", style="filled"'),
    )
}
"""Fill and line of a box by kind; the lines are Okabe and Ito's colours, told apart by all. The
seventh has its own shape too: a component, which plugs in from outside."""

CLOSED = 'class="scope closed", color="#57606a", fillcolor="#eef0f3", penwidth="1.5"'
OPEN = 'class="scope", style="rounded,filled", color="#d0d7de", fillcolor="#8c959f14", margin="9"'
FLOW = 'class="flow"'
CARRIED = 'class="carried", style="dashed", color="#b5420e", fontcolor="#b5420e", weight="0"'

SECOND = '<br/><font point-size="9" color="#57606a">'
END = "</font>>"
"""The markup in front of a label's second line and after it."""

CONSTANTS = {
    "nameSize": NAME, "chipSize": CHIP, "chipBeyond": CHIP_BEYOND, "routed": ROUTED,
    "patient": PATIENT, "head": HEAD,
    "large": LARGE, "kinds": KINDS, "closed": CLOSED, "open": OPEN, "flow": FLOW,
    "carried": CARRIED, "end": END,
}  # fmt: skip
"""The constants with which the browser assembles pictures."""


@dataclass(frozen=True)
class BoxText:
    """The texts on a box: two lines, and `short` alone where these would be too small to read.
    `dot` are the attributes of the box that do not follow from its kind; there the second line has
    the chips too, which views draw on the box's edge.
    """

    first: str
    second: str
    short: str
    dot: str


@dataclass(frozen=True)
class ScopeText:
    """The text of a scope. `closed` begins the attributes of its box, up to the number of
    statements; `open` are those attributes of its ground that not every scope has.
    """

    title: str
    closed: str
    open: str


def box_text(
    title: str,
    second: str,
    short: str,
    loops: Sequence[str],
    is_output: bool,
    kept: Sequence[str] = (),
) -> BoxText:
    """Return the texts of a statement's box; that of an output has a double line. The box has room
    for the marks of its `loops`, and for those of what is `kept` of its array where they are short.
    """
    chips = (*loops, *_folded(kept))
    line = f"{second} · {' '.join(chips)}" if chips else second
    first, second, short = shortened(title, 44), shortened(second, 54), shortened(short)
    double = ', peripheries="2"' if is_output else ""
    label = f"<{_markup(first)}{SECOND}{_markup(shortened(line, 54))}{END}"
    width = decimal(max(_hundredths(short), _chips_hundredths(chips)))
    return BoxText(first, second, short, f'width="{width}"{double}, label={label}')


def scope_texts(paths: Iterable[Scope]) -> dict[str, ScopeText]:
    """Return the texts of every scope around the paths, by its name."""
    names = dict.fromkeys(name for path in paths for name in path)
    return {name: _scope_text(name) for name in names}


def _scope_text(name: str) -> ScopeText:
    title = shortened(f"▸ {name}")
    closed = f'width="{decimal(_hundredths(title))}", label=<{_markup(title)}{SECOND}'
    name = json.dumps(" ".join(shortened(name).split()), ensure_ascii=False)
    return ScopeText(title, closed, f"label={name}")


def shortened(text: str, length: int = 34) -> str:
    """Return the text, its middle left out where it is longer than `length`."""
    if len(text) <= length:
        return text
    tail = length // 2 - 1
    return f"{text[: length - tail - 1]}…{text[len(text) - tail :]}"


def decimal(hundredths: int) -> str:
    """Return a number with two digits behind its point."""
    return f"{hundredths // 100}.{hundredths % 100:02d}"


def _hundredths(name: str) -> int:
    """Return the width of a name in hundredths of an inch: its characters 0.6 em wide, 8 points on
    both sides.
    """
    return (60 * NAME * len(name) + 1600) // 72


def _chips_hundredths(chips: Sequence[str]) -> int:
    """Return that of chips in a row, beyond what may stand out of the box on both sides: 0.4 em on
    both sides of each, 0.35 between two.
    """
    row = sum(CHIP * (60 * len(chip) + 115) for chip in chips) - 35 * CHIP
    return max(0, row - 200 * CHIP_BEYOND) // 72


def _folded(kept: Sequence[str]) -> Sequence[str]:
    """Return one short mark as it is; of several, or of a long one, their number."""
    return kept if sum(map(len, kept)) <= KEPT else (f"+{len(kept)}",)


def _markup(text: str) -> str:
    for plain, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(plain, escaped)
    return " ".join(text.split()) or " "
