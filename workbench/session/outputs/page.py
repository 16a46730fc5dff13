"""A workbench as a file: an HTML page that draws it without server or network, or the text of a
state file. Knows the capsule and the built views; knows neither programs nor Jupyter.
"""

from __future__ import annotations

import base64
import gzip
from functools import lru_cache
from html import escape
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.session.protocol.capsule import Capsule, packed, to_json

VIEWS = Path(__file__).parents[1] / "static" / "graph.js"
"""The built views: one ES module that needs nothing else."""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>html, body {{ height: 100%; margin: 0; }}</style>
</head>
<body>
<main id="workbench" style="height: 100%"></main>
<noscript>This page draws a program of the workbench with JavaScript.</noscript>
<script type="application/json" id="capsule">{capsule}</script>
<script type="text/plain" id="views">{views}</script>
<script type="module">
const text = (id) => document.getElementById(id).textContent;
const bytes = Uint8Array.from(atob(text("views")), (character) => character.charCodeAt(0));
const program = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const source = await new Response(program).text();
const views = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
views.renderPage(document.getElementById("workbench"), JSON.parse(text("capsule")));
</script>
</body>
</html>
"""

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
"""The page's content security policy: nothing is fetched, and no text is run as a program. Graphviz
is WebAssembly."""


def page(capsule: Capsule) -> str:
    """Return an HTML page that holds the views and the capsule.

    Nothing in the capsule is read as markup: JSON is written without `<`, the title is escaped, and
    the views are base64, compressed with gzip.
    """
    return _PAGE.format(
        policy=_POLICY,
        title=escape(f"{capsule.state.name} – workbench"),
        capsule=to_json(packed(capsule)).replace("<", "\\u003c"),
        views=views(),
    )


def state_file(capsule: Capsule) -> str:
    """Return the text of a state file, which a workbench can load: the capsule as JSON, one
    line.
    """
    return f"{to_json(capsule)}\n"


def file_name(capsule: Capsule, suffix: str) -> str:
    """Return a name for a file of the capsule, safe in every file system: `ppo-3f2a9c01.html`."""
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in capsule.state.name)
    return f"{name.strip('-')[:60] or 'workbench'}-{capsule.state.current[:8]}.{suffix}"


def write(path: str | Path, text: str) -> None:
    """Write a file. Raises WorkbenchError where that is not possible."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be written: {error.strerror}") from None


@lru_cache(maxsize=1)
def views() -> str:
    """Return the built views as text: compressed with gzip, in base64."""
    return base64.b64encode(gzip.compress(VIEWS.read_bytes(), mtime=0)).decode()
