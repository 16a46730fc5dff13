"""Rows of a profile as a matplotlib figure (without pyplot and so without global state)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.figures import empty_figure
from workbench.measure.profiles.table import LONGEST, MOST_ROWS, Row
from workbench.program.text.units import seconds_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bars(rows: Sequence[Row], title: str, scopes: Mapping[str, str]) -> Figure:
    """Draw a horizontal bar for each of the longest rows, the longest on top; those of one scope
    have one colour, which is pale where a length is uncertain. `scopes` are those of the rows that
    have one.
    """
    shown = rows[:MOST_ROWS]
    unit, size = seconds_unit(max((row.seconds for row in shown), default=1.0))
    figure = empty_figure(8.0, 1.2 + 0.28 * len(shown))
    axes = figure.subplots()
    colours = {
        scope: f"C{k}"
        for k, scope in enumerate(dict.fromkeys(scopes.get(r.name, "") for r in shown))
    }
    for place, row in enumerate(shown):
        scope = scopes.get(row.name, "")
        pale = 0.5 if row.uncertain else 1.0
        bar = axes.barh(place, row.seconds / size, color=colours[scope], alpha=pale)
        axes.bar_label(bar, [f" {row.share_text}"])
    axes.set_yticks(range(len(shown)), [row.name[:LONGEST] for row in shown])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel(f"time ({unit})")
    axes.set_title(title, fontsize="medium")
    named = {scope: colour for scope, colour in colours.items() if scope}
    if len(named) > 1:
        from matplotlib.patches import Patch

        axes.legend(handles=[Patch(color=colour, label=name) for name, colour in named.items()])
    return figure
