"""The content of a cell's output: the data that views draw, and a picture for other front ends.

The JupyterLab extension of this package draws the capsule with or without a Jupyter kernel, in
trusted and in untrusted notebooks. Needs no Jupyter package.
"""

from __future__ import annotations

import base64
from html import escape
from typing import Any

from workbench.errors import TooComplexError
from workbench.polyhedral.sets.as_text import limited
from workbench.program.values import Program
from workbench.session.picture.dot import static_svg
from workbench.session.picture.snapshot import Snapshot, snapshot
from workbench.session.protocol.capsule import Capsule, SavedPart, capsule, packed, plain
from workbench.session.protocol.state_views import still
from workbench.variants.variant import Variant

MIME = "application/vnd.workbench.capsule+json"


def mimebundle(shown: Program | Variant) -> dict[str, Any]:
    """Return a program as a cell's output: capsule, static picture and equations, best first. A
    program too large to draw gives the reason instead.
    """
    variant = shown if isinstance(shown, Variant) else Variant(shown)
    try:
        picture = drawn(variant.program)
    except TooComplexError as error:
        return {"text/plain": error.message}
    part = SavedPart("snapshot", variant.key, {}, picture)
    return bundle(capsule(still(variant), (part,)), picture)


def drawn(program: Program) -> Snapshot:
    """Draw a program in the process of the cells, where nothing can interrupt isl. Raises
    TooComplexError.
    """
    with limited(f"drawing {program.name}"):
        return snapshot(program)


def bundle(kept: Capsule, picture: Snapshot) -> dict[str, Any]:
    """Return a capsule as a MIME bundle, with a picture of one of its variants.

    Without Graphviz' `dot` program the equations replace the static picture.
    """
    svg = static_svg(picture)
    text = f"<pre>{escape(picture.equations)}</pre>"
    return {
        MIME: plain(packed(kept)),
        "text/plain": picture.equations,
        "text/html": text if svg is None else _image(picture, svg),
    }


def _image(shown: Snapshot, svg: str) -> str:
    """Return the picture as HTML that survives sanitizing: an image, so nothing in it is markup."""
    encoded = base64.b64encode(svg.encode()).decode()
    title = escape(f"Dependence graph of {shown.name}, {len(shown.nodes)} statements")
    return (
        f'<img alt="{title}" title="{title}" src="data:image/svg+xml;base64,{encoded}" '
        'style="max-width: 100%">'
    )
