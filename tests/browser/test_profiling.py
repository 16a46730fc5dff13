"""Profiles in the panel: made, refused and forced, cancelled, coloured, compared and exported."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.lab import Lab, command, run_all, run_cell
from tests.browser.panel import REINFORCE, SHOW, live, open_pane, saved_as, select, shows, still

STEPS = """\
shown.apply(wb.transforms.Vectorize("b"));
shown.profile(backend="numpy", sizes={"T": 4});
"""


def test_a_variant_is_profiled_and_its_time_is_shown_everywhere(lab: Lab, tmp_path: Path) -> None:
    page = lab.open(lab.notebook("profile.ipynb", [REINFORCE, "print('still here')"]), 1500, 1200)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Profile")
    panel.get_by_text("This variant is not profiled yet.").wait_for()
    lab.shot(page, "profile-empty")
    panel.get_by_label("backend").select_option("numpy")
    panel.get_by_role("button", name="Profile", exact=True).click()
    panel.locator(".wbk-progress").wait_for(timeout=30_000)
    run_cell(page, 1)  # the notebook can be used meanwhile
    page.page.locator(".jp-OutputArea-output", has_text="still here").first.wait_for()
    panel.locator(".wbk-progress").wait_for(state="detached", timeout=120_000)
    scopes = panel.get_by_role("list", name="Seconds by scope")
    for scope in ("acting", "learning", "environment", "(Python between)"):
        expect(scopes.get_by_text(scope, exact=True)).to_be_visible()
    panel.get_by_label("Colour by").select_option("profile")
    legend = panel.locator(".wbk-legend")
    expect(legend).to_contain_text("profiled on numpy, float32, B=4, I=2, T=5")
    still(page)
    lab.shot(page, "profile")
    lab.shot(page, "profile-dark", "JupyterLab Dark")
    select(panel, "worth")
    expect(panel.locator(".wbk-profile-rows tr.wbk-picked")).to_have_count(1)
    panel.locator(".wbk-profile-rows").scroll_into_view_if_needed()
    lab.shot(page, "profile-rows")

    command(page, "notebook:insert-cell-below")
    command(page, "notebook:replace-selection", {"text": STEPS})
    command(page, "notebook:run-cell")
    shows(panel, "Vectorize")
    expect(panel.locator(".wbk-results-head")).to_be_visible(timeout=120_000)
    panel.get_by_label("against").select_option(index=1)
    expect(panel.locator(".wbk-total")).to_contain_text(re.compile("as written, which ran at "))
    lab.shot(page, "profile-against")
    saved = lab.open_file(saved_as(panel, "Save as HTML page", tmp_path), width=1500, height=1200)
    open_pane(saved.page, "Profile")
    expect(saved.page.get_by_role("list", name="Seconds by scope")).to_be_visible()
    expect(saved.page.get_by_text("Saved results. Run the notebook")).to_be_visible()
    lab.shot(saved, "profile-page")
    saved.check()
    page.check()


def test_a_kernel_of_a_profile_leads_to_its_text(lab: Lab) -> None:
    page = lab.open(lab.notebook("kernels.ipynb", [REINFORCE]), 1500, 1200)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Profile")
    panel.get_by_label("backend").select_option("native")
    panel.get_by_role("button", name="Profile", exact=True).click()
    by = panel.get_by_role("group", name="Rows by")
    by.get_by_role("button", name="kernel", exact=True).click(timeout=120_000)
    panel.locator(".wbk-profile-rows").scroll_into_view_if_needed()
    still(page)
    lab.shot(page, "profile-kernels")
    lab.shot(page, "profile-kernels-dark", "JupyterLab Dark")
    panel.get_by_role("button", name="kernel text").first.click()
    expect(panel.get_by_role("combobox", name="Kernel")).to_have_value(re.compile("kernel_"))
    page.check()


def test_what_takes_too_long_is_profiled_when_told_to_and_can_be_cancelled(lab: Lab) -> None:
    page = lab.open(lab.notebook("long.ipynb", [SHOW]), 1500, 1000)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Profile")
    panel.get_by_label("backend").select_option("numpy")
    for size, value in (("B", "20000"), ("T", "400")):  # a minute or more a run
        panel.get_by_label(size, exact=True).fill(value)
        panel.get_by_label(size, exact=True).press("Enter")
    panel.get_by_role("button", name="Profile", exact=True).click()
    force = panel.get_by_role("button", name="Profile all the same")
    force.wait_for(timeout=120_000)
    lab.shot(page, "profile-refused")
    force.click()
    progress = panel.locator(".wbk-progress")
    progress.wait_for(timeout=30_000)
    lab.shot(page, "profile-running")
    progress.get_by_role("button", name="Cancel").click()
    progress.wait_for(state="detached", timeout=30_000)
    panel.get_by_text("This variant is not profiled yet.").wait_for()
    page.check()
