"""A notebook whose outputs are stored for code hosts, opened in JupyterLab and run."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from tests.browser.lab import IDLE, Lab, run_all
from tests.browser.panel import SHOW, live

DIRTY = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
PYTHON = "() => window.jupyterapp.shell.currentWidget.context.model.getMetadata('language_info')"


def test_a_stored_notebook_shows_its_picture_until_it_is_run(lab: Lab) -> None:
    if shutil.which("dot") is None:
        pytest.skip("no Graphviz: install it (Debian package graphviz)")
    from tests.notebooks.reducing import reduced
    from tests.notebooks.running import environment, run

    path = lab.root / lab.notebook("stored.ipynb", [SHOW])
    kept = reduced(run(path, environment(lab.root)), "here")
    nbformat.write(nbformat.from_dict(kept), path)
    page = lab.open(path.name)  # not trusted: another machine ran it
    image = page.page.locator(".jp-OutputArea img")
    image.wait_for()
    assert image.evaluate("(image) => image.naturalWidth") > image.bounding_box()["width"] > 100
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    page.page.wait_for_function(f"({PYTHON})().version", timeout=60_000, polling=100)
    page.page.wait_for_timeout(300)
    assert page.page.evaluate(DIRTY) is False
    lab.shot(page, "stored")
    lab.shot(page, "stored-dark", "JupyterLab Dark")
    run_all(page)
    live(page)
    page.page.locator(".jp-OutputArea .wbk-folded").wait_for(timeout=60_000)
    assert image.count() == 0
    assert page.page.evaluate(DIRTY) is True
    page.check()
