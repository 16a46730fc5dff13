"""The memory task: which array holds the most, reduce it, prove the result unchanged, export it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.lab import Lab, run_all
from tests.browser.panel import live, shows

SHOW = """\
import workbench as wb
from workbench.algorithms.reinforce import reinforce
shown = wb.Workbench(reinforce(B=16, I=2, T=50))
shown.apply(wb.transforms.Vectorize("b"))
shown
"""


def test_the_largest_array_is_reduced_proven_and_exported_in_six_clicks(
    lab: Lab, tmp_path: Path
) -> None:
    page = lab.open(lab.notebook("memory.ipynb", [SHOW]), width=1280, height=800)
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    clicks = 0

    def click(what: Any) -> None:
        nonlocal clicks
        what.click()
        clicks += 1

    click(panel.get_by_role("tab", name="Memory"))
    rows = panel.locator(".wbk-buffers tbody tr")
    rows.first.wait_for(timeout=60_000)
    lab.shot(page, "memory-first")
    for place in range(3):
        expect(rows.nth(place)).to_be_in_viewport()  # which array: without scrolling
    largest = rows.filter(has=page.page.get_by_role("button", name="Reduce")).first
    largest.hover()
    panel.locator(".node.wbk-pointed").first.wait_for(timeout=10_000)
    lab.shot(page, "memory")
    name = largest.locator(".wbk-buffer-name button").get_attribute("title")
    click(largest.get_by_role("button", name="Reduce"))

    reduce = panel.get_by_role("region", name=f"Reduce {name}")
    best = reduce.locator(".wbk-reduce-row").first
    expect(best.locator(".wbk-array-price")).to_contain_text("→ ")
    expect(reduce.locator("h4")).to_be_in_viewport()
    for place in range(2):
        expect(reduce.locator(".wbk-reduce-row").nth(place)).to_be_in_viewport(ratio=1)
    lab.shot(page, "reduce")
    click(best.get_by_role("button", name="Apply"))
    reduce.wait_for(state="detached", timeout=60_000)
    expect(panel.locator(".wbk-peak-said")).to_contain_text("before the last step")
    lab.shot(page, "reduced")

    click(panel.get_by_role("button", name="Check that it is unchanged"))
    verdict = panel.locator(".wbk-verdict")  # told where it was asked
    expect(verdict).to_contain_text("Every result is unchanged ✓ checked", timeout=180_000)
    panel.locator(".wbk-progress").wait_for(state="detached", timeout=120_000)
    expect(verdict).to_contain_text("measured in turn")
    expect(verdict).to_be_in_viewport()
    lab.shot(page, "unchanged")

    click(panel.get_by_role("button", name="Save"))
    with page.page.expect_download(timeout=120_000) as download:
        click(panel.get_by_role("menuitem", name="HTML page"))
    assert clicks == 6
    path = tmp_path / "memory.html"
    download.value.save_as(path)
    page.check()

    exported = lab.open_file(path)
    exported.page.get_by_role("tab", name="Memory").click()
    exported.page.locator(".wbk-band").first.wait_for(timeout=60_000)
    exported.page.get_by_role("button", name="Reduce").first.click()
    expect(exported.page.locator(".wbk-reduce h4")).to_contain_text("Reduce")
    lab.shot(exported, "memory-exported")
    exported.check()
