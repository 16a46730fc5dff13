"""The memory of a variant as a matplotlib figure (without pyplot and so without global state)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from workbench.figures import empty_figure
from workbench.program.text.units import bytes_unit
from workbench.variants.held import Course, Held, HeldPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANDS = 8
"""The arrays that have a band of their own."""
LONGEST = 40
"""The characters of a name that a legend has room for."""
LINES = ("-", "--", ":", "-.")
"""The styles of lines over the bands: their colours are those of no band."""
OTHERS = "0.75"
"""The grey of the band of all other arrays."""


def bands(
    buffers: Sequence[Held], course: Course, beside: Mapping[str, Course], title: str
) -> Figure:
    """Draw the bytes of a space as stacked bands over the share of the schedule's text, and the
    totals of other courses as lines.
    """
    figure = empty_figure(8.0, 3.2)
    axes = figure.subplots()
    unit, size = bytes_unit(max(each.peak_bytes for each in (course, *beside.values())))
    _stack(axes, buffers, course, size)
    for (name, other), style in zip(beside.items(), cycle(LINES)):
        places, points = _steps(other)
        heights = [point.bytes / size for point in points]
        axes.step(places, heights, where="post", label=name, color="black", linestyle=style)
    axes.set(xlim=(0, 1), xlabel="schedule, first to last operation (one iteration for each loop)")
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"held on {course.space} ({unit})")
    axes.set_title(title, fontsize="medium")
    if course.points or beside:
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _stack(axes: Axes, buffers: Sequence[Held], course: Course, size: float) -> None:
    """Draw a band for each of the largest and, on top, one for all others, in units of so many
    bytes.
    """
    places, points = _steps(course)
    if not points:
        return
    own = largest(buffers, course)
    heights = [[buffers[n].bytes * (n in p.live) / size for p in points] for n in own]
    names = [short(buffers[n].name) for n in own]
    left = len({n for point in points for n in point.live}) - len(own)
    if left:
        sums = map(sum, zip(*heights, strict=True))
        heights.append([p.bytes / size - drawn for p, drawn in zip(points, sums, strict=True)])
        names.append(f"{left} smaller")
    colours = [*(f"C{k % 10}" for k in range(len(own))), OTHERS]
    axes.stackplot(places, *heights, labels=names, colors=colours, step="post", linewidth=0)


def largest(buffers: Sequence[Held], course: Course) -> list[int]:
    """Return what has a band of its own, as positions: the largest, largest first; of equal ones
    first what is held at the peak.
    """
    high = course.live_at_peak
    there = [n for n, one in enumerate(buffers) if one.space == course.space]
    return sorted(there, key=lambda n: (-buffers[n].bytes, n not in high))[:BANDS]


def short(name: str) -> str:
    """Return a name that a legend has room for: the end of a long one, which tells more."""
    return name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}"


def _steps(course: Course) -> tuple[list[float], Sequence[HeldPoint]]:
    """Return the points of a course, and the share of the schedule's text in front of each. The
    last one stands there twice: it lasts to the end.
    """
    points = course.points
    if not points:
        return [], ()
    return [*((point.line - 1) / course.lines for point in points), 1.0], (*points, points[-1])
