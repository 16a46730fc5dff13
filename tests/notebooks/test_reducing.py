"""What is stored of outputs, and what is compared of them."""

from __future__ import annotations

import base64
import io
import shutil
from typing import Any

import pytest
from PIL import Image

from tests.notebooks.pictures import digest, shown_by
from tests.notebooks.reducing import cells_digest, differences, overwritten, reduced
from tests.session import example
from workbench.session.outputs.mime_bundle import MIME, mimebundle
from workbench.session.picture.snapshot import snapshot

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz")
HERE = "On a machine, 2 cores, 2026-01-31"


def cell(*outputs: dict[str, Any], source: str = "x", tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 7,
        "id": "a",
        "metadata": {"tags": list(tags), "execution": {"iopub.status.busy": "2026-01-31T12:00"}},
        "outputs": list(outputs),
        "source": source,
    }


def text(words: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": words}


def data(**kinds: Any) -> dict[str, Any]:
    named = {name.replace("_", "/"): value for name, value in kinds.items()}
    return {"output_type": "execute_result", "execution_count": 7, "metadata": {}, "data": named}


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"widgets": {}}, "nbformat": 4, "nbformat_minor": 5}


def outputs(*given: dict[str, Any], tags: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    (kept,) = reduced(notebook(cell(*given, tags=tags)), HERE)["cells"]
    return kept["outputs"]


def test_counts_and_times_are_left_out() -> None:
    (kept,) = reduced(notebook(cell(data(text_plain="3"))), HERE)["cells"]
    assert kept["execution_count"] is kept["outputs"][0]["execution_count"] is None
    assert kept["metadata"] == {}


def test_metadata_are_the_same_wherever_it_ran() -> None:
    kept = reduced(notebook(cell()), HERE)
    assert kept["metadata"]["language_info"] == {"name": "python"}
    assert kept["metadata"].keys() == {"kernelspec", "language_info", "workbench"}


def test_text_in_pieces_becomes_one() -> None:
    assert outputs(text("a"), text("b\n")) == [text("ab\n")]


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("10 %\r100 %\nend\n", "100 %\nend\n"),
        ("compiling\r         \rran\n", "ran\n"),
        ("long\rab", "abng"),
        ("plain\n", "plain\n"),
    ],
)
def test_of_lines_written_anew_the_last_state_stays(written: str, seen: str) -> None:
    assert overwritten(written) == seen


def test_text_that_was_taken_back_is_left_out() -> None:
    assert outputs(text("compiling\r         \r")) == []


def test_widgets_are_left_out() -> None:
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "VBox()"}
    assert outputs({**data(), "data": widget}) == []


def test_tables_stay_without_their_style() -> None:
    html = '<div><style scoped>.a { }</style>\n<table><td style="color: red">1</td></table></div>'
    (kept,) = outputs(data(text_html=html, text_plain="1"))
    assert kept["data"]["text/html"] == "<div><table><td>1</td></table></div>"


def test_pictures_stay_with_fewer_colours() -> None:
    file = io.BytesIO()
    Image.linear_gradient("L").convert("RGBA").save(file, "png")
    (kept,) = outputs(data(image_png=base64.b64encode(file.getvalue()).decode(), text_plain="F"))
    with Image.open(io.BytesIO(base64.b64decode(kept["data"]["image/png"]))) as image:
        assert image.size == (256, 256)
        assert len(image.convert("RGB").getcolors()) == 64
    assert kept["data"]["text/plain"] == "F"


def test_measured_outputs_end_with_the_machine_and_the_date() -> None:
    kept = outputs(text("12 ms\n"), tags=("machine",))
    assert kept[0] == text("12 ms\n")
    assert kept[1]["data"] == {"text/plain": HERE}
    assert outputs(tags=("machine",)) == []


@needs_dot
@pytest.mark.usefixtures("default_backend")
def test_a_workbench_becomes_a_picture_of_its_graph() -> None:
    bundle = mimebundle(example.small())
    (kept,) = outputs({**data(), "data": bundle})
    assert kept["data"].keys() == {"image/png", "text/plain"}
    assert kept["data"]["text/plain"] == "Dependence graph of small, 5 statements"
    with Image.open(io.BytesIO(base64.b64decode(kept["data"]["image/png"]))) as image:
        assert image.width in range(100, 1000)
        assert abs(image.width / 1.5 - kept["metadata"]["image/png"]["width"]) <= 1
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert kept["metadata"]["workbench"] == {"graph": digest(snapshot(example.small()))}


@pytest.mark.usefixtures("default_backend")
@pytest.mark.parametrize("program", [example.small(), example.reinforce(14)], ids=["small", "gzip"])
def test_a_saved_workbench_gives_the_program_that_it_shows(program: Any) -> None:
    saved = mimebundle(program)[MIME]
    assert ("gzip" in saved) == (program.name != "small")
    assert shown_by(saved) == snapshot(program)


def test_the_hash_of_a_graph_is_another_for_another_program() -> None:
    one, other = snapshot(example.reinforce(1)), snapshot(example.reinforce(2))
    assert digest(one) == digest(snapshot(example.reinforce(1)))
    assert digest(one) != digest(other)


def test_the_hash_of_cells_is_of_their_code() -> None:
    words = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "words"}
    one = cells_digest(notebook(cell(source="x = 1")))
    assert cells_digest(notebook(words, cell(data(text_plain="1"), source="x = 1"))) == one
    assert cells_digest(notebook(cell(source=["x = ", "1"]))) == one  # as in a file
    assert cells_digest(notebook(cell(source="x = 2"))) != one


def told(old: list[dict[str, Any]], new: list[dict[str, Any]], tags: tuple[str, ...] = ()) -> str:
    kept = (notebook(cell(*outputs, tags=tags)) for outputs in (old, new))
    return "\n".join(differences(*kept))


def test_another_text_is_told_with_its_cell() -> None:
    assert told([text("a\nb\n")], [text("a\nc\n")]).splitlines() == [
        "cell a:", "--- stored", "+++ now", "@@ -1,2 +1,2 @@", " a", "-b", "+c",
    ]  # fmt: skip


def test_another_graph_is_told() -> None:
    one, other = data(image_png="x"), data(image_png="x")
    one["metadata"], other["metadata"] = (
        {"workbench": {"graph": "1"}},
        {"workbench": {"graph": "2"}},
    )
    assert "-picture 1\n+picture 2" in told([one], [other])


def test_what_is_missing_is_told() -> None:
    assert "-a" in told([text("a")], [])
    assert "+a" in told([], [text("a")])


def test_other_numbers_of_another_machine_are_no_difference() -> None:
    assert told([text("1 ms")], [text("2 ms")], tags=("machine",)) == ""


def test_another_plot_is_no_difference() -> None:
    assert told([data(image_png="a", text_plain="F")], [data(image_png="b", text_plain="F")]) == ""
