"""What is given away: a report, and a link to what is shown, copied in one notebook and opened by
the address of another.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.lab import IDLE, Lab, Page
from tests.browser.panel import SHOW, live, open_pane, select, shows


def test_a_report_is_written_with_the_author_s_notes(lab: Lab, walk: Page, tmp_path: Path) -> None:
    panel = live(walk)
    shows(panel, "Vectorize")
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem", name="Report …").click()
    form = panel.get_by_role("dialog", name="Report")
    form.get_by_label("Your notes").fill("All walks at once.\n\nNext: their sums.")
    lab.shot(walk, "report-form")
    lab.shot(walk, "report-form-dark", "JupyterLab Dark")
    with walk.page.expect_download(timeout=60_000) as download:
        form.get_by_role("button", name="Write the report").click()
    path = tmp_path / str(download.value.suggested_filename)
    download.value.save_as(path)
    expect(panel.get_by_text("is being written")).to_have_count(0)
    walk.check()
    page = lab.open_file(path, width=1200)
    expect(page.page.get_by_text("All walks at once.")).to_be_visible()
    expect(page.page.locator("figure g.node.changed").first).to_be_visible()
    lab.shot(page, "report")
    page.check()


def test_a_link_opens_variant_pane_and_selection_in_a_fresh_notebook(lab: Lab, walk: Page) -> None:
    panel = live(walk)
    shows(panel, "Vectorize")
    select(panel, "gain")
    open_pane(panel, "Memory")
    walk.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem", name="Copy link to what is shown").click()
    panel.get_by_text("The link is in the clipboard").wait_for()
    found = urlsplit(walk.page.evaluate("() => navigator.clipboard.readText()"))
    assert found.path.startswith("/lab/tree/")
    assert found.path.endswith(".ipynb")
    walk.check()
    lab.tidy()

    name = lab.notebook("linked.ipynb", [SHOW])
    page = lab.open_alone(name, query=found.query)
    panel = page.page.locator("#workbench")
    panel.get_by_text("is open: it shows once a cell has traced walk").wait_for(timeout=60_000)
    lab.shot(page, "link-waits")
    lab.shot(page, "link-waits-dark", "JupyterLab Dark")
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    panel.get_by_role("button", name="Run the cells").click()
    shows(live(page), "Vectorize")
    panel.get_by_role("tab", name="Memory", selected=True).wait_for(timeout=60_000)
    panel.locator(".wbk-selected", has_text="gain").first.wait_for(timeout=60_000)
    expect(panel.get_by_text("is open: it shows once")).to_have_count(0)
    assert "workbench=" not in page.page.url  # reloading shows what was last looked at
    lab.shot(page, "link")
    page.check()
