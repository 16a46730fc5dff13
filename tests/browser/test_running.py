"""Runs from the panel: the notebook stays free, curves grow, Cancel keeps what is finished, Python
has the result, and predictions the lengths of its episodes.
"""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.lab import Lab, run_all, run_cell
from tests.browser.panel import live, open_pane, saved_as

LONG = """\
import workbench as wb
from workbench.algorithms.reinforce import reinforce
shown = wb.Workbench(reinforce(B=8, I=2000, T=20, ends=True))
shown
"""

RESULT = """\
try:
    r = shown.result
    print("stopped:", r.interrupted, len(r["loss"]) == r.completed > 0)
except Exception as error:
    print(error)
"""


def test_a_run_shows_its_curve_is_stopped_and_is_in_python(lab: Lab, tmp_path: Path) -> None:
    page = lab.open(lab.notebook("run.ipynb", [LONG, "print('still here')", RESULT]), 1500, 1000)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Run")
    panel.get_by_text("This variant has not been run here yet.").wait_for()
    steps = panel.locator(".wbk-field", has_text="steps of an episode along t")
    expect(steps).to_contain_text("all of them: nothing was run yet")
    lab.shot(page, "run-empty")
    panel.get_by_label("backend").select_option("numpy")
    panel.get_by_role("button", name="Run", exact=True).click()
    progress = panel.locator(".wbk-progress")
    expect(progress).to_contain_text(re.compile(r"running as written.* of 2000 updates"))
    run_cell(page, 1)  # the notebook can be used meanwhile
    page.page.locator(".jp-OutputArea-output", has_text="still here").first.wait_for()
    total = panel.locator(".wbk-total")
    expect(total).to_contain_text(re.compile(r"return per episode · \d\d+ of 2000 updates"))
    expect(panel.locator(".wbk-figure svg path")).not_to_have_count(0)
    lab.shot(page, "run")
    lab.shot(page, "run-dark", "JupyterLab Dark")
    progress.get_by_role("button", name="Cancel").click()
    progress.wait_for(state="detached", timeout=10_000)
    expect(total).to_contain_text("then stopped")
    expect(steps).to_contain_text("measured by the last run")
    whole = steps.get_by_role("spinbutton").get_attribute("placeholder") or ""
    assert 8 < float(whole) < 20
    steps.get_by_role("spinbutton").fill("2")
    steps.get_by_role("spinbutton").press("Enter")
    expect(steps).to_contain_text(f"expected; {whole} in the last run")
    lab.shot(page, "run-lengths")
    steps.get_by_role("spinbutton").fill("")
    steps.get_by_role("spinbutton").press("Enter")
    expect(steps).to_contain_text("measured by the last run")
    run_cell(page, 2)
    page.page.locator(".jp-OutputArea-output", has_text="stopped: True True").first.wait_for()

    saved = lab.open_file(saved_as(panel, "Save as HTML page", tmp_path), width=1500, height=1000)
    open_pane(saved.page, "Run")
    expect(saved.page.locator(".wbk-total")).to_contain_text("then stopped")
    lab.shot(saved, "run-page")
    saved.check()
    page.check()
