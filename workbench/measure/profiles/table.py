"""Rows of a profile as aligned text, and as HTML: pure functions of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from workbench.program.text.units import amount, percent, seconds_text

MOST_ROWS = 20
"""The rows that are shown; what is left has one row together."""
LONGEST = 48
"""The most characters of a name."""

APPROXIMATE, UNCERTAIN = "≈", "?"


@dataclass(frozen=True)
class Row:
    """A row of a profile. `share` is of the run's seconds; `flops_share` and `bytes_share` are of
    the machine's peaks, NaN where those are not known: `bytes_peak` is the most bytes in a second
    of memory as near as the row's. `approximate` ones hold seconds that were shared out by counted
    work; those of `uncertain` ones are of a kernel whose two builds do not agree, and have no share
    of a peak.
    """

    name: str
    seconds: float
    share: float
    calls: int
    flops: float
    bytes: float
    flops_share: float
    bytes_share: float
    bytes_peak: float
    approximate: bool
    uncertain: bool

    @property
    def share_text(self) -> str:
        """The share of the run's seconds, with what is not exact about it."""
        return f"{self._before}{percent(self.share)}{self._behind}"

    @property
    def seconds_text(self) -> str:
        """The seconds, with what is not exact about them."""
        return f"{self._before}{seconds_text(self.seconds)}{self._behind}"

    @property
    def _before(self) -> str:
        return APPROXIMATE if self.approximate else ""

    @property
    def _behind(self) -> str:
        return UNCERTAIN if self.uncertain else ""


def text(rows: Sequence[Row], what: str, most: int = MOST_ROWS) -> str:
    """Return the longest rows, one line each, below their titles."""
    titles, cells = columns(rows[:most], what)
    widths = [max(len(row[k]) for row in [titles, *cells]) for k in range(len(titles))]
    lines = []
    for row in [titles, *cells]:
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        name = row[0].ljust(len(first))
        lines.append("  ".join([name, *others]).rstrip())
    return "\n".join([*lines, *_left_out(rows[most:])])


def html(rows: Sequence[Row], what: str, caption: str) -> str:
    """Return the same as an HTML table, whose cells keep to their lines."""
    titles, cells = columns(rows[:MOST_ROWS], what)
    heads = "".join(f"<th {_WHOLE}>{escape(title)}</th>" for title in titles)
    left = 'style="text-align:left;white-space:nowrap"'
    lines = [
        f"<tr><td {left}>{escape(row[0])}</td>"
        + "".join(f"<td {_WHOLE}>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in cells
    ]
    below = "".join(f"<p>{escape(line)}</p>" for line in _left_out(rows[MOST_ROWS:]))
    said = escape(caption).replace("\n", "<br>")
    left_lines = 'style="text-align:left;white-space:normal"'
    table = f"<table {_WHOLE}><caption {left_lines}>{said}</caption><thead><tr>{heads}</tr></thead>"
    return f"{table}<tbody>{''.join(lines)}</tbody></table>{below}"


_WHOLE = 'style="white-space:nowrap"'
"""Of cells too: JupyterLab has a style of its own for these."""


def columns(rows: Sequence[Row], what: str) -> tuple[list[str], list[list[str]]]:
    """Return titles and the texts of rows; columns without a text are left out."""
    titles = [what, "seconds", "share", "calls", "FLOP", "of peak", "bytes", "of peak"]
    cells = [_cells(row) for row in rows]
    kept = [k for k in range(len(titles)) if any(row[k] for row in cells)]
    return [titles[k] for k in kept], [[row[k] for k in kept] for row in cells]


def _cells(row: Row) -> list[str]:
    name = row.name if len(row.name) <= LONGEST else f"{row.name[: LONGEST - 1]}…"
    return [
        name,
        row.seconds_text,
        percent(row.share),
        amount(row.calls, "").strip(),
        amount(row.flops, "").strip() if row.flops else "",
        _share(row.flops_share),
        amount(row.bytes, "B") if row.bytes else "",
        _share(row.bytes_share),
    ]


def _share(share: float) -> str:
    return percent(share) if share and not math.isnan(share) else ""


def _left_out(rows: Sequence[Row]) -> list[str]:
    """Return a line about rows that are not shown."""
    if not rows:
        return []
    seconds, share = (sum(getattr(r, each) for r in rows) for each in ("seconds", "share"))
    return [f"and {len(rows)} more: {seconds_text(seconds)}, {percent(share)}"]
