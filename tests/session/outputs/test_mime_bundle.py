from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys

import pytest

import workbench as wb
from tests.session import example
from workbench.algorithms.reinforce import reinforce
from workbench.polyhedral.sets.as_text import limited
from workbench.session.outputs import mime_bundle as bundle
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import plain


def test_a_bundle_holds_snapshot_picture_and_equations() -> None:
    made = bundle.mimebundle(example.small())
    (part,) = made[bundle.MIME]["parts"]
    assert part["value"] == plain(snapshot(example.small()))
    assert part["variant"] == made[bundle.MIME]["state"]["current"]
    assert "s[b, t + 1] = s[b, t] + x[b, t]" in made["text/plain"]
    json.dumps(made)


def test_a_variant_is_shown_with_those_it_came_from() -> None:
    root = wb.variant(reinforce(B=2, I=2, T=3, hidden=(4,)))
    vectorized = root.apply(wb.transforms.Vectorize("b"))
    state = bundle.mimebundle(vectorized)[bundle.MIME]["state"]
    assert [v["name"] for v in state["variants"]] == ["as written", "Vectorize('b')"]
    assert (state["root"], state["current"]) == (root.key, vectorized.key)


def test_a_program_that_is_too_much_work_to_draw_is_shown_by_its_name_and_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundle, "limited", lambda task: limited(task, 1))
    shown = wb.variant(reinforce(B=2, I=2, T=3, hidden=(4,)))
    for one in (shown, shown.program):
        assert bundle.mimebundle(one) == {
            "text/plain": "drawing reinforce: too complex, given up after 1 operations"
        }


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz")
def test_the_static_picture_is_an_image_of_svg() -> None:
    html = bundle.mimebundle(example.small())["text/html"]
    (encoded,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    assert base64.b64decode(encoded).startswith(b"<svg")


def test_the_equations_stand_in_where_there_is_no_graphviz(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    html = bundle.mimebundle(example.small())["text/html"]
    assert html.startswith("<pre>")
    assert "0 &lt;= " in html or "&lt;" in html


def test_a_bundle_needs_no_jupyter_package() -> None:
    script = (
        "import sys; from tests.session import example;"
        "from workbench.session.outputs import mime_bundle;"
        "mime_bundle.mimebundle(example.small());"
        "print([m for m in ('IPython', 'ipywidgets', 'anywidget') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
