"""Notebooks as files: valid, numbered, each cell named. That they run is `make notebooks`."""

import json
import re
from pathlib import Path

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_notebooks_are_valid() -> None:
    import nbformat  # takes seconds, in every process that does it

    for path in NOTEBOOKS:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        assert re.fullmatch(r"\d\d_[a-z_]+", path.stem)
        identities = [cell["id"] for cell in notebook.cells]
        assert len(set(identities)) == len(identities), path


def test_first_notebook_is_there_and_starts_with_a_title() -> None:
    first = json.loads(NOTEBOOKS[0].read_text(encoding="utf-8"))["cells"][0]
    assert NOTEBOOKS[0].name == "00_start.ipynb"
    assert "".join(first["source"]).startswith("# ")
