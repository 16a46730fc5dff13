"""What tests do with a workbench: wait for it, open its panes, select, save."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.browser.lab import Page

SHOW = """\
import workbench as wb

@wb.program
def walk(B=4, T=5):
    b, t = wb.dims(b=B, t=T)
    place = wb.recurrent("place", (), over=(b, t))
    place[b, 0] = 0.0
    place[b, t + 1] = place + wb.uniform(over=(b, t))
    gain = -(place * place)
    worth = wb.discounted_sum(gain[b, t:T], 0.9)
    return {"worth": worth.sum(over=t).mean(over=b)}

shown = wb.Workbench(walk())
shown
"""
REINFORCE = """\
import workbench as wb
from workbench.algorithms.reinforce import reinforce
shown = wb.Workbench(reinforce(B=4, I=2, T=5))
shown
"""
STILL = """() => new Promise((done) => {
  let [last, same] = ["", 0];
  const look = () => {
    const boxes = [...document.querySelectorAll(".wbk-viewport g.node")];
    const now = boxes.map((e) => Object.values(e.getBoundingClientRect().toJSON())).join();
    const busy = document.querySelector(".wbk-picture[aria-busy='true']");
    [last, same] = [now, now === last && !busy ? same + 1 : 0];
    if (same > 20) done(null);
    else requestAnimationFrame(look);
  };
  look();
})"""
STEP = "shown.apply(wb.transforms.Vectorize('b'));"


def live(page: Page) -> Any:
    """The panel, once it is connected and its graph is drawn."""
    panel = page.page.locator("#workbench")
    panel.locator('.wbk-connection[data-status="connected"]').wait_for(timeout=90_000)
    panel.locator("g.node:visible").first.wait_for(timeout=60_000)
    return panel


def shows(panel: Any, step: str) -> None:
    """Waits until the variant with this last step is shown."""
    panel.locator(".wbk-step[aria-current]:visible", has_text=step).wait_for(timeout=60_000)


def still(page: Page) -> None:
    """Waits until the graph is drawn and its boxes have glided to their places."""
    page.page.evaluate(STILL)


def open_pane(panel: Any, name: str) -> None:
    """Opens a pane."""
    panel.get_by_role("tab", name=name).click()
    panel.get_by_role("tab", name=name, selected=True).wait_for()


def select(panel: Any, text: str) -> None:
    """Picks a statement by the graph's search."""
    search = panel.locator(
        ".wbk-graph-place input[type=search], .wbk-graph-place .wbk-search"
    ).first
    search.clear()  # the same text again would go on to the next that is found
    search.fill(text)
    search.press("Enter")


def saved_as(panel: Any, item: str, into: Path) -> Path:
    """The file that an item of the menu "Save" gives."""
    panel.get_by_role("button", name="Save").click()
    with panel.page.expect_download(timeout=60_000) as download:
        panel.get_by_role("menuitem", name=item).click()
    path = into / str(download.value.suggested_filename)
    download.value.save_as(path)
    return path
