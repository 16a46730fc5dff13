"""Shows programs in Jupyter, as a MIME bundle and as a widget; no other file imports Jupyter.

The bundle carries all that views draw, a capsule. The JupyterLab extension that comes with this
package draws it with or without a Jupyter kernel, in trusted and in untrusted notebooks; front ends
without the extension show the static picture. `view` gives the same views as an anywidget, for
front ends that run widgets but not our extension.
"""

from __future__ import annotations

import base64
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from workbench.program.values import Program
from workbench.session.capsule import SavedPart, capsule, plain
from workbench.session.describe import still
from workbench.session.dot import static_svg
from workbench.session.snapshot import Snapshot, snapshot, to_json
from workbench.variants.variant import Variant

MIME = "application/vnd.workbench.capsule+json"
STATIC = Path(__file__).parent / "static"


def mimebundle(shown: Program | Variant) -> dict[str, Any]:
    """What a program is in a cell's output: capsule, static picture and equations, best first.

    Needs no Jupyter package. Without Graphviz' `dot` program the static picture is left out and the
    equations stand in its place.
    """
    variant = shown if isinstance(shown, Variant) else Variant(shown)
    picture = snapshot(variant.program)
    kept = capsule(still(variant), (SavedPart("snapshot", variant.key, {}, picture),))
    svg = static_svg(picture)
    return {
        MIME: plain(kept),
        "text/plain": picture.equations,
        "text/html": f"<pre>{escape(picture.equations)}</pre>"
        if svg is None
        else _image(picture, svg),
    }


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
