"""The panel beside the notebook, live: it opens, follows, survives, and changes both ways."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab, Page, command, run_all, run_cell, setting, theme, until
from tests.browser.panel import REINFORCE, SHOW, STEP, live, open_pane, shows

PROGRAM = """\
import workbench as wb

@wb.program
def small(B=2, T=3):
    b, t = wb.dims(b=B, t=T)
    x = wb.uniform(over=(b, t))
    return {"total": x.sum(over=t).mean(over=b)}

wb.Workbench(small())
"""
RESTART = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  return kernel.restart().then(() => null);
}"""
KEPT = """(name) => fetch(`/lab/api/workspaces/${name}`)
    .then((answer) => answer.text())
    .then((text) => /"pane":\\s*"details"/.test(text) && /"compared":\\s*\\["/.test(text))"""
FIRST = "() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0 }"
SOURCES = """() => [...window.jupyterapp.shell.widgets("main")]
  .flatMap((one) => one.content?.widgets ?? [])
  .map((cell) => cell.model.sharedModel.getSource())"""
EDITED = """() => {
  const { shell } = window.jupyterapp;
  [...shell.widgets("main")].find((one) => one.content?.widgets).content.mode = "edit";
}"""
CURRENT = "() => window.jupyterapp.shell.currentWidget?.node.className"


def contrast(of: Any) -> float:
    """WCAG's contrast of an element's text with the ground behind it."""
    text, back = of.evaluate(
        """e => {
          const numbers = (c) => c.match(/[0-9.]+/g).map(Number);
          let ground = e;
          while (ground && (numbers(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) {
            ground = ground.parentElement;
          }
          const both = [getComputedStyle(e).color, getComputedStyle(ground).backgroundColor];
          return both.map(numbers);
        }"""
    )
    one, other = sorted((_luminance(text), _luminance(back)), reverse=True)
    return (one + 0.05) / (other + 0.05)


def _luminance(colour: list[float]) -> float:
    parts = [c / 255 for c in colour[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_panel_opens_beside_the_notebook_and_changes_both_ways(lab: Lab) -> None:
    page = lab.open(
        lab.notebook("both.ipynb", [REINFORCE, STEP, "print('at', shown.variant.steps)"])
    )
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    notebook = page.page.locator(".jp-NotebookPanel").bounding_box()
    assert panel.bounding_box()["x"] >= notebook["x"] + notebook["width"]
    assert "jp-NotebookPanel" in page.page.evaluate(CURRENT)  # who runs cells goes on there
    expect(panel.locator(".wbk-chip-changed").first).to_have_text("b → [b]")
    lab.shot(page, "panel")
    expect(panel.get_by_role("button", name="Redo")).to_be_disabled()
    panel.get_by_role("button", name="Undo").click()
    shows(panel, "as written")
    expect(panel.locator(".wbk-chip-changed")).to_have_count(0)
    panel.get_by_role("button", name="Redo").click()
    shows(panel, "Vectorize")
    panel.get_by_role("button", name="Undo").click()
    shows(panel, "as written")
    command(page, "notebook:run-all-below")
    page.page.locator(".jp-OutputArea-output", has_text="at ()").wait_for(timeout=30_000)
    expect(panel.get_by_role("button", name="Undo")).to_be_disabled()
    page.check()


def test_steps_without_room_are_in_a_menu(lab: Lab) -> None:
    steps = "for s in ('b', 't'):\n    shown.apply(wb.transforms.Vectorize(s))\n"
    more = "for s in (wb.transforms.Contract(), wb.transforms.Donate()):\n    shown.apply(s)"
    page = lab.open(lab.notebook("path.ipynb", [REINFORCE, steps + more]), height=720)
    run_all(page)
    panel = live(page)
    shows(panel, "Donate()")
    path = panel.locator(".wbk-step")
    assert path.evaluate_all("all => all.every((e) => e.scrollWidth <= e.clientWidth)")  # none cut
    panel.get_by_role("button", name=re.compile(r"^\d earlier$")).click()
    lab.shot(page, "path")
    panel.get_by_role("menuitem", name="as written").click()
    shows(panel, "as written")
    expect(path).to_have_text(["as written"])
    page.check()


def test_layout_and_pane_come_back_after_a_reload(lab: Lab) -> None:
    page = lab.open(lab.notebook("reload.ipynb", [SHOW, STEP]))
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    panel.get_by_role("tab", name="Variants").click()
    panel.get_by_role("checkbox", name="Compare as written").check()
    panel.get_by_role("tab", name="Details").click()
    command(page, "docmanager:save")
    # JupyterLab keeps its layout a while after a change
    until(page, lambda: bool(page.page.evaluate(KEPT, "shared")))
    lab.reload(page)
    panel = live(page)
    shows(panel, "Vectorize")
    panel.get_by_role("tab", name="Details", selected=True).wait_for(timeout=20_000)
    panel.get_by_role("tab", name="Variants").click()
    expect(panel.get_by_role("checkbox", name="Compare as written")).to_be_checked()
    expect(panel.get_by_role("checkbox", name="Compare Vectorize")).not_to_be_checked()
    page.check()


def test_a_restart_keeps_the_picture_and_the_next_run_goes_on(lab: Lab) -> None:
    page = lab.open(lab.notebook("restart.ipynb", [SHOW]))
    run_all(page)
    panel = live(page)
    page.page.evaluate(RESTART)
    panel.get_by_text("what was loaded still shows").wait_for(timeout=30_000)
    assert panel.locator("g.node").count() > 5
    expect(panel.get_by_role("button", name="Undo")).to_be_disabled()
    lab.shot(page, "restarted")
    page.page.wait_for_timeout(1000)
    run_all(page)
    live(page)
    expect(panel.get_by_text("what was loaded still shows")).to_have_count(0)
    page.check()


def test_a_restart_keeps_the_tree_and_the_ticks(lab: Lab) -> None:
    branch = "shown.show(shown.variants[0]); shown.apply(wb.transforms.Vectorize('t'));"
    page = lab.open(lab.notebook("tree.ipynb", [SHOW, STEP, branch]))
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize('t')")
    panel.get_by_role("tab", name="Variants").click()
    panel.get_by_role("checkbox", name="Compare Vectorize('b')").check()
    command(page, "docmanager:open", {"path": "tree.ipynb"})
    page.page.evaluate(RESTART)
    panel.get_by_text("what was loaded still shows").wait_for(timeout=30_000)
    page.page.wait_for_timeout(1000)
    page.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0 }"
    )
    command(page, "notebook:run-cell")
    panel.get_by_text("The variants from before are in the tree again").wait_for(timeout=90_000)
    shows(panel, "as written")
    tree = panel.get_by_role("list", name="Variants").get_by_role("checkbox")
    expect(tree).to_have_count(3)
    expect(panel.get_by_role("checkbox", name="Compare Vectorize('b')")).to_be_checked()
    lab.shot(page, "taken-up")


def test_two_notebooks_have_a_workbench_each(lab: Lab) -> None:
    page = lab.open(lab.notebook("one.ipynb", [SHOW]))
    run_all(page)
    panel = live(page)
    expect(panel.locator(".wbk-title:visible")).to_have_text("walk")
    command(page, "docmanager:open", {"path": lab.notebook("two.ipynb", [PROGRAM])})
    panel.get_by_text("No program yet").wait_for(timeout=30_000)
    run_all(page)
    panel.locator(".wbk-title:visible", has_text="small").wait_for(timeout=90_000)
    command(page, "docmanager:open", {"path": "one.ipynb"})
    panel.locator(".wbk-title:visible", has_text="walk").wait_for()
    page.check()


def test_a_program_that_no_workbench_shows_is_shown_with_one_press(lab: Lab) -> None:
    """The panel hears of it from the cell that defines it, and runs the cell that shows it."""
    defined = PROGRAM.replace("wb.Workbench(small())", "one = small()")
    page = lab.open(lab.notebook("offered.ipynb", [defined]))
    command(page, "workbench:open")
    panel = page.page.locator("#workbench")
    panel.get_by_text("No program yet").wait_for(timeout=30_000)
    lab.shot(page, "nothing-offered")
    run_cell(page, 0)
    expect(panel.locator(".wbk-offers button")).to_have_text(["Show one", "Show small"])
    lab.shot(page, "offered")
    page.page.evaluate(EDITED)
    panel.get_by_role("button", name="Show one").press("Enter")
    panel.locator(".wbk-title:visible", has_text="small").wait_for(timeout=90_000)
    assert page.page.evaluate("() => document.activeElement.closest('.jp-Cell') === null")
    assert "wb.Workbench(one)" in page.page.evaluate(SOURCES)
    page.check()


def test_two_workbenches_of_one_notebook_are_opened_by_what_shows_them(lab: Lab) -> None:
    page = lab.open(lab.notebook("both-in-one.ipynb", [SHOW, PROGRAM, "shown"]))
    run_all(page)
    panel = live(page)
    title = panel.locator("select.wbk-title:visible option:checked")
    expect(title).to_have_text("walk")  # it was shown again last
    outputs = page.page.locator(".jp-OutputArea-output .wbk-root")
    expect(outputs).to_have_count(3)
    for number, name in ((1, "small"), (0, "walk")):
        output = outputs.nth(number)
        expect(output.locator(".wbk-title")).to_have_text(name)
        output.get_by_role("button", name="Open", exact=True).click()
        expect(title).to_have_text(name)
    page.check()


ROUNDS = 4
"""A click elsewhere cancels what did not come in time: on a busy machine it is asked for again."""


def test_a_click_on_what_is_loaded_asks_for_nothing(lab: Lab) -> None:
    page = lab.open(lab.notebook("loaded-already.ipynb", [SHOW]))
    run_all(page)
    panel = live(page)
    titles = ["place[", "worth[", "gain["]
    asked, asked_now = set[str](), {"nothing yet"}
    for _ in range(ROUNDS):
        if not asked_now:
            break
        page.wants.clear()
        for pane in ("Details", "Moves", "Instances"):
            open_pane(panel, pane)
            for title in titles:
                panel.locator(f'g.node[aria-label^="{title}"]').first.click()
                page.page.wait_for_timeout(500)
                # C of a statement is generated with that of the whole program, and then asked for.
                expect(panel.locator(".wbk-waiting:visible")).to_have_count(0)
        asked_now = {want.part for want in page.wants} - {"price"}  # of rows that come into view
        asked |= asked_now
    assert not asked_now and asked == {"kernels", "kernel", "moves", "domain"}
    page.check()


def boxes(page: Any) -> tuple[Any, Any]:
    """Where the notebook in use and the panel stand."""
    notebook = page.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").last
    return notebook.bounding_box(), page.page.locator("#workbench").bounding_box()


@pytest.mark.parametrize("alone", [False, True])
def test_the_panel_never_covers_the_notebook_it_follows(lab: Lab, alone: bool) -> None:
    page = lab.open(lab.notebook("first.ipynb", [SHOW]))
    run_all(page)
    panel = live(page)
    tab = page.page.locator(".lm-TabBar-tab", has_text="Workbench")
    expect(tab).to_have_text("Workbench: first")
    command(page, "docmanager:open", {"path": "first.ipynb"})
    if alone:
        page.page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")
        page.page.locator(".jp-NotebookPanel").wait_for(state="detached")
    tab.click()
    command(page, "docmanager:open", {"path": lab.notebook("second.ipynb", [PROGRAM])})
    page.page.locator(".jp-NotebookPanel .cm-line", has_text="def small").wait_for(timeout=60_000)
    panel.wait_for(timeout=10_000)
    run_all(page)
    panel.locator(".wbk-title:visible", has_text="small").wait_for(timeout=90_000)
    expect(tab).to_have_text("Workbench: second")
    notebook, beside = boxes(page)
    assert beside["x"] >= notebook["x"] + notebook["width"]
    lab.shot(page, f"second-{alone}")
    page.check()


def test_a_recipe_is_copied_and_becomes_a_cell(lab: Lab) -> None:
    page = lab.open(lab.notebook("recipe.ipynb", [SHOW, STEP]))
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem", name="Copy recipe").click()
    panel.get_by_text("The recipe is in the clipboard.").wait_for()
    copied = page.page.evaluate("() => navigator.clipboard.readText()")
    assert "variant = variant.apply(wb.transforms.Vectorize('b'))" in copied
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem", name="Recipe as a notebook cell").click()
    page.page.wait_for_function("() => document.querySelectorAll('.jp-CodeCell').length === 3")
    expect(page.page.locator(".jp-CodeCell").last).to_contain_text("Vectorize")
    page.check()


def test_a_line_of_a_cell_is_shown_there(lab: Lab) -> None:
    page = lab.open(lab.notebook("line.ipynb", ["x = 1", PROGRAM]))
    run_all(page)
    panel = live(page)
    panel.get_by_role("tab", name="Details").click()
    panel.locator('g.node[aria-label^="x["]').click()
    panel.get_by_role("button", name="Show in the notebook").click()
    page.page.locator(".jp-CodeCell .wbk-line-mark").wait_for(state="attached", timeout=10_000)
    line = page.page.locator(".cm-line", has_text="wb.uniform").bounding_box()
    mark = page.page.locator(".wbk-line-mark").bounding_box()
    assert mark["y"] == pytest.approx(line["y"], abs=3)
    lab.shot(page, "line")
    page.check()


def test_commands_know_what_can_be_done(lab: Lab) -> None:
    page = lab.open(lab.notebook("commands.ipynb", [SHOW]))
    can = "(name) => window.jupyterapp.commands.isEnabled(name)"
    assert not page.page.evaluate(can, "workbench:fit")
    run_all(page)
    live(page)
    assert page.page.evaluate(can, "workbench:fit")
    assert page.page.evaluate(can, "workbench:save-page")
    assert not page.page.evaluate(can, "workbench:undo")
    assert not page.page.evaluate(can, "workbench:cancel")
    assert page.page.locator('.jp-Toolbar [data-command="workbench:open"]').count() == 1
    page.check()


def test_a_setting_keeps_the_panel_from_opening(lab: Lab) -> None:
    with setting(lab, "jupyterlab-workbench:plugin", openAutomatically=False):
        page = lab.open(lab.notebook("closed.ipynb", [SHOW]), under="closed")
        run_all(page)
        page.page.locator(".jp-OutputArea .wbk-root g.node").first.wait_for(timeout=90_000)
        assert page.page.locator("#workbench").count() == 0
        page.page.locator(".jp-OutputArea").get_by_role("button", name="Open", exact=True).click()
        live(page)
    page.check()


def test_a_panel_that_is_opened_again_is_as_it_was_left(walk: Page) -> None:
    panel = live(walk)
    open_pane(panel, "Variants")
    ticked = panel.get_by_role("checkbox", name="Compare as written")
    ticked.check()
    tab = walk.page.locator(".lm-TabBar-tab", has_text="Workbench")
    tab.locator(".lm-TabBar-tabCloseIcon").click()
    panel.wait_for(state="detached")
    command(walk, "workbench:open")
    live(walk)
    panel.get_by_role("tab", name="Variants", selected=True).wait_for()
    expect(ticked).to_be_checked()
    ticked.uncheck()
    walk.check()


def comes_to_stand_out(page: Any, of: Any, least: float) -> None:
    """Colours of a theme come one after the other."""
    until(page, lambda: contrast(of) >= least)


LEAST = {"JupyterLab Light": 4.5, "JupyterLab Dark": 4.5, "JupyterLab Dark High Contrast": 7.0}
"""The least contrast of a theme's texts."""


def test_text_stands_out_in_every_theme(lab: Lab, walk: Page) -> None:
    panel = live(walk)
    tab = ".wbk-tab[aria-selected=false]"
    places = [".wbk-title", ".wbk-step[aria-current]", ".wbk-menu-item", tab, ".wbk-button"]
    panel.get_by_role("button", name="Save").click()
    panel.get_by_role("menuitem").first.wait_for()
    for colours, least in LEAST.items():
        with theme(walk, colours):
            for place in places:
                comes_to_stand_out(walk, panel.locator(place).first, least)
            name = colours.lower().replace(" ", "-")
            lab.shot(walk, f"{name}")
    walk.check()


def test_the_notebook_is_saved_from_the_panel(walk: Page) -> None:
    panel = live(walk)
    dirty = "() => window.jupyterapp.shell.widgets('main').next().value.context.model.dirty"
    until(walk, lambda: bool(walk.page.evaluate(dirty)))

    def is_saved() -> bool:
        panel.get_by_label("Search statements").press("Control+s")
        walk.page.wait_for_timeout(1000)
        return not walk.page.evaluate(dirty)

    until(walk, is_saved)  # outputs are brought up to date for a while: that is to be saved again
    walk.check()


def test_a_kernel_that_is_shut_down_is_said(lab: Lab, walk: Page) -> None:
    panel = live(walk)
    command(walk, "docmanager:open", {"path": "walk.ipynb"})
    walk.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown().then(() => null)"
    )
    panel.get_by_text("The Jupyter kernel is gone").wait_for(timeout=30_000)
    assert panel.locator("g.node").count() > 5
    walk.check()
    lab.tidy()
