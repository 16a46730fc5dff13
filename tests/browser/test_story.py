"""The whole story, click by click: a program is written, drawn, asked about, changed, measured,
rebuilt from its recipe, saved and passed on.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.lab import IDLE, Lab, Page, command, until
from tests.browser.panel import live, open_pane, saved_as, shows, still
from workbench.session.outputs.mime_bundle import MIME

PROGRAM = '''\
import workbench as wb
from workbench import nn, optim


@wb.program
def walk(B=4, I=6, T=5, gamma=0.9):
    """A walk that learns to stay at home, by REINFORCE."""
    b, i, t = wb.dims(b=B, i=I, t=T)
    network = nn.mlp("policy", 1, (), 2)
    theta = nn.parameters(network, over=i)
    place = wb.recurrent("place", (1,), over=(b, i, t))
    policy = wb.Categorical(logits=network(theta, place))
    action = policy.sample()
    place[b, i, 0] = wb.uniform(over=(b, i), shape=(1,))
    place[b, i, t + 1] = place + 0.1 * (2.0 * action - 1.0)
    reward = -(place * place).sum(axis=0)
    to_go = wb.discounted_sum(reward[b, i, t:T], gamma)
    gain = policy.log_probability(action) * wb.stop_gradient(to_go)
    loss = -gain.sum(over=t).mean(over=b)
    theta.update(optim.sgd(wb.gradient(loss, theta), 0.1))
    return {"loss": loss, "episode_return": reward.sum(over=t).mean(over=b)}


program = walk()
shown = wb.Workbench(program, "story.jsonl")
shown
'''
SAME = "print('the same:', variant.key == shown.variant.key)"
STEPS = ("as written", "Vectorize('b')", "Incrementalize('to_go', 't')", "Swap('place')")
RUN = '.jp-NotebookPanel:visible [data-command="notebook:run-cell-and-select-next"]'
KEPT = """(mime) => {
  const { outputs } = window.jupyterapp.shell.currentWidget.content.widgets[0].model;
  return Array.from({ length: outputs.length }, (_, at) => outputs.get(at).data[mime])
    .find(Boolean) ?? null;
}"""


def test_the_whole_story(lab: Lab, tmp_path: Path) -> None:
    page = lab.open_alone(lab.notebook("story.ipynb", [PROGRAM, SAME]), width=1600, height=900)
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel = _run_the_cell(lab, page)
    _click_a_node(lab, page, panel)
    _ask_why_not(lab, page, panel)
    _take_three_steps(lab, page, panel)
    _measure(lab, page, panel)
    _brush_the_memory(lab, page, panel)
    _rebuild_from_the_recipe(lab, page, panel)
    exported = saved_as(panel, "Save as HTML page", tmp_path)
    _save(page)
    page.check()
    _open_without_a_kernel(lab)
    _open_the_exported_page(lab, exported)


def _run_the_cell(lab: Lab, page: Page) -> Any:
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    page.page.locator(".jp-CodeCell").first.click()
    page.page.locator(RUN).click()
    panel = live(page)
    notebook = page.page.locator(".jp-NotebookPanel").bounding_box()
    assert panel.bounding_box()["x"] >= notebook["x"] + notebook["width"]
    lab.shot(page, "story-1-drawn")
    return panel


def _click_a_node(lab: Lab, page: Page, panel: Any) -> None:
    _node(panel, "reward[b, i, t]").click()
    open_pane(panel, "Details")
    details = panel.locator(".wbk-detail")
    expect(details).to_contain_text("reward[b, i, t] = ")
    expect(details).to_contain_text("0 <= t < T")
    expect(details).to_contain_text("place[b, i, t]")
    expect(details).to_contain_text("reward = -(place * place).sum(axis=0)")
    panel.get_by_role("button", name="Show in the notebook").click()
    page.page.locator(".jp-CodeCell .wbk-line-mark").wait_for(state="attached")
    lab.shot(page, "story-2-node")
    open_pane(panel, "Instances")
    panel.locator(".wbk-point").nth(4).click(timeout=60_000)
    value = panel.locator(".wbk-value")
    value.locator(".wbk-inputs li").first.wait_for(timeout=60_000)
    number = re.compile(r"^reward\[b=\d, i=\d, t=\d\] = -?\d")
    expect(value.locator("p").first).to_have_text(number)
    expect(value.locator(".wbk-inputs")).to_contain_text("place[")
    lab.shot(page, "story-3-value")


def _ask_why_not(lab: Lab, page: Page, panel: Any) -> None:
    _node(panel, "place[b, i, t + 1]").click()
    open_pane(panel, "Moves")
    own = panel.locator("section[aria-label='For place[t+1]']")
    refused = own.locator(".wbk-refused-move", has_text="Vectorize t").first
    refused.wait_for(timeout=60_000)
    lab.shot(page, "story-4-moves")
    refused.click()
    expect(panel.locator(".wbk-letter")).to_have_text(["A", "B"])
    why = panel.locator(".wbk-why")
    expect(why).to_contain_text("place[t+1] at b=0, i=0, t=1 needs place[0, 0, 1]")
    expect(why).to_contain_text("place[t+1] at b=0, i=0, t=0 writes place[0, 0, 1]")
    expect(panel.get_by_role("button", name="Apply", exact=True)).to_be_disabled()
    lab.shot(page, "story-5-why-not")
    page.page.keyboard.press("Escape")


def _take_three_steps(lab: Lab, page: Page, panel: Any) -> None:
    moves = panel.locator(".wbk-moves")
    moves.locator(f'.wbk-move[title="{STEPS[1]}"]').first.click(timeout=60_000)
    _apply(lab, page, panel, 1)
    moves.locator(f'.wbk-move[title="{STEPS[2]}"]').first.click(timeout=60_000)
    _apply(lab, page, panel, 2)
    panel.get_by_role("button", name="New step").click()
    form = panel.locator(".wbk-step-form")
    form.locator("select").first.select_option("Swap")
    form.locator(".wbk-name-input").first.fill("place")
    form.get_by_role("button", name="Preview").click()
    _apply(lab, page, panel, 3)


def _apply(lab: Lab, page: Page, panel: Any, number: int) -> None:
    """Takes the step that is previewed: the picture shows what it changed, the path grows."""
    panel.locator(".wbk-costs").wait_for(timeout=60_000)
    if number == 2:
        lab.shot(page, "story-6-preview")
    panel.get_by_role("button", name="Apply", exact=True).click()
    shows(panel, STEPS[number])
    panel.locator(".wbk-legend", has_text="changed by the last step").wait_for(timeout=60_000)
    panel.locator("g.node .wbk-change").first.wait_for(state="attached")
    still(page)
    path = panel.locator(".wbk-step").all_text_contents()  # the last ones
    assert path and path == list(STEPS[: number + 1])[-len(path) :]
    lab.shot(page, f"story-7-step-{number}")


def _measure(lab: Lab, page: Page, panel: Any) -> None:
    open_pane(panel, "Variants")
    tree = panel.get_by_role("list", name="Variants")
    expect(tree.locator(".wbk-stop-name")).to_have_text(list(STEPS))
    for ticked in tree.get_by_role("checkbox").all():
        ticked.check()
    open_pane(panel, "Compare")
    panel.get_by_label("rounds").fill("3")
    panel.get_by_role("button", name="Measure 4 variants").click()
    panel.locator(".wbk-progress").wait_for(timeout=60_000)
    lab.shot(page, "story-8-measuring")
    panel.locator(".wbk-progress").wait_for(state="detached", timeout=180_000)
    rows = panel.locator(".wbk-table tbody tr")
    expect(rows).to_have_count(4)
    panel.locator(".wbk-compare .wbk-figure svg").nth(2).wait_for()
    lab.shot(page, "story-9-compare")
    panel.locator(".wbk-compare .wbk-figure").last.scroll_into_view_if_needed()
    lab.shot(page, "story-9-compare-curves")
    open_pane(panel, "Variants")
    expect(tree.get_by_text("✓ checked")).to_have_count(4)
    lab.shot(page, "story-10-variants")


def _brush_the_memory(lab: Lab, page: Page, panel: Any) -> None:
    open_pane(panel, "Memory")
    timeline = panel.locator(".wbk-timeline svg").first
    timeline.wait_for(timeout=60_000)
    expect(panel.locator("g.node.wbk-live")).to_have_count(0)
    box, before = timeline.bounding_box(), None
    while box != before:  # what is predicted comes later, and stands above it
        page.page.wait_for_timeout(500)
        box, before = timeline.bounding_box(), box
    page.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 70, steps=4)
    page.page.mouse.up()
    panel.locator("g.node.wbk-live").first.wait_for(timeout=30_000)
    panel.locator("g.node.wbk-dim").first.wait_for()
    panel.get_by_text("Live at the highest place of it").wait_for()
    lab.shot(page, "story-11-memory")


def _rebuild_from_the_recipe(lab: Lab, page: Page, panel: Any) -> None:
    page.page.locator(".jp-CodeCell").first.locator(".cm-line").last.click()
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem", name="Copy recipe").click()
    panel.get_by_text("The recipe is in the clipboard.").wait_for()
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem", name="Recipe as a notebook cell").click()
    recipe = page.page.locator(".jp-CodeCell", has_text="wb.transforms.Swap")
    recipe.wait_for()
    text = recipe.locator(".cm-content").evaluate("e => e.cmView.view.state.doc.toString()")
    copied = page.page.evaluate("() => navigator.clipboard.readText()")
    assert copied.strip() == text.strip()
    recipe.click()
    page.page.locator(RUN).click()
    page.page.locator(RUN).click()
    page.page.locator(".jp-OutputArea-output", has_text="the same: True").wait_for(timeout=60_000)
    lab.shot(page, "story-12-recipe")


def _save(page: Page) -> None:
    """Saves the notebook, once its output tells what was done since: that takes a few seconds."""
    page.page.locator(".jp-CodeCell .cm-content").first.click()

    def is_kept() -> bool:
        kept = page.page.evaluate(KEPT, MIME)
        if kept and "gzip" in kept:
            kept = json.loads(gzip.decompress(base64.b64decode(kept["gzip"])))
        return bool(kept) and len(kept["state"]["measurements"]) == len(STEPS)

    until(page, is_kept)
    command(page, "docmanager:save")


def _open_without_a_kernel(lab: Lab) -> None:
    page = lab.open("story.ipynb", width=1600, height=900)
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    page.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown().then(() => null)"
    )
    output = page.page.locator(".jp-OutputArea .wbk-root").first
    output.get_by_role("button", name="Open", exact=True).click(timeout=60_000)
    _still_shows_all(lab, page, page.page.locator("#workbench"), "13-no-kernel")
    page.check()


def _open_the_exported_page(lab: Lab, path: Path) -> None:
    page = lab.open_file(path)
    _still_shows_all(lab, page, page.page, "14-exported")
    page.check()


def _still_shows_all(lab: Lab, page: Page, panel: Any, name: str) -> None:
    panel.locator('.wbk-connection[data-status="saved"]').wait_for(timeout=60_000)
    shows(panel, STEPS[3])
    _node(panel, "reward[b, i, t]").click()
    open_pane(panel, "Details")
    expect(panel.locator(".wbk-detail")).to_contain_text("reward = -(place * place).sum(axis=0)")
    open_pane(panel, "Compare")
    expect(panel.locator(".wbk-table tbody tr")).to_have_count(4)
    lab.shot(page, f"story-{name}")
    open_pane(panel, "Variants")
    panel.locator(".wbk-stop-name", has_text=STEPS[1]).click()
    shows(panel, STEPS[1])
    expect(panel.get_by_text("✓ checked")).to_have_count(4)


def _node(panel: Any, title: str) -> Any:
    return panel.locator(f'g.node[aria-label^="{title},"]')
