"""`wb.watch`: a template whose arguments are moved by controls, and its picture that follows."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.browser.lab import Lab, run_all
from tests.browser.panel import live, open_pane, still

WATCH = """\
import workbench as wb

@wb.program
def sums(T=4, powers=1, rate=0.5):
    (t,) = wb.dims(t=T)
    x = wb.uniform(over=t)
    if powers > 3:
        raise ValueError("three powers are enough")
    return {f"power_{n}": (rate * x**n).sum(over=t) for n in range(1, powers + 1)}

watched = wb.watch(sums)
watched
"""


def slide(page: Any, name: str, by: int) -> None:
    """Moves a slider with the keyboard, as a click on it would be another place each time."""
    label = page.get_by_text(name, exact=True)
    control = page.locator(".widget-slider").filter(has=label).locator(".noUi-handle")
    control.focus()
    for _ in range(abs(by)):
        control.press("ArrowRight" if by > 0 else "ArrowLeft")


def test_the_picture_follows_the_sliders_of_a_watched_template(lab: Lab) -> None:
    page = lab.open(lab.notebook("watch.ipynb", [WATCH]))
    run_all(page)
    panel = live(page)
    page.page.locator(".widget-slider").nth(2).wait_for(timeout=60_000)
    still(page)
    before = panel.locator("g.node").count()
    slide(page.page, "powers", 1)
    page.page.wait_for_function(
        "(count) => document.querySelectorAll('#workbench g.node').length > count",
        arg=before,
        timeout=60_000,
    )
    slide(page.page, "T", 1)
    open_pane(panel, "Details")
    panel.get_by_text("T = 5").wait_for(timeout=60_000)
    lab.shot(page, "watch")
    page.check()


def test_arguments_that_cannot_be_traced_keep_the_last_good_picture(lab: Lab) -> None:
    page = lab.open(lab.notebook("watch-wrong.ipynb", [WATCH.replace("powers=1", "powers=3")]))
    run_all(page)
    panel = live(page)
    page.page.locator(".widget-slider").nth(2).wait_for(timeout=60_000)
    still(page)
    before = panel.locator("g.node").count()
    slide(page.page, "powers", 1)
    banner = panel.get_by_role("alert")
    banner.get_by_text("three powers are enough").first.wait_for(timeout=60_000)
    expect(banner).to_contain_text(re.compile(r"sums of cell \d+ could not be traced"))
    expect(banner).to_contain_text(re.compile(r"cell \d+, line 8"))
    banner.get_by_role("button", name="Show line").wait_for()
    expect(panel.locator("g.node")).to_have_count(before)
    lab.shot(page, "watch-wrong")
    slide(page.page, "powers", -1)
    banner.wait_for(state="detached", timeout=60_000)
    page.check()
