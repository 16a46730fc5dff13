"""Programs of hundreds and thousands of statements: collapsed at first, opened scope by scope."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, run_all
from tests.browser.panel import live, still

SHOW = """\
import workbench as wb
from tests.session import example
program = example.reinforce({layers})
print(len(program.statements), "statements")
wb.Workbench(program);
"""


@pytest.mark.parametrize(
    ("layers", "statements"),
    [(15, 297), (56, 994), pytest.param(291, 4989, marks=pytest.mark.soundness)],
)
def test_a_large_program_is_collapsed_and_opens_scope_by_scope(
    lab: Lab, layers: int, statements: int
) -> None:
    page = lab.open(lab.notebook(f"{statements}.ipynb", [SHOW.format(layers=layers)]))
    run_all(page)
    page.page.locator(".jp-OutputArea-output", has_text=f"{statements} statements").wait_for()
    panel = live(page)
    still(page)
    before = panel.locator("g.node").count()
    assert before <= 150
    panel.get_by_label("Show the whole graph").click()
    closed = panel.locator('g.node[aria-label^="optimizer,"]')
    closed.dblclick()
    closed.wait_for(state="detached")
    inside = panel.locator('g.node[aria-label^="optimizer › "]')
    inside.first.wait_for()
    panel.locator("g.node:focus").wait_for()
    lab.shot(page, f"statements-{statements}")
    page.page.keyboard.press("c")
    closed.wait_for()
    expect(panel.locator("g.node")).to_have_count(before)
    page.check()
