"""Workbenches that were saved: in a notebook whose kernel does not know them, and as files."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.lab import IDLE, Lab, Page, command, run_all
from tests.browser.panel import SHOW, STEP, live, open_pane, saved_as, shows
from tests.browser.test_panel import PROGRAM as SMALL
from tests.browser.test_panel import RESTART
from tests.browser.test_picture import executed
from tests.browser.test_stored import DIRTY

PROGRAM = """\
import workbench as wb

@wb.program
def walk(T=4):
    t = wb.dim(t=T)
    place = wb.recurrent("place", (), over=t)
    place[0] = 0.0
    place[t + 1] = place[t] + 1.0
    return {"far": place.sum(over=t)}
"""
PRINTED = """() => {
  const open = HTMLElement.prototype.append;
  HTMLElement.prototype.append = function (...children) {
    open.apply(this, children);
    for (const child of children) {
      if (!(child instanceof HTMLIFrameElement)) continue;
      child.contentWindow.print = () => {
        const { body, head } = child.contentDocument;
        const pages = head.querySelector("style").textContent.match(/@page/g).length;
        HTMLElement.prototype.append = open;
        window.printed = { pages, text: body.textContent };
      };
    }
  };
}"""


def test_a_saved_notebook_opens_in_the_panel_without_its_kernel(lab: Lab) -> None:
    page = lab.open(executed(lab, "kept.ipynb", f"{SHOW}{STEP}\nshown").name)
    output = page.page.locator(".jp-OutputArea")
    output.locator("g.node").first.wait_for(timeout=60_000)
    output.get_by_role("button", name="Open", exact=True).click()
    panel = page.page.locator("#workbench")
    panel.locator('.wbk-connection[data-status="saved"]').wait_for(timeout=60_000)
    panel.locator("g.node").first.wait_for()
    shows(panel, "Vectorize")
    panel.get_by_role("button", name="Undo").click()
    shows(panel, "as written")
    open_pane(panel, "Memory")
    lab.shot(page, "kept")
    command(page, "docmanager:open", {"path": "kept.ipynb"})
    run_all(page)
    panel.get_by_role("tab", name="Memory", selected=True).wait_for(timeout=60_000)
    live(page)
    panel.get_by_role("tab", name="Memory", selected=True).wait_for(timeout=60_000)
    page.check()


def test_a_notebook_opens_again_with_what_was_shown_when_it_was_saved(lab: Lab) -> None:
    page = lab.open(lab.notebook("left.ipynb", [SHOW, STEP, SMALL]))
    run_all(page)
    panel = live(page)
    program = panel.get_by_label("Program", exact=True)
    program.locator("option", has_text="small").wait_for(state="attached", timeout=60_000)
    outputs = page.page.locator(".jp-OutputArea-output .wbk-root")
    expect(outputs).to_have_count(2)
    page.page.wait_for_timeout(3500)  # outputs are up to date by then, and not again soon
    program.select_option("walk")
    panel.get_by_role("button", name="Undo").click()
    shows(panel, "as written")
    command(page, "docmanager:open", {"path": "left.ipynb"})
    command(page, "docmanager:save")
    page.page.wait_for_function(f"() => !({DIRTY})()", timeout=30_000, polling=100)
    lab.tidy()
    page = lab.open("left.ipynb", runs=False)
    assert page.page.evaluate(DIRTY) is False
    command(page, "workbench:open")
    panel = page.page.locator("#workbench")
    expect(panel.locator(".wbk-title:visible")).to_have_text("walk")
    shows(panel, "as written")
    page.check()


def test_an_exported_page_opens_from_a_file(lab: Lab, walk: Page, tmp_path: Path) -> None:
    path = saved_as(live(walk), "Save as HTML page", tmp_path)
    walk.check()
    saved = lab.open_file(path, width=1300)
    alone = saved.page
    alone.locator("g.node").first.wait_for(timeout=60_000)
    shows(alone, "Vectorize")
    alone.get_by_role("button", name="as written").click()
    shows(alone, "as written")
    lab.shot(saved, "page")
    saved.check()


def test_the_graph_is_saved_as_svg(walk: Page, tmp_path: Path) -> None:
    text = saved_as(live(walk), "Save graph as SVG", tmp_path).read_text("utf8")
    assert text.startswith("<svg")
    assert "gain[b, t]" in text
    assert "var(--" not in text
    assert "class=" not in text
    walk.check()


def test_printing_gets_the_graph_alone_on_a_page_of_its_size(walk: Page) -> None:
    panel = live(walk)
    walk.page.evaluate(PRINTED)
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem", name="Print graph").click()
    walk.page.wait_for_function("() => window.printed", timeout=30_000)
    assert walk.page.evaluate("() => window.printed.pages") == 1
    assert "gain[b, t]" in walk.page.evaluate("() => window.printed.text")
    walk.check()


def test_a_state_file_is_saved_and_loaded(lab: Lab, walk: Page, tmp_path: Path) -> None:
    path = saved_as(live(walk), "Save state file", tmp_path)
    assert len(json.loads(path.read_text("utf8"))["state"]["variants"]) == 2
    walk.check()
    lab.tidy()
    other = lab.open(lab.notebook("loaded.ipynb", [SHOW]))
    run_all(other)
    panel = live(other)
    panel.get_by_role("button", name="Save").click()
    with other.page.expect_file_chooser() as chooser:
        panel.get_by_role("menuitem", name="Load state file").click()
    chooser.value.set_files(path)
    panel.get_by_text("every step was checked anew").wait_for(timeout=60_000)
    other.check()


def test_a_fresh_kernel_has_not_run_the_program_and_runs_its_cell(lab: Lab) -> None:
    path = executed(lab, "fresh.ipynb", PROGRAM, "wb.Workbench(walk())")
    page = lab.open(path.name, width=1400)
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    command(page, "workbench:open")
    panel = page.page.locator("#workbench")
    told = panel.get_by_text("This Jupyter kernel has not run walk yet")
    told.wait_for(timeout=60_000)
    page.page.wait_for_timeout(1500)  # as long as an answer is waited for, and longer
    expect(told).to_be_visible()
    expect(panel.get_by_text("does not answer")).to_have_count(0)
    lab.shot(page, "fresh")
    lab.shot(page, "fresh-dark", "JupyterLab Dark")
    panel.get_by_role("button", name="Run its cell").click()
    page.page.locator(".jp-OutputArea-output", has_text="NameError").wait_for(timeout=60_000)
    expect(told).to_be_visible()  # the cells before it were not run
    panel.get_by_role("button", name="Run all cells up to it").click()
    live(page)
    expect(told).to_have_count(0)
    command(page, "docmanager:open", {"path": path.name})
    page.page.evaluate(RESTART)
    panel.get_by_text("was restarted and has not run the program").wait_for(timeout=30_000)
    lab.shot(page, "fresh-restarted")
    panel.get_by_role("button", name="Run all cells up to it").click()
    live(page)
    page.check()
