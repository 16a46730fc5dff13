"""The text of a variant beside its graph, within JupyterLab, which has rules for every editor."""

from __future__ import annotations

import re
from typing import Any

from tests.browser.lab import Lab, Page, until
from tests.browser.panel import live, open_pane, select

IN_SIGHT = """(lines) => lines.filter((line) => {
  const [own, editor] = [line, line.closest(".wbk-editor")].map((e) => e.getBoundingClientRect());
  return own.top >= editor.top && own.bottom <= editor.bottom;
}).length"""
FITS = "(e) => e.scrollWidth <= e.clientWidth"
ROOM = "(e) => [e.clientHeight, e.scrollHeight]"


def comes_into_sight(page: Page, lines: Any) -> None:
    """One of them at least: memory may be prepared far above."""
    lines.first.wait_for(state="attached", timeout=60_000)
    until(page, lambda: bool(lines.evaluate_all(IN_SIGHT)))


def test_the_text_opens_at_the_selected_statement_on_every_level(
    lab: Lab, reinforced: Page
) -> None:
    panel = live(reinforced)
    select(panel, "surrogate")
    for level in ("Equations", "Order", "Loops", "Python", "C", "CUDA"):
        open_pane(panel, "Code")
        panel.get_by_role("button", name=level, exact=True).click()
        comes_into_sight(reinforced, panel.locator(".wbk-own-line", has_text="surrogate"))
        lab.shot(reinforced, f"code-{level.lower()}")
        height, all_of_it = panel.locator(".wbk-editor .cm-scroller").evaluate(ROOM)
        assert height < all_of_it  # it has a window of its own
        open_pane(panel, "Details")
    reinforced.check()


def test_a_kernels_statement_and_a_line_of_it_select(lab: Lab, reinforced: Page) -> None:
    panel = live(reinforced)
    open_pane(panel, "Code")
    panel.get_by_role("button", name="C", exact=True).click()
    kernel, text = panel.get_by_role("combobox", name="Kernel"), panel.locator(".wbk-kernel-text")
    kernel.select_option(label="kernel_surrogate", timeout=60_000)
    facts = panel.get_by_role("region", name="A launch of the kernel")
    facts.get_by_text("FLOP a launch").wait_for()
    facts.get_by_role("button", name="surrogate").click()
    comes_into_sight(reinforced, text.locator(".wbk-own-line", has_text="statement: surrogate"))
    kernel.select_option(label="kernel_worth")
    line = text.locator(".cm-line", has_text="statement: worth")
    line.click(timeout=60_000)
    panel.locator('g.node.wbk-selected[aria-label^="worth["]').wait_for(timeout=20_000)
    text.locator(".wbk-own-line", has_text="statement: worth").wait_for()
    assert panel.locator(".wbk-kernel-place").evaluate(FITS)
    lab.shot(reinforced, "code-kernel-dark", "JupyterLab Dark")
    reinforced.check()


def test_a_line_that_is_clicked_selects_its_statement(reinforced: Page) -> None:
    panel = live(reinforced)
    select(panel, "surrogate")
    open_pane(panel, "Code")
    panel.get_by_role("button", name="Equations", exact=True).click()
    line = panel.locator(".wbk-editor .cm-line", has_text=re.compile(r"^\s*worth\["))
    line.click(timeout=60_000)
    panel.locator('g.node.wbk-selected[aria-label^="worth["]').wait_for(timeout=20_000)
    panel.locator(".wbk-own-line", has_text="worth[").wait_for()
    reinforced.check()
