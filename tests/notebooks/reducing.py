"""What is stored of a notebook that was run: what a code host shows of it, in a form that a second
run gives again.

A code host runs no script, knows no widget and cleans HTML. Stored are texts, tables, PNG pictures
and of a workbench the static picture of its graph, without counts, times and what else a run leaves
behind. Cells with the tag `machine` show what another machine shows differently: seconds, numbers
that follow from these. Their outputs end with the machine and the date.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any

from tests.notebooks.pictures import digest, drawn, shown_by, small
from workbench.session.outputs.mime_bundle import MIME

MACHINE = "machine"
"""The tag of cells whose outputs are of one machine."""
OURS = "workbench"
"""The key of our metadata, in a notebook and in an output."""
KEPT = ("image/png", "text/html", "text/latex", "text/markdown", "text/plain")
"""Types of what a code host shows of an output."""
WIDGET = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

LARGEST = 300_000
"""The most bytes of a stored notebook: code hosts show no large ones, a repository keeps each."""

Json = dict[str, Any]


def reduced(notebook: Mapping[str, Any], where: str) -> Json:
    """Return a notebook as it is stored. It was run on the machine, and at the date, that `where`
    names.
    """
    return {
        "cells": [_cell(cell, where) for cell in notebook["cells"]],
        "metadata": {
            "kernelspec": KERNEL,
            "language_info": {"name": "python"},
            OURS: {"cells": cells_digest(notebook)},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def cells_digest(notebook: Mapping[str, Any]) -> str:
    """Return a hash of the notebook's code, which text between the cells leaves as it is."""
    sources = ("".join(cell["source"]) for cell in code_cells(notebook))
    return hashlib.sha256("\0".join(sources).encode()).hexdigest()[:16]


def code_cells(notebook: Mapping[str, Any]) -> list[Json]:
    """Return the cells that can be run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def of_machine(cell: Mapping[str, Any]) -> bool:
    """Tell whether what a cell shows is another machine's otherwise."""
    return MACHINE in cell["metadata"].get("tags", ())


def differences(stored: Mapping[str, Any], fresh: Mapping[str, Any]) -> Iterator[str]:
    """Yield, for each cell that does not show any more what is stored of it, the difference. What
    one machine showed is not compared, and of plots only that they are there.
    """
    for old, new in zip(code_cells(stored), code_cells(fresh), strict=True):
        if not of_machine(new):
            lines = unified_diff(_lines(old), _lines(new), "stored", "now", lineterm="")
            text = "\n".join(lines)
            if text:
                yield f"cell {new['id']}:\n{text}"


def overwritten(text: str) -> str:
    """Return what a terminal shows of a text in which lines were begun anew by carriage returns."""
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return "\n".join(lines)


def _cell(cell: Mapping[str, Any], where: str) -> Json:
    tags = cell["metadata"].get("tags")
    kept = {name: cell[name] for name in ("cell_type", "id", "source")}
    kept["metadata"] = {"tags": sorted(tags)} if tags else {}
    if cell["cell_type"] == "code":
        outputs = list(_outputs(cell["outputs"]))
        if outputs and of_machine(cell):
            outputs.append(_output("display_data", {"text/plain": where}))
        kept |= {"execution_count": None, "outputs": outputs}
    return kept


def _outputs(given: list[Json]) -> Iterator[Json]:
    """Yield what is stored of a cell's outputs. One text was written in many pieces."""
    texts: dict[str, str] = {}
    joined: list[Json] = []
    for output in given:
        if output["output_type"] != "stream":
            joined.append(output)
            continue
        name = output["name"]
        if name not in texts:
            joined.append({"output_type": "stream", "name": name})
        texts[name] = texts.get(name, "") + output["text"]
    for output in joined:
        if output["output_type"] == "stream":
            text = overwritten(texts[output["name"]])
            if text.strip():
                yield {**output, "text": text}
        else:
            yield from _data(output["output_type"], output["data"], output["metadata"])


def _data(kind: str, data: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Json]:
    if MIME in data:
        shown = shown_by(data[MIME])
        picture = drawn(shown)
        said = f"Dependence graph of {shown.name}, {len(shown.nodes)} statements"
        about = {"image/png": {"width": picture.width}, OURS: {"graph": digest(shown)}}
        yield _output(kind, {"image/png": _encoded(picture.png), "text/plain": said}, about)
    elif WIDGET not in data:
        kept = {name: data[name] for name in KEPT if name in data}
        if "image/png" in kept:
            kept["image/png"] = _encoded(small(base64.b64decode(kept["image/png"])))
        if "text/html" in kept:
            kept["text/html"] = _plain(kept["text/html"])
        yield _output(kind, kept, {name: metadata[name] for name in kept if name in metadata})


def _encoded(png: bytes) -> str:
    return base64.b64encode(png).decode()


def _plain(html: str) -> str:
    """Return HTML without style, which code hosts take away or show as text."""
    html = re.sub(r"<style\b.*?</style>\s*", "", html, flags=re.DOTALL)
    return re.sub(r' style="[^"]*"', "", html)


def _output(kind: str, data: Json, metadata: Mapping[str, Any] | None = None) -> Json:
    output: Json = {"output_type": kind, "data": data, "metadata": dict(metadata or {})}
    return output | ({"execution_count": None} if kind == "execute_result" else {})


def _lines(cell: Mapping[str, Any]) -> list[str]:
    """Return what is compared of a cell's outputs."""
    lines = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            lines.append(f"picture {output['metadata'].get(OURS, {}).get('graph', '')}")
        texts = [output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")]
        lines += [line for text in texts for line in "".join(text).splitlines()]
    return lines
