"""The schedule played in the panel: by keys and by itself, beside another variant, in a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.lab import Lab, run_all
from tests.browser.panel import SHOW, live, open_pane, saved_as, select, shows

STEPS = """\
folded = shown.apply(wb.transforms.Vectorize("b")).apply(wb.transforms.Contract())
"""
LARGE = """\
import workbench as wb

@wb.program
def leaky(B=4, T=5):
    b, t = wb.dims(b=B, t=T)
    x = wb.normal(over=(b, t))
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = wb.uniform(over=b)
    s[b, t + 1] = 0.5 * s + x
    return {"s": s}

wb.Workbench(leaky())
"""
EVENTS = """() => new Promise((done) => {
  const slider = document.querySelector("#workbench .wbk-player input[type=range]");
  const [start, from] = [performance.now(), Number(slider.value)];
  setTimeout(() => done((Number(slider.value) - from) * 1000 / (performance.now() - start)), 3000);
})"""


def position(panel: Any) -> Any:
    return panel.get_by_role("slider", name="Event", exact=True)


def test_the_schedule_is_played_stepped_and_compared(lab: Lab, tmp_path: Path) -> None:
    page = lab.open(lab.notebook("play.ipynb", [SHOW, STEPS]), 1500, 1000)
    run_all(page)
    panel = live(page)
    shows(panel, "folded")
    select(panel, "gain")
    open_pane(panel, "Details")
    panel.get_by_role("button", name="Play it at small sizes").click()
    player = panel.locator(".wbk-player")
    player.wait_for(timeout=60_000)
    expect(player).to_contain_text("Nothing has run yet.")
    place = panel.get_by_role("group", name="place", exact=True)
    expect(place).to_contain_text("t: 2 of 4")
    lab.shot(page, "play-start")

    player.focus()
    for _ in range(6):
        page.page.keyboard.press("ArrowRight")
    expect(position(panel)).to_have_value("6")
    lab.shot(page, "play-stepped")
    lab.shot(page, "play-stepped-dark", "JupyterLab Dark")
    page.page.keyboard.press("Home")
    page.page.keyboard.press("Space")
    expect(panel.get_by_role("button", name="Pause")).to_be_visible()
    page.page.keyboard.press("Space")
    expect(panel.get_by_role("button", name="Play", exact=True)).to_be_visible()
    panel.get_by_label("speed").select_option("60")
    panel.get_by_role("button", name="Play", exact=True).click()
    expect(player).to_contain_text(re.compile(r"\b(\d+) of \1(?!\d)"), timeout=60_000)

    open_pane(panel, "Variants")
    panel.get_by_label("More for as written").click()
    panel.get_by_role("menuitem", name="Play its schedule beside the shown one").click()
    sides = panel.locator(".wbk-play-side")
    expect(sides).to_have_count(2, timeout=60_000)
    panel.get_by_role("button", name="Next gain").click()
    lab.shot(page, "play-beside")

    saved = lab.open_file(saved_as(panel, "Save as HTML page", tmp_path), width=1500, height=1000)
    open_pane(saved.page, "Play")
    saved.page.locator(".wbk-play").get_by_label("beside").select_option(label="as written")
    expect(saved.page.locator(".wbk-play-side")).to_have_count(2)
    saved.page.get_by_role("button", name="One event on").click()
    lab.shot(saved, "play-page")
    saved.check()
    page.check()


def test_two_thousand_instances_are_played_as_fast_as_asked(lab: Lab) -> None:
    page = lab.open(lab.notebook("played.ipynb", [LARGE]), 1400, 900)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Play")
    panel.locator(".wbk-player").wait_for(timeout=60_000)
    _set(panel, "T", "24")
    _set(panel, "B", "40")
    circles = panel.locator("circle[data-instance]")
    expect(circles).to_have_count(40 * 24 * 2 + 40, timeout=60_000)
    panel.get_by_label("speed").select_option("60")
    panel.get_by_role("button", name="Play", exact=True).click()
    assert 45 < page.page.evaluate(EVENTS) < 75  # a second, of 60
    lab.shot(page, "play-large")
    page.check()


def test_sizes_that_are_too_large_are_told_and_smaller_ones_played(lab: Lab) -> None:
    page = lab.open(lab.notebook("too-large.ipynb", [LARGE]), 1280, 900)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Play")
    panel.locator(".wbk-player").wait_for(timeout=60_000)
    _set(panel, "T", "3000")
    told = panel.get_by_role("alert")
    expect(told).to_contain_text("T=3000 is too large, T=375 can be played")
    lab.shot(page, "play-too-large")
    lab.shot(page, "play-too-large-dark", "JupyterLab Dark")
    told.get_by_role("button", name="Play at B=3, T=375").click()
    only = panel.get_by_text("T=375 is too large, T=187 can be played")
    expect(only).to_be_visible()
    lab.shot(page, "play-a-part")
    panel.get_by_role("button", name="Play all of it at B=3, T=187").click()
    expect(only).to_have_count(0)
    expect(panel.get_by_text("at B=3, T=187")).to_be_visible()
    page.check()


def _set(panel: Any, size: str, value: str) -> None:
    panel.locator(".wbk-small-sizes").get_by_label(f"{size} =").fill(value)
