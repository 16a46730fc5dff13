"""The keyboard: keys that JupyterLab gets from the panel, and the focus that stays in it; and chips
that stand side by side after a step that gives a statement many of them.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, Page, command, run_all, theme
from tests.browser.panel import live, open_pane, select, shows, still

PERSIST = """\
import workbench as wb
from workbench.algorithms.reinforce import reinforce
shown = wb.Workbench(reinforce(B=64, I=5, T=200))
shown.apply(wb.transforms.Persist('b', 8))
shown
"""
SIDE_OPEN = "() => !document.querySelector('#jp-left-stack').classList.contains('lm-mod-hidden')"
FOCUS = "() => document.activeElement?.closest('.wbk-root') !== null"
COLLIDE = """() => {
  const bad = [];
  for (const row of document.querySelectorAll(".wbk-viewport .wbk-chips")) {
    const chips = [...row.querySelectorAll(".wbk-dim-chip")];
    const at = chips.map((e) => e.querySelector("path").getBoundingClientRect());
    const texts = chips.map((e) => e.querySelector("text").getBoundingClientRect());
    at.forEach((place, i) => {
      if (i && place.left < at[i - 1].right) bad.push(chips[i].textContent);
      const { left, right } = texts[i];
      if (left < place.left || right > place.right) bad.push(chips[i].textContent);
    });
  }
  return bad;
}"""


def test_jupyterlab_gets_its_own_keys_from_the_panel(walk: Page) -> None:
    panel, page = live(walk), walk.page
    panel.locator("g.node").first.click()
    before = page.evaluate(SIDE_OPEN)
    page.keyboard.press("Control+b")
    page.wait_for_function(f"(was) => ({SIDE_OPEN})() !== was", arg=before)
    panel.locator("g.node").first.click()
    page.keyboard.press("Control+b")
    page.wait_for_function(f"(was) => ({SIDE_OPEN})() === was", arg=before)
    panel.locator("g.node").first.click()
    page.keyboard.press("Control+Shift+C")
    palette = page.locator(".lm-CommandPalette-input:visible")
    palette.wait_for()
    page.keyboard.press("Escape")
    walk.check()


def test_the_focus_comes_with_the_tab_and_stays_in_the_panel(walk: Page) -> None:
    panel, page = live(walk), walk.page
    command(walk, "docmanager:open", {"path": "walk.ipynb"})
    page.evaluate("() => document.activeElement?.blur()")
    page.evaluate("() => window.jupyterapp.shell.activateById('workbench')")
    page.wait_for_function(FOCUS)
    page.keyboard.press("/")
    expect(panel.get_by_label("Search statements")).to_be_focused()
    open_pane(panel, "Moves")
    close = panel.get_by_role("button", name="Close the pane")
    close.focus()
    page.keyboard.press("Enter")
    expect(close).to_have_count(0)
    page.wait_for_function(FOCUS)
    page.keyboard.press("/")
    expect(panel.get_by_label("Search statements")).to_be_focused()
    open_pane(panel, "Moves")
    walk.check()


def test_from_the_tabs_one_goes_on_to_what_is_in_the_pane(walk: Page) -> None:
    panel, page = live(walk), walk.page
    open_pane(panel, "Moves")
    panel.get_by_role("tab", name="Moves").focus()
    page.keyboard.press("Tab")
    inside = "() => document.activeElement.closest('[role=tabpanel]') !== null"
    assert page.evaluate(inside)
    walk.check()


def test_the_menu_of_a_variant_is_gone_through_by_keys(walk: Page, lab: Lab) -> None:
    panel, page = live(walk), walk.page
    open_pane(panel, "Variants")
    more = panel.get_by_label("More for Vectorize('b')")
    more.focus()
    page.keyboard.press("ArrowDown")
    items = panel.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    page.keyboard.press("Home")
    expect(items.first).to_be_focused()
    page.keyboard.press("End")
    expect(items.last).to_be_focused()
    lab.shot(walk, "variant-menu")
    lab.shot(walk, "variant-menu-dark", "JupyterLab Dark")
    page.keyboard.press("Escape")
    expect(items).to_have_count(0)
    expect(more).to_be_focused()
    more.click()
    expect(items.first).to_be_visible()
    panel.get_by_label("More for as written").click()  # one shuts as the other opens
    expect(panel.get_by_role("menu")).to_have_count(1)
    page.keyboard.press("Escape")
    open_pane(panel, "Moves")
    walk.check()


def test_chips_stand_side_by_side(lab: Lab) -> None:
    page = lab.open(lab.notebook("chips.ipynb", [PERSIST]), 1600, 1000)
    run_all(page)
    panel = live(page)
    shows(panel, "Persist")
    still(page)
    assert page.page.evaluate(COLLIDE) == []
    lab.shot(page, "chips")
    lab.shot(page, "chips-dark", "JupyterLab Dark")
    select(panel, "worth")
    panel.get_by_role("button", name="Fit: show the whole graph").click()
    still(page)
    assert page.page.evaluate(COLLIDE) == []
    lab.shot(page, "chips-fitted")
    for _ in range(3):
        panel.get_by_role("button", name="Zoom in").click()
    still(page)
    assert page.page.evaluate(COLLIDE) == []
    lab.shot(page, "chips-near")
    page.check()


def test_a_press_on_the_label_of_a_size_goes_to_its_field(walk: Page) -> None:
    panel = live(walk)
    open_pane(panel, "Compare")
    for name in ("T", "B"):
        panel.locator(".wbk-measure .wbk-sizes .wbk-field > span").get_by_text(
            name, exact=True
        ).click()
        expect(panel.locator(".wbk-measure").get_by_label(name, exact=True)).to_be_focused()
    open_pane(panel, "Moves")
    walk.check()


DIM = """() => {
  const view = document.querySelector(".wbk-viewport .wbk-dim text");
  const [back, fill] = [getComputedStyle(document.querySelector(".wbk-graph")).backgroundColor,
                        getComputedStyle(view).fill].map((c) => c.match(/[0-9.]+/g).map(Number));
  const alpha = (fill[3] ?? 1) * Number(getComputedStyle(view).fillOpacity);
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const drawn = [0, 1, 2].map((i) => back[i] + (fill[i] - back[i]) * alpha);
  const [one, other] = [light(drawn), light(back)].sort((a, b) => b - a);
  return (one + 0.05) / (other + 0.05);
}"""


@pytest.mark.parametrize("colours", ["JupyterLab Light", "JupyterLab Dark"])
def test_what_stands_back_can_still_be_read(walk: Page, lab: Lab, colours: str) -> None:
    panel = live(walk)
    panel.locator("g.node").first.click()
    with theme(walk, colours):
        assert walk.page.evaluate(DIM) >= 3
        lab.shot(walk, f"dim-{colours[11:].lower()}")
    walk.check()
