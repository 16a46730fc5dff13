"""Runs from the panel: the notebook stays free, curves grow, Cancel keeps what is finished, Python
has the result, and predictions the lengths of its episodes.
"""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.lab import IDLE, Lab, run_all, run_cell
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
    expect(steps).to_contain_text("all of them, until a run measures it")
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


FAILS = """\
import numpy as np
import workbench as wb

@wb.program
def solved(I=3000):
    i = wb.dim(i=I)
    s = wb.recurrent("s", (2, 2), over=i)
    s[0] = np.diag([1500.0, 1.0])
    s[i + 1] = s - np.diag([1.0, 0.0])
    x = wb.solve(s, np.ones(2))
    return {"x": x[..., 0], "trace": s[..., 0, 0]}

shown = wb.Workbench(solved())
shown
"""


def test_a_run_that_fails_says_why_and_how_far_it_came(lab: Lab) -> None:
    page = lab.open(lab.notebook("fails.ipynb", [FAILS]), 1500, 1000)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Run")
    panel.get_by_label("backend").select_option("numpy")
    panel.get_by_role("button", name="Run", exact=True).click()
    total = panel.locator(".wbk-total")
    expect(total).to_contain_text("1500 of 3000 iterations of i, then it ended")
    expect(panel.get_by_role("alert")).to_contain_text("i=1500")
    expect(panel.locator(".wbk-figure svg path")).not_to_have_count(0)
    expect(panel.locator(".wbk-run-view")).not_to_contain_text("In Python")
    lab.shot(page, "run-failed")
    page.check()


def test_a_run_goes_on_as_that_of_the_program_before_when_its_cell_is_run_anew(lab: Lab) -> None:
    anew = LONG.replace("T=20", "T=21")
    page = lab.open(lab.notebook("anew.ipynb", [LONG, anew, RESULT]), 1500, 1000)
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    run_cell(page, 0)
    panel = live(page)
    open_pane(panel, "Run")
    panel.get_by_label("backend").select_option("numpy")
    panel.get_by_role("button", name="Run", exact=True).click()
    total = panel.locator(".wbk-total")
    expect(total).to_contain_text(re.compile(r"\d\d+ of 2000 updates"))
    run_cell(page, 1)
    former = "as written, of the program before it was changed"
    expect(panel.locator(".wbk-results-head h4")).to_have_text(former)
    expect(panel.locator(".wbk-measure .wbk-note").first).to_contain_text(f"Running: {former}")
    expect(panel.locator(".wbk-figure svg path")).not_to_have_count(0)
    lab.shot(page, "run-former")
    panel.locator(".wbk-progress").get_by_role("button", name="Cancel").click()
    expect(total).to_contain_text("then stopped")
    expect(panel.locator(".wbk-results-head h4")).to_have_text(former)
    run_cell(page, 2)
    said = "nothing was run in this workbench since its program was changed"
    page.page.locator(".jp-OutputArea-output", has_text=said).first.wait_for()
    open_pane(panel, "Variants")
    expect(panel.locator(".wbk-badge").first).to_have_text("not run here")
    lab.shot(page, "run-former-stopped")
    page.check()
