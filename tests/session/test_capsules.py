"""The files that the views are tested with are what Python sends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden_files import GoldenFiles
from tests.session.capsules import measured, pictures, playing, steps
from tests.session.capsules.json_text import json_text

FILES: dict[str, Callable[[], object]] = {
    "graph": pictures.pictures,
    "measure": measured.capsule,
    "play": playing.capsule,
    "rows": measured.rows,
    "steps": steps.capsule,
}


@pytest.mark.parametrize("file", FILES)
def test_the_file_that_the_views_are_tested_with_is_what_python_sends(
    golden: GoldenFiles, file: str
) -> None:
    golden(f"session/{file}.json", json_text(FILES[file]()))
