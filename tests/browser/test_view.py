"""What the window shows of a picture: at first, after a scope opened, beside the pane."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, Page, gliding
from tests.browser.panel import still
from tests.browser.test_picture import box, drawn, saved
from tests.session import example

SIZES = """() => [...document.querySelectorAll(".wbk-viewport text")]
    .filter((e) => getComputedStyle(e).display !== "none")
    .map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)"""

TOO_WIDE = """() => [...document.querySelectorAll(".wbk-viewport g.node")].filter((node) => {
    const ground = node.querySelector("path").getBoundingClientRect();
    return [...node.querySelectorAll("text")].map((e) => e.getBoundingClientRect())
      .filter((text) => text.width > 0)
      .some((text) => text.left < ground.left || text.right > ground.right);
}).map((node) => node.textContent)"""

HIDDEN = """(chosen) => {
    const outer = document.querySelector(".wbk-graph").getBoundingClientRect();
    return [...document.querySelectorAll(chosen)].map((e) => e.getBoundingClientRect())
      .filter((e) => e.left < outer.left || e.right > outer.right ||
                     e.top < outer.top || e.bottom > outer.bottom).length;
}"""


def opened(lab: Lab, name: str, layers: int = 1, width: int = 1280) -> tuple[Page, Any]:
    page = saved(lab, name, example.reinforce(layers), width=width)
    view = drawn(page)
    still(page)  # the window gets its height after the first drawing
    return page, view


def scale(view: Any) -> float:
    """Of the picture, read from its transform."""
    text = view.locator(".wbk-viewport").get_attribute("transform")
    return float(text.split("scale(")[1].rstrip(")"))


@pytest.mark.parametrize(("layers", "width"), [(1, 1280), (14, 1280), (1, 1812)])
def test_names_can_be_read_at_first(lab: Lab, layers: int, width: int) -> None:
    page, view = opened(lab, f"first{layers}-{width}.ipynb", layers, width)
    assert min(view.evaluate(SIZES)) >= 9
    assert view.evaluate(TOO_WIDE) == []
    assert view.evaluate(HIDDEN, "g.node") == 0
    lab.shot(page, f"first{layers}-{width}")
    page.check()


def test_every_statement_can_be_read_when_all_is_open(lab: Lab) -> None:
    page, view = opened(lab, "all.ipynb", 14)
    view.get_by_text("Open all").click()
    view.get_by_text("Overview").wait_for()
    still(page)
    assert min(view.evaluate(SIZES)) >= 9
    shown = view.locator("g.node").count() - view.evaluate(HIDDEN, "g.node")
    assert shown >= 10
    lab.shot(page, "all")
    page.check()


@pytest.mark.parametrize("glides", [False, True])
def test_a_scope_opens_and_closes_where_it_is(lab: Lab, glides: bool) -> None:
    page, view = opened(lab, "anchor.ipynb")
    with gliding(page) if glides else nullcontext():
        opens_and_closes(lab, page, view)
    page.check()


def opens_and_closes(lab: Lab, page: Page, view: Any) -> None:
    before, closed = scale(view), box(view, "optimizer")
    was = closed.bounding_box()
    closed.dblclick()
    closed.wait_for(state="detached")
    still(page)
    ground = view.locator("g.cluster:not(.wbk-scope-name)").filter(has_text="optimizer").first
    place = ground.locator("path").first.bounding_box()
    assert scale(view) == pytest.approx(before)
    outer = view.locator(".wbk-graph").bounding_box()
    assert outer["y"] <= place["y"] <= was["y"] + 5  # moved only as far as it did not fit
    assert outer["x"] <= place["x"] < place["x"] + place["width"] <= outer["x"] + outer["width"]
    focused = view.locator("g.node:focus")
    expect(focused).to_have_attribute("aria-label", re.compile("^optimizer › "))
    lab.shot(page, "anchor")
    view.keyboard.press("c")
    closed.wait_for()
    still(page)
    assert scale(view) == pytest.approx(before)
    assert view.evaluate(HIDDEN, "g.node") == 0
    expect(focused).to_have_attribute("aria-label", "optimizer, closed scope")


def test_the_wheel_scrolls_the_page_unless_control_is_held(lab: Lab) -> None:
    page, view = opened(lab, "wheel.ipynb")
    statement = box(view, "to_go[b, i, t]")
    statement.click()
    still(page)
    before = scale(view)
    view.mouse.wheel(0, 120)
    still(page)
    assert scale(view) == before
    statement.hover()
    view.keyboard.down("Control")
    view.mouse.wheel(0, -120)
    view.keyboard.up("Control")
    still(page)
    assert scale(view) > before
    expect(view.locator(".wbk-keys")).to_contain_text("Double click opens a scope")
    page.check()


def test_the_pane_hides_neither_the_selection_nor_matches(lab: Lab) -> None:
    page, view = opened(lab, "beside.ipynb")
    box(view, "gain[b, i, t]").click()
    still(page)
    assert view.evaluate(HIDDEN, ".wbk-selected") == 0
    for _ in range(2):
        view.get_by_label("Zoom in").click()
    view.get_by_label("Search statements").fill("per_environment")
    expect(view.locator(".wbk-match")).to_have_count(2)
    still(page)
    assert view.evaluate(HIDDEN, ".wbk-match") == 0
    assert min(view.evaluate(SIZES)) >= 9
    lab.shot(page, "beside")
    page.check()


def test_long_equations_stay_in_the_pane(lab: Lab) -> None:
    page, view = opened(lab, "hanging.ipynb")
    box(view, "to_go[b, i, t]").click()
    pane = view.locator(".wbk-side")
    assert pane.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.check()


def test_every_tool_can_be_seen_beside_the_notebook_and_the_file_browser(lab: Lab) -> None:
    page, view = opened(lab, "between.ipynb", width=900)
    view.locator(".wbk-root").evaluate("e => { e.style.width = '280px' }")
    tools = view.locator(".wbk-tools")
    expect(tools).to_have_css("flex-wrap", "wrap")
    assert tools.evaluate("e => e.scrollWidth <= e.clientWidth")
    right = tools.bounding_box()["x"] + tools.bounding_box()["width"]
    for tool in tools.locator("button, select, input").all():
        place = tool.bounding_box()
        assert place["x"] + place["width"] <= right
    assert tools.locator("input").bounding_box()["width"] > 200
    assert tools.bounding_box()["height"] < 75  # two rows
    lab.shot(page, "between")
    page.check()


def test_tools_and_legend_take_a_row_each_in_a_narrow_place(lab: Lab) -> None:
    page, view = opened(lab, "narrow.ipynb", width=800)
    assert view.locator(".wbk-root").bounding_box()["width"] < 480
    tools, legend = view.locator(".wbk-tools"), view.locator(".wbk-legend")
    assert tools.bounding_box()["height"] < 40
    assert tools.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert legend.bounding_box()["height"] < 30
    legend.get_by_role("button", name="More").click()
    bottom = legend.bounding_box()["y"] + legend.bounding_box()["height"]
    last = legend.locator(".wbk-entry").last.bounding_box()
    assert last["y"] + last["height"] <= bottom
    lab.shot(page, "narrow")
    page.check()
