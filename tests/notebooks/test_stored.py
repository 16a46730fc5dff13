"""Notebooks as files: valid, numbered, each cell named; what is stored of their outputs is of the
cells that are there, and no more than a code host shows. What the cells show now is compared by
`make notebooks`.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.reducing import KEPT, LARGEST, OURS, cells_digest, code_cells, of_machine

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
DATE = re.compile(r"^On \S.*, \d{4}-\d\d-\d\d$")
notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_notebooks_are_valid() -> None:
    import nbformat  # takes seconds, in every process that does it

    for path in NOTEBOOKS:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        assert re.fullmatch(r"\d\d_[a-z_]+", path.stem)
        identities = [cell["id"] for cell in notebook.cells]
        assert len(set(identities)) == len(identities), path


def test_first_notebook_is_there_and_starts_with_a_title() -> None:
    first = read(NOTEBOOKS[0])["cells"][0]
    assert NOTEBOOKS[0].name == "00_start.ipynb"
    assert "".join(first["source"]).startswith("# ")


@notebooks
def test_stored_outputs_are_of_the_present_cells(path: Path) -> None:
    notebook = read(path)
    of = notebook["metadata"].get(OURS, {}).get("cells")
    assert of == cells_digest(notebook), (
        f"the outputs in notebooks/{path.name} are of other cells: `make outputs` runs the "
        "notebooks and stores what these show"
    )


@notebooks
def test_stored_outputs_are_what_a_code_host_shows(path: Path) -> None:
    assert path.stat().st_size <= LARGEST
    shown: list[dict[str, Any]] = []
    for cell in code_cells(read(path)):
        assert cell["execution_count"] is None
        assert cell["metadata"].keys() <= {"tags"}
        shown += cell["outputs"]
        if of_machine(cell) and cell["outputs"]:
            assert DATE.match("".join(cell["outputs"][-1]["data"]["text/plain"])), cell["id"]
    assert {output["output_type"] for output in shown} <= {
        "display_data", "execute_result", "stream",
    }  # fmt: skip
    data = [output["data"] for output in shown if "data" in output]
    assert {kind for one in data for kind in one} <= set(KEPT)
    text = json.dumps([{k: v for k, v in one.items() if k != "image/png"} for one in data])
    assert not re.search(r"<(script|style|iframe)\b| at 0x[0-9a-f]+", text)


@notebooks
def test_the_graph_of_each_notebook_is_among_its_stored_outputs(path: Path) -> None:
    outputs = [output for cell in code_cells(read(path)) for output in cell["outputs"]]
    graphs = [output for output in outputs if OURS in output.get("metadata", {})]
    assert graphs
    for graph in graphs:
        assert graph["data"]["image/png"]
        assert graph["metadata"]["image/png"]["width"] <= 1120
