"""Shows programs in Jupyter, as a MIME bundle and as a widget; no other file imports Jupyter.

The bundle carries the snapshot itself. The JupyterLab extension that comes with this package draws
it with or without a Jupyter kernel, in trusted and in untrusted notebooks; front ends without the
extension show the static picture. `view` gives the same views as an anywidget, for front ends that
run widgets but not our extension.
"""

from __future__ import annotations

import base64
import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from workbench.program.values import Program
from workbench.session.dot import static_svg
from workbench.session.snapshot import Snapshot, snapshot, to_json

MIME = "application/vnd.workbench.snapshot+json"
STATIC = Path(__file__).parent / "static"


def mimebundle(program: Program) -> dict[str, Any]:
    """What a program is in a cell's output: snapshot, static picture and equations, best first.

    Needs no Jupyter package. Without Graphviz' `dot` program the static picture is left out and the
    equations stand in its place.
    """
    shown = snapshot(program)
    svg = static_svg(shown)
    bundle: dict[str, Any] = {MIME: json.loads(to_json(shown)), "text/plain": shown.equations}
    if svg is None:
        bundle["text/html"] = f"<pre>{escape(shown.equations)}</pre>"
    else:
        bundle["text/html"] = _image(shown, svg)
    return bundle


def view(program: Program) -> Any:
    """A live widget of the program, an `anywidget.AnyWidget`; it draws its trait `snapshot`."""
    return _widget_class()(snapshot=to_json(snapshot(program)))


def _image(shown: Snapshot, svg: str) -> str:
    """The picture as HTML that survives sanitizing: an image, so nothing in it is markup."""
    encoded = base64.b64encode(svg.encode()).decode()
    title = escape(f"Dependence graph of {shown.name}, {len(shown.nodes)} statements")
    return (
        f'<img alt="{title}" title="{title}" src="data:image/svg+xml;base64,{encoded}" '
        'style="max-width: 100%">'
    )


@lru_cache(maxsize=1)
def _widget_class() -> Any:
    import anywidget
    import traitlets

    class ProgramView(anywidget.AnyWidget):
        """The views over one snapshot; assign `snapshot` to show another."""

        _esm = STATIC / "graph.js"
        snapshot = traitlets.Unicode("").tag(sync=True)

    return ProgramView
