"""How quick the workbench is under the hand, in JupyterLab in a headless Chromium without a GPU.

With PPO: from the end of its cell to the drawn graph, until the legality of every move is shown and
until the first ten have prices, from Cancel until a run has ended, from a click on a statement
until graph and pane show it, from Apply to the new graph; what is asked for by a click on what is
loaded; the bytes of its picture. The frames of a schedule of 2,000 instances that is played. With
large programs: from the end of the cell to the graph, and how it stays under the hand while all of
it is opened and while it is dragged.

python -m tests.benchmarks.browser [--statements 300 1000] [--static FOLDER]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests import chromium
from tests.benchmarks.drawing import dragging, layers, opening, traced
from tests.benchmarks.measuring import emit, machine, median
from tests.browser.lab import IDLE, Lab, Page, serving
from tests.browser.panel import open_pane
from tests.front_end import REPOSITORY, STATIC
from workbench.algorithms import ppo
from workbench.session.picture.snapshot import snapshot
from workbench.session.protocol.capsule import to_json

PPO = "import workbench as wb\nfrom workbench.algorithms import ppo\nprogram = ppo()"
APPLIED = "shown.apply(wb.transforms.Vectorize('t'));"
LARGE = "import workbench as wb\nfrom tests.session import example\nprogram = example.reinforce({})"
PLAYED = """\
import workbench as wb
from tests.programs import leaky_sum
program = leaky_sum(B=40, T=24)
"""
INSTANCES = 40 * (24 + 24 + 1 + 1)
SHOW = "shown = wb.Workbench(program)"  # no output of its own: what is timed is the panel
CLICKED = 12
STATEMENT = "n:"
"""What the name of a statement's box starts with."""

RUN = """async () => {
  const { commands } = window.jupyterapp;
  const start = performance.now();
  await commands.execute("notebook:run-cell-and-select-next");
  return (performance.now() - start) / 1000;
}"""
UNTIL = """(found) => new Promise((resolve, reject) => {
  const [start, there] = [performance.now(), new Function(`return ${found}`)];
  const look = () => {
    const seconds = (performance.now() - start) / 1000;
    if (there()) resolve(seconds);
    else if (seconds > 120) reject(new Error(`never: ${found}`));
    else setTimeout(look, 20);  // looking at every frame took a third of a processor
  };
  look();
})"""
CLICK = """([name, shown]) => new Promise((resolve, reject) => {
  const node = document.querySelector(`#workbench g.node[data-name="${CSS.escape(name)}"]`);
  const start = performance.now();
  node.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
  const look = () => {
    const head = document.querySelector("#workbench .wbk-side :is(h3, h4)")?.textContent;
    const taken = performance.now() - start;
    if (node.classList.contains("wbk-selected") && head === shown) resolve(taken);
    else if (taken > 20_000) reject(new Error(`${name} is never shown`));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""
FRAMES = """() => new Promise((done) => {
  const [start, times] = [performance.now(), []];
  const look = (now) => {
    times.push(now);
    if (now - start < 5000) return requestAnimationFrame(look);
    const between = times.slice(1).map((time, k) => time - times[k]);
    const frames = 1000 * between.length / (now - times[0]);
    return done({ frames, longest_ms: Math.max(...between) });
  };
  requestAnimationFrame(look);
})"""
APPLY = """() => {
  document.querySelector("#workbench .wbk-open-step .wbk-primary").click();
}"""
DRAWN = "document.querySelector('#workbench g.node')"
JUDGED = "/possible(?!.*judging)/s.test(document.querySelector('.wbk-move-counts')?.textContent)"
LOADED = """!document.querySelector(
    "#workbench .wbk-side :is(.wbk-waiting, .wbk-move-counts progress)"
)"""
PRICED = "document.querySelectorAll('.wbk-move-row .wbk-price').length >= 10"
CANCELLED = """() => new Promise((resolve, reject) => {
  const start = performance.now();
  document.querySelector("#workbench .wbk-progress button").click();
  const look = () => {
    const taken = (performance.now() - start) / 1000;
    if (!document.querySelector("#workbench .wbk-progress")) resolve(taken);
    else if (taken > 20) reject(new Error("the run goes on"));
    else requestAnimationFrame(look);
  };
  look();
})"""
CHANGED = """document.querySelector("#workbench .wbk-step[aria-current]")?.innerText === "{step}"
    && document.querySelector("#workbench .wbk-picture")?.ariaBusy === "false"
    && [...document.querySelectorAll("#workbench g.node .wbk-change")]
      .some((mark) => !mark.closest(".wbk-open-step"))"""  # which shows a graph of its own


@contextmanager
def jupyterlab(static: Path) -> Iterator[Lab]:
    """JupyterLab with the built front end `static`, in a browser."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, root = Path(folder, "home"), Path(folder, "root")
        home.mkdir()
        root.mkdir()
        with (
            serving(static, home, root, REPOSITORY) as address,
            chromium.launched(chromium.found()) as browser,
        ):
            yield Lab(address, root, home, browser, root)


def shown(lab: Lab, name: str, program: str) -> tuple[Page, dict[str, float]]:
    """A notebook that makes a program, shows it and applies a step; how long until the graph."""
    page = lab.open(lab.notebook(name, [program, SHOW, APPLIED]), width=1600, height=900)
    page.page.wait_for_function(IDLE, timeout=60_000)
    page.page.locator(".jp-CodeCell").first.click()
    made = page.page.evaluate(RUN)
    ran = page.page.evaluate(RUN)
    drawn = page.page.evaluate(UNTIL, DRAWN)
    return page, {"first_cell_seconds": made, "cell_seconds": ran, "seconds": drawn}


def of_ppo(lab: Lab) -> None:
    """Prints a line for each figure that PPO has."""
    page, seconds = shown(lab, "ppo.ipynb", PPO)
    emit(what="cell_to_graph", target=1.5, **seconds)
    judged = page.page.evaluate(UNTIL, JUDGED)
    counts = page.page.locator(".wbk-move-counts").inner_text().split("\n")[0]
    emit(what="graph_to_legality", seconds=judged, target=4.0, moves=counts)
    emit(what="legality_to_ten_prices", seconds=page.page.evaluate(UNTIL, PRICED), target=1.0)
    clicks(page)
    applied(page)
    cancelled(page)
    size = len(to_json(snapshot(ppo())).encode())
    emit(what="snapshot", bytes=size, target=500_000)


def clicks(page: Page) -> None:
    """Statements in sight, clicked one by one with each pane that shows the selection, twice: the
    second time all is loaded. Prices of moves, which are asked for meanwhile, count if repeated.
    """
    panel = page.page.locator("#workbench")
    names, titles = _statements(panel)
    for pane, told in (
        ("Details", titles),
        ("Moves", [f"For {name.removeprefix(STATEMENT)}" for name in names]),
    ):
        open_pane(panel, pane)
        for loaded in (False, True):
            known, taken = set(page.wants), []
            page.wants.clear()
            for one in zip(names, told, strict=True):
                taken.append(page.page.evaluate(CLICK, list(one)))
                page.page.wait_for_timeout(50)  # what is wanted is asked for
                page.page.evaluate(UNTIL, LOADED)
            page.page.wait_for_timeout(1000)
            asked = [want for want in page.wants if want.part != "price" or want in known]
            emit(
                what=f"click_{pane.lower()}_{'again' if loaded else 'first'}",
                milliseconds=median(taken), most=max(taken), target=100,
                clicks=len(taken), requests=len(asked),
            )  # fmt: skip
    page.page.keyboard.press("Escape")


def _statements(panel: Any) -> tuple[list[str], list[str]]:
    """Boxes of some statements in sight, and their titles."""
    boxes = panel.locator(f"g.node[data-name^='{STATEMENT}']").all()[:CLICKED]
    labels = [box.get_attribute("aria-label") for box in boxes]
    titles = [
        label[: label.index("]") + 1] if "]" in label else label.split(",")[0] for label in labels
    ]
    return [box.get_attribute("data-name") for box in boxes], titles


def applied(page: Page) -> None:
    """From Apply, and from the end of a cell that applies, to the graph with what changed."""
    panel = page.page.locator("#workbench")
    open_pane(panel, "Moves")
    panel.locator(".wbk-move[title=\"Vectorize('b')\"]").first.click(timeout=60_000)
    panel.locator(".wbk-costs").wait_for(timeout=60_000)
    page.page.evaluate(APPLY)
    drawn = page.page.evaluate(UNTIL, CHANGED.format(step="Vectorize('b')"))
    emit(what="apply_to_graph", seconds=drawn, target=1.0)
    page.page.evaluate(UNTIL, JUDGED)
    ran = page.page.evaluate(RUN)
    drawn = page.page.evaluate(UNTIL, CHANGED.format(step="Vectorize('t')"))
    emit(what="apply_in_a_cell_to_graph", cell_seconds=ran, seconds=drawn, target=1.0)


def cancelled(page: Page) -> None:
    """From Cancel, while a run computes, until it has ended."""
    panel = page.page.locator("#workbench")
    open_pane(panel, "Run")
    panel.locator(".wbk-run-view").get_by_role("button", name="Run", exact=True).click()
    panel.locator(".wbk-progress").get_by_role("button", name="Cancel").wait_for(timeout=60_000)
    page.page.wait_for_timeout(3000)
    emit(what="cancel_of_a_run", seconds=page.page.evaluate(CANCELLED), target=0.5)


def of_player(lab: Lab) -> None:
    """Prints a line for the frames of a player."""
    page, _ = shown(lab, "played.ipynb", PLAYED)
    panel = page.page.locator("#workbench")
    open_pane(panel, "Play")
    for name, size in (("B", "40"), ("T", "24")):
        panel.locator(".wbk-small-sizes").get_by_label(f"{name} =").fill(size)
    circles = panel.locator("circle[data-instance]")
    expect(circles).to_have_count(INSTANCES, timeout=60_000)
    panel.get_by_label("speed").select_option("60")
    panel.get_by_role("button", name="Play", exact=True).click()
    found = page.page.evaluate(FRAMES)
    emit(what="player", instances=INSTANCES, frames_target=30, **found)


def of_large(lab: Lab, statements: int) -> None:
    """Prints a line for the first picture, one for the opening, one for each scale of dragging."""
    name = f"large-{statements}.ipynb"
    page, seconds = shown(lab, name, LARGE.format(layers(statements)))
    view = page.page
    common = {"statements": statements}
    emit(what=f"{statements}_cell_to_graph", **common, **seconds)
    opened = traced(lab.browser, view, opening)
    emit(what=f"{statements}_open_all", **common, latency_target_ms=100, **opened)
    dragged = traced(lab.browser, view, dragging)
    emit(what=f"{statements}_drag_near", **common, frames_target=30, **dragged)
    view.get_by_label("Show the whole graph").click()
    view.wait_for_timeout(500)
    dragged = traced(lab.browser, view, dragging)
    emit(what=f"{statements}_drag_far", **common, frames_target=30, **dragged)


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--static", type=Path, default=STATIC)
    given = parser.parse_args()
    emit(what="machine", **machine())
    with jupyterlab(given.static) as lab:
        of_ppo(lab)
        lab.tidy()
        of_player(lab)
        lab.tidy()
        for statements in given.statements:
            of_large(lab, statements)
            lab.tidy()


if __name__ == "__main__":
    main()
