"""Room for the picture: where tabs stand, what a cell shows beside the panel, keys and menus."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, command, run_all
from tests.browser.panel import SHOW, live, open_pane, saved_as, shows, still
from tests.browser.test_measuring import run_first, start_below

TABS = """() => [...document.querySelectorAll("[role=tab]")].map((tab) => {
  const { left, top, width, height } = tab.getBoundingClientRect();
  return { left, top, width, height };
})"""
INSIDE = """(selector) => {
  const place = document.querySelector(selector).getBoundingClientRect();
  const pane = document.querySelector(".wbk-side").getBoundingClientRect();
  return place.top >= pane.top && place.bottom <= pane.bottom + 1;
}"""
LONG = """\
import workbench as wb
from workbench.algorithms.reinforce import reinforce

@wb.program
def very_long_names_of_walkers(B=4, T=5):
    b, t = wb.dims(b=B, t=T)
    discounted_position_of_every_walker = wb.recurrent(
        "discounted_position_of_every_walker", (), over=(b, t)
    )
    discounted_position_of_every_walker[b, 0] = 0.0
    discounted_position_of_every_walker[b, t + 1] = (
        discounted_position_of_every_walker + wb.uniform(over=(b, t))
    )
    gain_that_is_squared_for_each_walker = -(discounted_position_of_every_walker**2)
    worth_of_everything_that_follows = wb.discounted_sum(
        gain_that_is_squared_for_each_walker[b, t:T], 0.9
    )
    return {"worth_of_everything": worth_of_everything_that_follows.sum(over=t).mean(over=b)}

"""
SHOWN = ("wb.Workbench(very_long_names_of_walkers())", "wb.Workbench(reinforce(B=4, I=2, T=5))")
CUT = """() => {
  const graphs = document.querySelectorAll("#workbench .wbk-graph");
  const graph = [...graphs].find((one) => one.offsetParent);
  const room = graph.getBoundingClientRect();
  const places = [...graph.querySelectorAll("g.node .wbk-ground")]
    .map((ground) => ground.getBoundingClientRect());
  return places.filter(({ left, right, top, bottom }) =>
    left < room.left + 8 || right > room.right - 8 || top < room.top + 8 || bottom > room.bottom - 8
  ).length;
}"""
WAITS = "import time\nprint('waits')\nwhile True:\n    time.sleep(0.1)"


def test_the_panel_leaves_its_cell_a_line_and_has_menus_and_keys(lab: Lab) -> None:
    page = lab.open(lab.notebook("room.ipynb", [SHOW, WAITS]), width=1500)
    run_first(page)
    panel = live(page)
    _is_a_line_while_the_panel_is_open(page, panel)
    panel = live(page)
    _undoes_by_keys_and_lists_them(lab, page, panel)
    _interrupts_the_kernel_from_the_panel(lab, page, panel)
    page.check()


def _is_a_line_while_the_panel_is_open(page: Any, panel: Any) -> None:
    output = page.page.locator(".jp-OutputArea .wbk-root")
    expect(output.locator(".wbk-folded")).to_contain_text("is shown in the panel")
    assert output.bounding_box()["height"] < 60
    output.get_by_role("button", name="Show here too").click()
    output.locator("g.node").first.wait_for()
    page.page.locator(".lm-TabBar-tab", has_text="Workbench").locator(
        ".lm-TabBar-tabCloseIcon"
    ).click()
    panel.wait_for(state="detached")
    output.locator("g.node").first.wait_for()
    assert output.bounding_box()["height"] > 300
    output.get_by_role("button", name="Open", exact=True).click()
    expect(output.locator(".wbk-folded")).to_be_visible()


def _undoes_by_keys_and_lists_them(lab: Lab, page: Any, panel: Any) -> None:
    box = panel.locator("g.node").first
    box.click()
    page.page.keyboard.press("?")
    keys = panel.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("undoes the last step")
    lab.shot(page, "keys")
    page.page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    command(page, "workbench:keys")
    expect(keys).to_be_visible()
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_have_count(0)


def _interrupts_the_kernel_from_the_panel(lab: Lab, page: Any, panel: Any) -> None:
    start_below(page)
    page.page.locator(".jp-OutputArea-output", has_text="waits").wait_for()
    panel.locator("g.node").nth(1).click()
    page.page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").click()
    entries = page.page.locator(".lm-Menu .lm-Menu-item:not(.lm-mod-disabled)")
    expect(entries.filter(has_text="Restart Kernel and Run All Cells")).to_be_visible()
    expect(entries.filter(has_text="Shut Down Kernel").first).to_be_visible()
    lab.shot(page, "kernel-menu")
    entries.filter(has_text="Interrupt Kernel").click()
    page.page.locator(".jp-OutputArea-output", has_text="KeyboardInterrupt").wait_for()
    in_use = "() => window.jupyterapp.shell.currentWidget.id"
    assert page.page.evaluate(in_use) == "workbench"


def test_tabs_are_one_row_or_one_column_at_every_width(lab: Lab, walk: Any, tmp_path: Any) -> None:
    path = saved_as(live(walk), "Save as HTML page", tmp_path)
    page = lab.open_file(path, width=1600, height=800)
    page.page.locator("g.node").first.wait_for(timeout=60_000)
    for width in (1600, 1280, 1000, 900, 800, 640, 390):
        page.page.set_viewport_size({"width": width, "height": 800})
        page.page.wait_for_timeout(300)
        tabs = page.page.evaluate(TABS)
        upright = width >= 900
        assert len({round(tab["left" if upright else "top"]) for tab in tabs}) <= 2, width
        seen = [tab for tab in tabs if tab["left"] + tab["width"] <= width]
        assert len(seen) == len(tabs) or width < 640
        graph = page.page.locator(".wbk-graph").bounding_box()
        pane = page.page.locator(".wbk-side").bounding_box()
        assert (pane["x"] >= graph["x"] + graph["width"]) == upright
        lab.shot(page, f"tabs-{width}")
    page.check()


@pytest.mark.parametrize("shown", SHOWN)
def test_fit_shows_the_whole_graph_at_every_width(lab: Lab, shown: str) -> None:
    page = lab.open(lab.notebook("whole.ipynb", [LONG + shown]))
    run_all(page)
    panel = live(page)
    name = panel.locator(".wbk-title").inner_text()
    for width in (1280, 900, 1700):
        page.page.set_viewport_size({"width": width, "height": 800})
        for _ in range(4):
            panel.get_by_role("button", name="Zoom in").click()
        assert page.page.evaluate(CUT) > 0, width
        panel.get_by_role("button", name="Fit: show the whole graph").click()
        still(page)
        assert page.page.evaluate(CUT) == 0, width
        lab.shot(page, f"whole-{name}-{width}")
    page.check()


def test_a_preview_begins_with_the_reason_and_its_drawing(lab: Lab, walk: Any) -> None:
    page, panel = walk, live(walk)
    open_pane(panel, "Moves")
    possible = panel.locator(".wbk-move:not(.wbk-refused-move)")
    possible.filter(has_text="Vectorize t").first.click()
    why = panel.locator("section[aria-label='Why it is legal']")
    why.locator("svg").first.wait_for(timeout=60_000)
    why.locator(".wbk-sentence").wait_for()
    assert page.page.evaluate(INSIDE, "section[aria-label='Why it is legal'] .wbk-sentence")
    panel.locator(".wbk-costs").wait_for(timeout=60_000)
    costs, drawing = (panel.locator(s).first.bounding_box() for s in (".wbk-costs", ".wbk-why svg"))
    assert drawing["y"] + drawing["height"] <= costs["y"]
    lab.shot(page, "preview")
    panel.get_by_role("button", name="← Moves").click()
    shows(panel, "Vectorize")
    page.check()
