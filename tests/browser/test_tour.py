"""The tour, from an empty notebook to an exported page; a question of a teacher, in few clicks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.lab import Lab, Page, command, run_all, run_cell
from tests.browser.panel import SHOW, live, saved_as, still

STOPS = (
    "graph", "statement", "levels", "legal", "illegal",
    "play", "apply", "memory", "measure", "share",
)  # fmt: skip
SIZES = ((390, 844), (1000, 800), (1600, 900))
APART = """(card) => {
  const ring = card.closest(".wbk-root")?.querySelector(".wbk-tour-ring");
  if (!ring) return false;
  const [one, other] = [card, ring].map((e) => e.getBoundingClientRect());
  const isApart = other.bottom <= one.top + 3 || one.bottom <= other.top + 3;
  return isApart && other.width > 20 && other.height > 10;
}"""
CLOSE = """() => {
  const notebook = [...window.jupyterapp.shell.widgets("main")].find((one) => one.context?.model);
  notebook.context.model.dirty = false;  // else it is asked whether to save
  notebook.close();
}"""
MOST_CLICKS = 6
REINFORCE = """\
import workbench as wb
from workbench import nn, optim

@wb.program
def reinforce(B=4, I=6, T=5, gamma=0.9):
    b, i, t = wb.dims(b=B, i=I, t=T)
    network = nn.mlp("policy", 1, (), 2)
    theta = nn.parameters(network, over=i)
    state = wb.recurrent("state", (1,), over=(b, i, t))
    policy = wb.Categorical(logits=network(theta, state))
    action = policy.sample()
    state[b, i, 0] = wb.uniform(over=(b, i), shape=(1,))
    state[b, i, t + 1] = state + 0.1 * (2.0 * action - 1.0)
    gain = -(state * state).sum(axis=0)
    to_go = wb.discounted_sum(gain[b, i, t:T], gamma)
    worth = policy.log_probability(action) * wb.stop_gradient(to_go)
    loss = -worth.sum(over=t).mean(over=b)
    theta.update(optim.sgd(wb.gradient(loss, theta), 0.1))
    return {"loss": loss, "episode_return": gain.sum(over=t).mean(over=b)}

wb.Workbench(reinforce())
"""


@dataclass
class Clicks:
    """Clicks of a reader, counted."""

    count: int = 0

    def on(self, target: Any) -> None:
        """One more."""
        target.click()
        self.count += 1


def test_why_t_is_illegal_for_state_and_legal_for_to_go_and_what_it_buys(lab: Lab) -> None:
    page = lab.open(lab.notebook("teacher.ipynb", [REINFORCE]), 1440, 900)
    run_all(page)
    panel = live(page)
    still(page)
    clicks = Clicks()
    clicks.on(panel.locator('g.node[aria-label^="state[b, i, t + 1]"]'))
    own = panel.locator("section[aria-label='For state[t+1]']")
    clicks.on(own.locator(".wbk-refused-move", has_text="Vectorize t").first)
    panel.locator(".wbk-letter").first.wait_for(timeout=60_000)
    lab.shot(page, "teacher-illegal")
    sees(panel, re.compile("reads it, but would run at once with A"))
    clicks.on(panel.locator('g.node[aria-label^="to_go["]'))
    clicks.on(panel.get_by_role("button", name="Vectorize t of to_go"))
    sees(panel, re.compile(r"Vectorize\('t', .*\) is refused: .*state\[t\+1\]"))
    sees(panel, "no to_go reads another along t; all read gain, which is complete before")
    sees(panel, "Estimated at B=4, I=6, T=5")
    gain = panel.locator(".wbk-gain")
    expect(gain).to_contain_text(re.compile(r"time [÷×−+]"))
    expect(gain).to_be_in_viewport(ratio=0.9)
    lab.shot(page, "teacher-legal")
    lab.shot(page, "teacher-legal-dark", "JupyterLab Dark")
    clicks.on(panel.get_by_role("button", name="Apply it and open Compare"))
    clicks.on(panel.get_by_role("button", name="Measure 2 variants"))
    panel.locator(".wbk-table tbody tr").nth(1).wait_for(timeout=120_000)
    expect(panel.locator(".wbk-table tbody tr")).to_have_count(2)
    lab.shot(page, "teacher-measured")
    assert clicks.count <= MOST_CLICKS
    page.check()


def sees(panel: Any, text: str | re.Pattern[str]) -> None:
    """What is said is on the screen, without scrolling."""
    expect(panel.get_by_text(text).first).to_be_in_viewport(ratio=0.9)


def test_the_tour_goes_from_an_empty_notebook_to_a_page(lab: Lab, tmp_path: Path) -> None:
    page = lab.open(lab.notebook("begins.ipynb", ["print('first')"]), 1500, 900)
    command(page, "workbench:open")
    panel = page.page.locator("#workbench")
    panel.get_by_role("button", name="Insert this cell").click(timeout=60_000)
    expect(page.page.locator(".jp-CodeCell")).to_have_count(2)
    lab.shot(page, "tour-0-inserted")
    panel.get_by_role("button", name="Run this cell").click()
    live(page)
    start = panel.get_by_role("button", name="Tour", exact=True)
    start.click()
    tour = panel.get_by_role("dialog")
    for stop in STOPS:
        _is_at(page, panel, stop)
        if stop == "illegal":
            expect(tour).to_contain_text("A, state[t+1] at b=0, t=0, writes what B reads")
            lab.shot(page, "tour-illegal-dark", "JupyterLab Dark")
        lab.shot(page, f"tour-{stop}")
        if stop == "apply":
            panel.get_by_role("button", name="Apply", exact=True).click()
            expect(tour).to_contain_text("is taken")
            _points(page, panel, stop)
            lab.shot(page, "tour-applied")
        if stop == "memory":
            tour.focus()
            page.page.keyboard.press("Escape")
            expect(tour).to_have_count(0)
            expect(start).to_be_focused()
            page.page.keyboard.press("Enter")
            _is_at(page, panel, stop)
        expect(tour).to_contain_text(f"{STOPS.index(stop) + 1} of {len(STOPS)}")
        tour.press("ArrowRight")
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    saved = saved_as(panel, "Save as HTML page", tmp_path)
    _the_program_vanishes(lab, page, panel)
    page.check()
    _a_page_has_it_too(lab, saved)


def _is_at(page: Page, panel: Any, stop: str) -> None:
    """The card of the stop is there, and has the focus."""
    _points(page, panel, stop)
    expect(panel.locator(".wbk-tour")).to_be_focused()


def _points(page: Page, panel: Any, stop: str) -> None:
    """The card of the stop does not cover what is outlined."""
    card = panel.locator(f'.wbk-tour[data-tour="{stop}"]')
    card.wait_for(timeout=60_000)
    ring = panel.locator(".wbk-tour-ring")
    expect(ring).to_be_visible()
    page.page.wait_for_function(APART, arg=card.element_handle())  # it follows what moves


def _the_program_vanishes(lab: Lab, page: Page, panel: Any) -> None:
    """The tour says so when a cell shows another program, and goes on with that."""
    command(page, "workbench:tour")
    _is_at(page, panel, "graph")
    tour = panel.get_by_role("dialog")
    tour.press("ArrowRight")
    _is_at(page, panel, "statement")
    page.page.evaluate(
        "(source) => window.jupyterapp.shell.widgets('main').next().value.content.widgets[1]"
        ".model.sharedModel.setSource(source)",
        SHOW,
    )
    run_cell(page, 1)
    expect(tour).to_contain_text("walk was written anew")
    lab.shot(page, "tour-gone")
    tour.get_by_role("button", name="Go on").click()
    _is_at(page, panel, "statement")
    expect(tour).to_contain_text("place[b, t + 1] = place")
    tour.focus()
    page.page.keyboard.press("Escape")


def _a_page_has_it_too(lab: Lab, saved: Path) -> None:
    page = lab.open_file(saved)
    root = page.page.locator(".wbk-root")
    root.locator("g.node").first.wait_for()
    root.get_by_role("button", name="Tour", exact=True).click()
    tour = root.get_by_role("dialog")
    count = re.compile(r"(\d+) of (\d+)")
    for width, height in SIZES:
        page.page.set_viewport_size({"width": width, "height": height})
        tour.locator(".wbk-tour-dots button").first.click()
        while True:
            tour.focus()
            stop = str(tour.get_attribute("data-tour"))
            expect(tour).not_to_contain_text("Looking for it")
            _is_at(page, root, stop)
            lab.shot(page, f"tour-page-{width}-{stop}")
            assert root.evaluate("e => e.scrollWidth <= e.clientWidth")
            at, of = map(int, count.search(tour.inner_text()).groups())  # type: ignore[union-attr]
            if at == of:
                break
            tour.press("ArrowRight")
            page.page.locator(f'.wbk-tour:not([data-tour="{stop}"])').wait_for()
    page.check()


def test_who_has_no_notebook_gets_one_with_a_first_program(lab: Lab) -> None:
    page = lab.open(lab.notebook("closes.ipynb", ["1"]))
    command(page, "workbench:open")
    page.page.evaluate(CLOSE)
    begin = page.page.get_by_role("button", name="New notebook with a first program")
    lab.shot(page, "tour-no-notebook")
    begin.click(timeout=60_000)
    panel = live(page)
    expect(panel.locator(".wbk-title:visible")).to_have_text("walk")
    notebook = page.page.locator(".jp-NotebookPanel:visible").bounding_box()
    assert panel.bounding_box()["x"] >= notebook["x"] + notebook["width"]
    page.check()
