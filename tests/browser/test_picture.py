"""A program's picture in JupyterLab, used as a reader would use it."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import expect

from tests.browser.lab import Lab, Page, run_all, theme
from tests.browser.panel import still
from tests.front_end import REPOSITORY
from tests.session import example
from workbench.program.values import Program
from workbench.session.outputs.mime_bundle import MIME, mimebundle

SHOW = """\
from tests.session import example
from workbench.session.outputs.mime_bundle import mimebundle
from IPython.display import display
display(mimebundle(example.{program}), raw=True)
"""


def drawn(page: Page) -> Any:
    """The drawn graph."""
    page.page.wait_for_selector(".wbk-root g.node", timeout=60_000)
    return page.page


def box(view: Any, title: str) -> Any:
    """The box of a statement or a closed scope."""
    return view.locator(f'g.node[aria-label^="{title},"]')


def with_output(lab: Lab, name: str, bundle: dict[str, Any]) -> Path:
    """A notebook with an output, as a saved one is; no Jupyter kernel made it."""
    path = lab.root / lab.notebook(name, ["program"])
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", bundle)]
    nbformat.write(notebook, path)
    return path


def saved(lab: Lab, name: str, program: Program, **place: Any) -> Page:
    """The page with a program's picture that was saved, without a Jupyter kernel."""
    return lab.open(with_output(lab, name, mimebundle(program)).name, runs=False, **place)


def executed(lab: Lab, name: str, *cells: str) -> Path:
    """A notebook that was run without a browser, as a saved one is."""
    path = lab.root / lab.notebook(name, cells)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook).execute(env={**os.environ, "PYTHONPATH": str(REPOSITORY)})
    nbformat.write(notebook, path)
    return path


def test_a_cell_draws_the_graph_and_a_click_shows_the_equation(lab: Lab) -> None:
    page = lab.open(lab.notebook("click.ipynb", [SHOW.format(program="reinforce(1)")]))
    run_all(page)
    view = drawn(page)
    expect(view.locator(".wbk-root g.node")).to_have_count(22)
    box(view, "to_go[b, i, t]").click()
    detail = view.locator(".wbk-detail")
    expect(detail).to_contain_text("to_go[b, i, t] = sum(")
    expect(detail).to_contain_text("0 <= t < T")
    expect(detail).to_contain_text("line ")
    expect(view.locator(".wbk-selected")).to_have_count(1)
    lab.shot(page, "click")
    page.check()


def test_zoom_fit_search_and_keys(lab: Lab) -> None:
    page = saved(lab, "keys.ipynb", example.reinforce(1))
    view = drawn(page)
    view.get_by_label("Show the whole graph").click()
    still(page)
    transform = view.locator(".wbk-viewport")
    whole = transform.get_attribute("transform")
    view.get_by_label("Zoom in").click()
    expect(transform).not_to_have_attribute("transform", whole)
    view.get_by_label("Show the whole graph").click()
    expect(transform).to_have_attribute("transform", whole)
    view.get_by_label("Search statements").fill("d_weight")
    expect(view.locator(".wbk-count", has_text="found")).to_have_text("4 found")
    view.get_by_label("Search statements").press("Enter")
    view.locator(".wbk-selected[aria-label^=d_weight]").wait_for()  # its scope opens first
    view.get_by_label("Search statements").press("Escape")
    view.locator("g.node[tabindex='0']").focus()
    view.keyboard.press("ArrowDown")
    view.keyboard.press("Enter")
    expect(view.locator("g.node:focus.wbk-selected")).to_have_count(1)
    view.keyboard.press("Escape")
    expect(view.locator(".wbk-selected")).to_have_count(0)
    page.check()


def test_scopes_close_and_open(lab: Lab) -> None:
    page = saved(lab, "scopes.ipynb", example.reinforce(1))
    view = drawn(page)
    closed = box(view, "optimizer")
    closed.dblclick()
    closed.wait_for(state="detached")
    expect(view.locator("g.node")).to_have_count(29)
    view.locator("g.cluster text", has_text="optimizer").click()
    closed.wait_for()
    expect(view.locator("g.node")).to_have_count(22)
    page.check()


def test_a_large_program_opens_as_an_overview(lab: Lab) -> None:
    page = saved(lab, "large.ipynb", example.reinforce(14))
    view = drawn(page)
    assert view.locator("g.node").count() <= 24
    view.get_by_text("Open all").click()
    view.get_by_text("Overview").click()
    view.get_by_text("Open all").wait_for()
    view.wait_for_function("() => document.querySelectorAll('.wbk-root g.node').length <= 24")
    view.get_by_label("Search statements").fill("change_bias3")
    view.get_by_label("Search statements").press("Enter")
    view.locator(".wbk-selected", has_text="change_bias3").wait_for()
    lab.shot(page, "large")
    page.check()


def test_dark_theme(lab: Lab) -> None:
    page = saved(lab, "dark.ipynb", example.small())
    view = drawn(page)
    view.locator("g.node").first.click()
    style = "e => getComputedStyle(e).%s.match(/[0-9]+/g).slice(0, 3).map(Number)"
    root = view.locator(".wbk-root")
    with theme(page, "JupyterLab Dark"):
        back, text = root.evaluate(style % "backgroundColor"), root.evaluate(style % "color")
        lab.shot(page, "dark")
    assert max(back) < 60
    assert min(text) > 200
    page.check()


def test_a_saved_notebook_draws_without_a_run(lab: Lab) -> None:
    path = executed(lab, "saved.ipynb", SHOW.format(program="reinforce(1)"))
    page = lab.open(path.name)  # no cell is run, and the notebook is not trusted
    view = drawn(page)
    box(view, "to_go[b, i, t]").click()
    expect(view.locator(".wbk-detail")).to_contain_text("sum(")
    lab.shot(page, "saved")
    page.check()


def test_without_the_extension_the_static_picture_is_shown(lab: Lab) -> None:
    if shutil.which("dot") is None:
        pytest.skip("no Graphviz: install it (Debian package graphviz)")
    bundle = mimebundle(example.reinforce(1))
    del bundle[MIME]
    page = lab.open(with_output(lab, "plain.ipynb", bundle).name, runs=False)
    image = page.page.locator(".jp-OutputArea img[alt^='Dependence graph']")
    image.wait_for()
    page.page.wait_for_function(
        "() => document.querySelector('.jp-OutputArea img').naturalWidth > 300"
    )
    lab.shot(page, "plain")
    page.check()


def test_the_widget_draws_and_follows_its_program(lab: Lab) -> None:
    cells = [
        "import workbench as wb\n"
        "from workbench.algorithms.reinforce import reinforce\n"
        "from workbench.session.jupyter import notebook\n"
        "workbench = wb.Workbench(reinforce())\n"
        "display(workbench)\n"
        "display(notebook.notebook()._outputs['reinforce']._widget)",
        "workbench.apply(wb.transforms.Vectorize('b'));",
    ]
    page = lab.open(lab.notebook("widget.ipynb", cells))
    run_all(page)
    widget = page.page.locator(".jp-OutputArea-output.lm-Panel .wbk-root")
    widget.locator(".wbk-step[aria-current]", has_text="Vectorize").wait_for(timeout=60_000)
    widget.locator("g.node").first.wait_for()
    page.check()


def test_names_with_markup_stay_text(lab: Lab) -> None:
    evil = '<img src=x onerror=window.pwned=1><script>window.pwned=1</script>&amp;"'
    small = example.small()
    statements = tuple(replace(one, scope=(evil,)) for one in small.statements)
    equations = replace(small.equations, name=evil, description=evil, statements=statements)
    named = replace(small, equations=equations)
    page = saved(lab, "markup.ipynb", named)
    view = drawn(page)
    expect(view.locator(".wbk-title")).to_contain_text("<img src=x")
    assert view.locator(".wbk-root img").count() == 0
    assert view.evaluate("() => window.pwned") is None
    page.check()


def test_the_panes_open_and_close(lab: Lab) -> None:
    page = saved(lab, "panes.ipynb", example.small(), width=760)
    view = drawn(page)
    pane = view.locator(".wbk-side")
    expect(pane).to_be_hidden()
    view.get_by_role("tab", name="Details").click()
    expect(pane).to_contain_text("0 <= t < T")
    view.get_by_role("tab", name="Details").click()
    expect(pane).to_be_visible()
    view.get_by_role("button", name="Close the pane").click()
    expect(pane).to_be_hidden()
    page.check()


def test_a_picture_of_another_release_says_so(lab: Lab) -> None:
    bundle = mimebundle(example.small())
    bundle[MIME]["protocol"] = 0
    page = lab.open(with_output(lab, "older.ipynb", bundle).name, runs=False)
    page.page.locator(".wbk-problem", has_text="another release").wait_for()
    page.check()


def test_exported_html_shows_the_static_picture(lab: Lab) -> None:
    from nbconvert import HTMLExporter  # takes seconds, in every process that does it

    path = with_output(lab, "export.ipynb", mimebundle(example.small()))
    text, _ = HTMLExporter().from_filename(str(path))
    assert 'alt="Dependence graph of small, 5 statements"' in text


def test_a_traced_program_is_drawn_by_its_own_cell(lab: Lab) -> None:
    cell = "from workbench.algorithms.reinforce import reinforce\nreinforce()"
    page = lab.open(lab.notebook("traced.ipynb", [cell]), width=1920, height=1080)
    run_all(page)
    view = drawn(page)
    box(view, "worth[b, i, t]").click()
    detail = view.locator(".wbk-detail")
    expect(detail).to_contain_text("worth = wb.discounted_sum(gain[b, i, t:T], gamma)")
    expect(detail).to_contain_text("(reinforce.py, line ")
    lab.shot(page, "traced")
    page.check()
