"""The picture that is stored of a graph: pixels, since code hosts damage SVG and JupyterLab shows
none in a notebook that somebody else has run. It has a background of its own, white in dark themes
too.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from workbench.session.picture.dot import dot, static
from workbench.session.picture.snapshot import Snapshot
from workbench.session.protocol.reading import record

SHOWN, DRAWN = 96, 144
"""The pixels of an inch where there is room for the picture, and those that it is drawn with. The
widest one has two for each that a code host gives it."""
COLOURS = 64
"""The most colours of a picture: a graph or a plot has a dozen, and what is between at edges."""


@dataclass(frozen=True)
class Picture:
    """A PNG file, and the pixels that it is wide where there is room."""

    png: bytes
    width: int


def shown_by(saved: Mapping[str, Any]) -> Snapshot:
    """Return the program that a saved workbench shows, from the capsule in a cell's output."""
    if "gzip" in saved:
        saved = json.loads(gzip.decompress(base64.b64decode(saved["gzip"])))
    current = saved["state"]["current"]
    (value,) = (
        part["value"]
        for part in saved["parts"]
        if (part["part"], part["variant"]) == ("snapshot", current)
    )
    return record("snapshot", value, Snapshot)


def digest(snapshot: Snapshot) -> str:
    """Return a hash of all that can be drawn of a program, opened or closed. No machine's fonts are
    in it.
    """
    return hashlib.sha256(dot(snapshot, frozenset()).encode()).hexdigest()[:16]


def drawn(snapshot: Snapshot) -> Picture:
    """Draw the static picture of a program. Raises RuntimeError where there is no Graphviz."""
    picture = static(snapshot)
    if picture is None:
        raise RuntimeError("the pictures of notebooks want Graphviz' program `dot`")
    command = ["dot", "-Tpng", f"-Gdpi={DRAWN}"]
    done = subprocess.run(command, input=picture.dot.encode(), capture_output=True, check=True)
    with Image.open(io.BytesIO(done.stdout)) as image:
        width = round(image.width * SHOWN / DRAWN)
    return Picture(small(done.stdout), width)


def small(png: bytes) -> bytes:
    """Return a PNG file with few colours, in a third of the bytes."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(file, "png", optimize=True)
    return file.getvalue()
