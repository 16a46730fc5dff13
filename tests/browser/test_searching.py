"""The automatic recipe in the panel: looked for, cancelled, found with what it gains; and the tour
while the Jupyter kernel restarts.
"""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.lab import IDLE, Lab, command, run_cell
from tests.browser.panel import live, open_pane, still
from tests.browser.test_panel import RESTART

LARGE = """\
import workbench as wb
from workbench.algorithms import ppo

wb.Workbench(ppo())
"""
SMALL = """\
from workbench.algorithms.reinforce import reinforce

wb.Workbench(reinforce(B=4, I=2, T=5))
"""


def test_a_recipe_is_looked_for_cancelled_and_found(lab: Lab) -> None:
    page = lab.open(lab.notebook("looked-for.ipynb", [LARGE, SMALL]), 1500, 900)
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    run_cell(page, 0)
    panel = live(page)
    open_pane(panel, "Variants")
    panel.locator(".wbk-optimize select").select_option("memory")
    tabs, graph = panel.get_by_role("tablist"), panel.locator(".wbk-graph")
    before = tabs.bounding_box(), graph.bounding_box()
    panel.get_by_role("button", name="Take steps").click()
    progress = panel.locator(".wbk-progress")
    expect(progress).to_contain_text("plans tried", timeout=60_000)
    assert (tabs.bounding_box(), graph.bounding_box()) == before  # nothing moved under the pointer
    lab.shot(page, "search-running")
    lab.shot(page, "search-running-dark", "JupyterLab Dark")
    progress.get_by_role("button", name="Cancel").click()
    progress.wait_for(state="detached", timeout=30_000)
    steps = panel.get_by_role("list", name="Variants").locator(".wbk-stop-name")
    expect(steps).to_have_count(1)
    run_cell(page, 1)
    panel.locator(".wbk-title:visible", has_text="reinforce").wait_for(timeout=60_000)
    panel.get_by_role("button", name="Take steps").click()
    found = panel.get_by_role("status", name="The recipe that was found")
    expect(found).to_contain_text(re.compile(r"peak .* → .*time .* → "), timeout=90_000)
    still(page)
    lab.shot(page, "search-found")
    lab.shot(page, "search-found-dark", "JupyterLab Dark")
    found.get_by_role("button", name="Show its steps and their reasons").click()
    expect(found.get_by_role("button", name="Fold its steps")).to_be_visible()
    lab.shot(page, "search-found-steps")
    found.get_by_role("button", name="Close the card").click()
    expect(found).to_have_count(0)
    command(page, "workbench:tour")
    tour = panel.get_by_role("dialog")
    tour.press("ArrowRight")
    command(page, "docmanager:open", {"path": "looked-for.ipynb"})
    page.page.evaluate(RESTART)
    panel.get_by_text("was restarted and has not run the program").wait_for(timeout=60_000)
    expect(tour).to_contain_text("The Jupyter kernel that ran reinforce is gone")
    lab.shot(page, "tour-restarted")
    page.check()
