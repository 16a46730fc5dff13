"""The text of a variant beside its graph, within JupyterLab, which has rules for every editor."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.lab import Lab, Page, run_all, until
from tests.browser.panel import SHOW, STEP, live, open_pane, select, shows

IN_SIGHT = """(lines) => lines.filter((line) => {
  const [own, editor] = [line, line.closest(".wbk-editor")].map((e) => e.getBoundingClientRect());
  return own.top >= editor.top && own.bottom <= editor.bottom;
}).length"""
ROOM = "(e) => [e.clientHeight, e.scrollHeight]"


def shown(lab: Lab, name: str) -> tuple[Page, Any]:
    page = lab.open(lab.notebook(name, [SHOW, STEP]), height=720)
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    return page, panel


@pytest.mark.parametrize("level", ["Equations", "Order", "Loops", "Source"])
def test_the_text_opens_at_the_selected_statement(lab: Lab, level: str) -> None:
    page, panel = shown(lab, f"code-{level.lower()}.ipynb")
    select(panel, "surrogate")
    open_pane(panel, "Code")
    panel.get_by_role("button", name=level, exact=True).click()
    lines = panel.locator(".wbk-own-line", has_text="surrogate")
    lines.first.wait_for(state="attached", timeout=60_000)
    page.page.screenshot(path=lab.shots / f"code-{level.lower()}.png")
    until(page, lambda: lines.evaluate_all(IN_SIGHT) > 0)  # memory may be prepared far above
    height, all_of_it = panel.locator(".wbk-editor .cm-scroller").evaluate(ROOM)
    assert height < all_of_it  # it has a window of its own
    page.check()


def test_a_line_that_is_clicked_selects_its_statement(lab: Lab) -> None:
    page, panel = shown(lab, "code-line.ipynb")
    select(panel, "surrogate")
    open_pane(panel, "Code")
    panel.get_by_role("button", name="Equations", exact=True).click()
    line = panel.locator(".wbk-editor .cm-line", has_text=re.compile(r"^\s*worth\["))
    line.click(timeout=60_000)
    panel.locator('g.node.wbk-selected[aria-label^="worth["]').wait_for(timeout=20_000)
    panel.locator(".wbk-own-line", has_text="worth[").wait_for()
    page.check()
