"""A comparison as text of at most 80 columns, and as HTML: pure functions of its records."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from string import ascii_uppercase
from typing import Any

from workbench.measure.rounds.measurement import Measurement
from workbench.program.sizes import numbers
from workbench.program.text.units import (
    bytes_text,
    digits,
    on_threads,
    ratios_text,
    seconds_text,
    seconds_unit,
)

WIDTH = 80

TableRow = Mapping[str, Any]


def table(
    records: Sequence[TableRow], measurements: Sequence[Measurement], advice: str = ""
) -> str:
    """Return the variants as lettered rows, predictions below measurements. Below stand the meaning
    of the letters, the reasons for missing times and checks, and at the end the advice.
    """
    letters = [letter(k) for k in range(len(records))]
    titles, cells = columns(records)
    rows = [["", *titles]]
    for a, row, record in zip(letters, cells, records, strict=True):
        rows.append([a, *row])
        if not math.isnan(record["predicted_ms"]):
            said = {"time (95 %)": _predicted(record), "peak": _predicted_peak(record)}
            rows.append(["", *(said.get(title, "") for title in titles)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [head(measurements[0]), ""]
    for row in rows:
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        lines.append(line.rstrip())
    lines.append("")
    for a, record in zip(letters, records, strict=True):
        lines += wrapped(f"{a}  ", record["variant"])
        lines += [line for text in remarks(record) for line in wrapped("   ", text)]
    lines += ["", *wrapped("", advice)] if advice else []
    return "\n".join(lines)


def html(records: Sequence[TableRow], measurements: Sequence[Measurement], advice: str = "") -> str:
    """Return the same as an HTML table; remarks stand below the variant's name. Numbers keep to
    their lines, an interval below its number; a long name is broken, and a table that is too wide
    scrolls.
    """
    titles, cells = columns(records)
    if any(not math.isnan(r["predicted_ms"]) for r in records):
        titles = [*titles, "predicted"]
        cells = [[*row, _both(record)] for row, record in zip(cells, records, strict=True)]
    heads = "".join(f"<th{_NUMBER}>{escape(title)}</th>" for title in titles)
    rows = []
    for record, row in zip(records, cells, strict=True):
        below = "".join(f"<br><small>{escape(text)}</small>" for text in remarks(record))
        first = f"<td{_NAME}>{escape(record['variant'])}{below}</td>"
        rows.append(
            f"<tr>{first}{''.join(f'<td{_NUMBER}>{_lines(text)}</td>' for text in row)}</tr>"
        )
    caption = f'<caption style="text-align: left">{escape(head(measurements[0]))}</caption>'
    top = f"<thead><tr><th{_NAME}>variant</th>{heads}</tr></thead>"
    made = f"<table>{caption}{top}<tbody>{''.join(rows)}</tbody></table>"
    said = f"<p>{escape(advice)}</p>" if advice else ""
    return f'<div style="overflow-x: auto">{made}</div>{said}'


_NAME = (
    ' style="min-width: 9em; max-width: 18em; overflow-wrap: anywhere; text-align: left; '
    'vertical-align: top"'
)
_NUMBER = ' style="white-space: nowrap; vertical-align: top"'


def _lines(text: str) -> str:
    """Return a number with what stands behind it, an interval or a peak, on a line of its own."""
    first, bracket, rest = text.partition(" (")
    if bracket:
        return f"{escape(first)}<br><small>({escape(rest)}</small>"
    first, comma, rest = text.partition(", ")
    return escape(first) + (f"<br>{escape(rest)}" if comma else "")


def letter(position: int) -> str:
    """Return A, B, … Z, A1, B1, …"""
    turn, place = divmod(position, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(turn) if turn else "")


def head(measurement: Measurement) -> str:
    """Return program, sizes and device, which all rows share."""
    m = measurement
    where = on_threads(m.backend, m.threads)
    text = f"{m.program} on {where}: {numbers(m.sizes)}, seed {m.seed}, {m.dtype}"
    return "\n".join(textwrap.wrap(f"{text}; {m.device}", WIDTH))


def columns(records: Sequence[TableRow]) -> tuple[list[str], list[list[str]]]:
    """Return titles and, for each record, the texts below them; empty columns are left out."""
    wanted = {
        "time (95 %)": [_time(r) for r in records],
        "against the first": [_ratio(r) for r in records],
        "peak": [_bytes(r["peak_device_bytes"]) for r in records],
        "host": [_bytes(r["peak_host_bytes"]) for r in records],
        "compiler": [_compiler(r) for r in records],
        "checked": [_checked(r) for r in records],
    }
    kept = {title: texts for title, texts in wanted.items() if any(texts)}
    return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]


def remarks(record: TableRow) -> list[str]:
    """Return the reasons for missing times, rounds or check, and the file it was recorded in."""
    texts = [record["not_measured"]] if record["not_measured"] else []
    if 0 < record["runs"] < record["planned_runs"]:
        texts.append(f"{record['runs']} of {record['planned_runs']} rounds")
    texts += [record["checked"]] if record["checked"] != "yes" else []
    return texts + ([f"recorded in {record['recorded']}"] if record["recorded"] else [])


def wrapped(start: str, text: str) -> list[str]:
    """Return lines of at most 80 columns, the first after `start`."""
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start)) or [
        start.rstrip()
    ]


def _time(record: TableRow) -> str:
    """Return median and interval in one unit: `12.3 ms (12.1–12.9)`; `12.3 ms, 1 run` of one."""
    if math.isnan(record["median_ms"]):
        return ""
    median, low, high = (record[each] / 1e3 for each in ("median_ms", "low_ms", "high_ms"))
    if math.isnan(low):
        return f"{seconds_text(median)}, 1 run"
    _, size = seconds_unit(median)
    return f"{seconds_text(median)} ({digits(low / size)}–{digits(high / size)})"


def _ratio(record: TableRow) -> str:
    """Return the ratio with its interval: `÷ 3.4 (3.1–3.6)`."""
    low, high = record["ratio_low"], record["ratio_high"]
    if not record["difference"] or math.isnan(low) or low <= 1.0 <= high:
        return str(record["difference"])
    return f"{record['difference']} ({ratios_text(low, high)})"


def _compiler(record: TableRow) -> str:
    """Return the seconds of a C compiler, where there is one: none if it had compiled this."""
    if math.isnan(record["compiler_s"]):
        return ""
    return seconds_text(record["compiler_s"]) if record["compiler_s"] else "before"


def _predicted(record: TableRow) -> str:
    return f"predicted {seconds_text(record['predicted_ms'] / 1e3)}"


def _predicted_peak(record: TableRow) -> str:
    return _bytes(record["predicted_peak_device_bytes"])


def _both(record: TableRow) -> str:
    if math.isnan(record["predicted_ms"]):
        return ""
    return f"{seconds_text(record['predicted_ms'] / 1e3)}, {_predicted_peak(record)}"


def _bytes(count: int | None) -> str:
    return bytes_text(count) if count else ""


def _checked(record: TableRow) -> str:
    return str(record["checked"]).split(":")[0]
