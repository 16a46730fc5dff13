"""A report as an HTML page, without scripts: nothing in it can run, and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby

from workbench.session.protocol.capsule import release
from workbench.session.protocol.shareable import without_folders
from workbench.session.report.facts import Facts, Side, Taken
from workbench.session.report.pictures import picture
from workbench.session.report.style import STYLE
from workbench.session.report.tables import Headline, Row, headline, rows, where_text

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page's content security policy: its own style sheet, and nothing else."""

HOW = """\
measured = wb.compare([before, after])
wb.report(after, "report.html", before=before, measured=measured)"""
"""The way to measure what was not, in Python."""


def document(told: Facts) -> str:
    """Return the page. No text in it is markup, and no path in it is absolute."""
    head = headline(told)
    name = told.after.variant.root.program.name
    body = "\n".join(filter(None, _body(told, head)))
    title = escape(without_folders(f"{name}: {head.text}"))
    return _PAGE.format(policy=_POLICY, title=title, style=STYLE, body=body)


def file_name(told: Facts) -> str:
    """Return a name for the page's file, safe in every file system: `ppo-3f2a9c01-report.html`."""
    variant = told.after.variant
    name = re.sub(r"[^\w-]", "-", variant.root.program.name).strip("-")[:60] or "workbench"
    return f"{name}-{variant.key[:8]}-report.html"


def _body(told: Facts, head: Headline) -> Iterator[str]:
    yield from _header(told, head)
    yield _notes(told.notes)
    yield _numbers(told)
    yield _unmeasured(told)
    yield _checks(told)
    yield _recipe(told)
    yield _graphs(told)
    yield _orders(told)
    yield _footer(told)


def _header(told: Facts, head: Headline) -> Iterator[str]:
    program = told.after.variant.root.program
    yield "<header>"
    both = f"{told.after.name}, beside {told.before.name}"
    yield f"<h1>{_text(program.name)}: {_text(both)}</h1>"
    yield f'<p class="headline {head.kind}">{_text(head.text)}</p>'
    yield f"<p>{_prose(head.basis)}</p>"
    yield f'<p class="faint">{_text(where_text(told))}</p>'
    if program.description:
        yield f'<p class="faint">{_prose(program.description)}</p>'
    yield "</header>"


def _notes(notes: str) -> str:
    if not notes:
        return ""
    paragraphs = "".join(f"<p>{_text(one)}</p>" for one in re.split(r"\n\s*\n", notes))
    return f'<section class="notes" aria-label="Notes by the author">{paragraphs}</section>'


def _numbers(told: Facts) -> str:
    found = list(rows(told))
    if not found:
        return ""
    heads = (told.before.name, told.after.name)
    head = "".join(f'<th scope="col">{_text(one)}</th>' for one in ("", *heads, ""))
    body = "".join(map(_row, found))
    return f"<h2>Before and after</h2><table><thead><tr>{head}</tr></thead>{body}</table>"


def _row(row: Row) -> str:
    most = max(filter(None, row.amounts), default=0.0)
    cells = "".join(
        f'<td class="number">{_text(text)}{_bar(amount, most, side)}</td>'
        for text, amount, side in zip(
            (row.before, row.after), row.amounts, ("before", "after"), strict=True
        )
    )
    name = f'{_text(row.quantity)}<span class="by">{row.by}</span>'
    last = f'<td class="difference">{_text(row.difference)}</td>'
    return f'<tr class="{row.by}"><td>{name}</td>{cells}{last}</tr>'


def _bar(amount: float | None, most: float, side: str) -> str:
    """Draw a quantity beside the larger of the two; a small one is a line."""
    if amount is None or not most:
        return ""
    share = max(0.4, 100 * amount / most)
    return (
        f'<svg class="bar {side}" viewBox="0 0 100 6" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect width="{share:.2f}" height="6"/></svg>'
    )


def _unmeasured(told: Facts) -> str:
    """Say what was not measured, and how it is."""
    sides = (told.before, told.after)
    missing = [s.name for s in sides if s.measured is None or not s.measured.samples]
    if not missing:
        return ""
    which = "Nothing was measured" if len(missing) == 2 else f"{missing[0]} was not measured"
    return (
        f'<div class="told"><p><b>{_text(which)}.</b> What is predicted of it is labelled so. '
        "<em>Measure</em> in the workbench runs both in turn and checks them, and so does this, "
        f"which then writes the report:</p><pre>{_text(HOW)}</pre></div>"
    )


def _checks(told: Facts) -> str:
    measured = [s for s in (told.after, told.before) if s.measured is not None]
    if not measured:
        said = (
            "Not checked by a run: that belongs to measuring. Each step was checked against all "
            "dependences of the program when it was taken."
        )
        return f"<h2>Check</h2><p>{said}</p>"
    return "<h2>Check</h2>" + "".join(map(_check, measured))


def _check(side: Side) -> str:
    measured = side.measured
    assert measured is not None
    mark, verdict = {
        "passed": ("good", "✓ computes what the program says"),
        "failed": ("bad", "✗ does not compute what the program says"),
    }.get(measured.outcome, ("faint", "not checked"))
    return (
        f'<p>{_text(side.name)}: <span class="{mark}">{verdict}</span></p>'
        f"<pre>{_text(measured.check_report)}</pre>"
    )


def _recipe(told: Facts) -> str:
    count = len(told.steps)
    title = f"<h2>Recipe: {count} step{'' if count == 1 else 's'}</h2>"
    left = ""
    if told.left:
        listed = ", ".join(f"<code>{_text(step)}</code>" for step in told.left)
        left = f"<p>{_text(told.before.name)} has these instead: {listed}.</p>"
    number, parts = 1, []
    for (kind, summary), group in groupby(told.steps, lambda one: (one.kind, one.summary)):
        steps = list(group)
        parts.append(f'<p class="kind"><b>{_text(kind)}.</b> {_prose(summary)}</p>')
        parts.append(f'<ol start="{number}">{"".join(map(_step, steps))}</ol>')
        number += len(steps)
    return title + left + "".join(parts) + f"<h3>The same in Python</h3><pre>{_python(told)}</pre>"


def _python(told: Facts) -> str:
    """Return the source of the program, where it is known, and of the steps."""
    variant = told.after.variant
    program = variant.root.program.equations.written
    return _text("\n".join(filter(None, (program, variant.recipe()))).rstrip())


def _step(taken: Taken) -> str:
    reason = f"<p>{_prose(taken.reason)}</p>" if taken.reason else ""
    notes = "".join(f'<p class="faint">{_prose(line)}</p>' for line in taken.notes)
    return f"<li><code>{_text(taken.text)}</code>{reason}{notes}</li>"


def _graphs(told: Facts) -> str:
    sides = (told.before, told.after)
    first, second = (side.picture for side in sides)
    drawn = picture(first, second), picture(second, first)
    if None in drawn:
        why = (
            "Graphviz' program <code>dot</code> draws the graphs of reports, and it is not "
            "installed here or failed: the equations stand in their place."
        )
        figures = "".join(_figure(s, f"<pre>{_text(s.picture.equations)}</pre>") for s in sides)
        return f'<h2>Equations</h2><p>{why}</p><div class="sides">{figures}</div>'
    figures = "".join(_figure(s, one or "") for s, one in zip(sides, drawn, strict=True))
    legend = (
        '<p class="faint"><span class="mark"></span> differs from the other; dashed: carried by a '
        "loop.</p>"
    )
    return f'<h2>Dependence graph</h2>{legend}<div class="sides">{figures}</div>'


def _figure(side: Side, inside: str) -> str:
    caption = f"<b>{_text(side.name)}</b>, {len(side.picture.nodes)} statements"
    return f"<figure><figcaption>{caption}</figcaption>{inside}</figure>"


def _orders(told: Facts) -> str:
    if told.before.order == told.after.order:
        return ""
    both = "".join(
        _figure(s, f"<pre>{_text(s.order.rstrip())}</pre>") for s in (told.before, told.after)
    )
    return f'<h2>Order</h2><div class="sides">{both}</div>'


def _footer(told: Facts) -> str:
    keys = f"{told.before.variant.key[:12]} and {told.after.variant.key[:12]}"
    return f"<footer>Written by workbench {_text(release())}, of the variants {keys}.</footer>"


def _prose(text: str) -> str:
    """Return a sentence of ours as HTML, with what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(text))


def _text(text: str) -> str:
    """Return a text as HTML, without anybody's folders."""
    return escape(without_folders(text))
