"""Measurements, clicks while a cell runs, and where a running program is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import expect

from tests.browser.lab import IDLE, Lab, Page, command, run_all, setting
from tests.browser.panel import SHOW as WALK
from tests.browser.panel import STEP, live, open_pane, shows

SHOW = """\
import workbench as wb
from workbench.algorithms.reinforce import reinforce
shown = wb.Workbench(reinforce(B=4, I=3, T=5))
shown.apply(wb.transforms.Vectorize("b"))
shown
"""
SMALL = f"{WALK}{STEP}\nshown"
LONG = """\
import workbench as wb
from workbench.algorithms.reinforce import reinforce
shown = wb.Workbench(reinforce(B=16, I=40, T=20))
shown.apply(wb.transforms.Vectorize("b"))
shown
"""
UNTIL = """\
import pathlib, time
while not pathlib.Path({!r}).exists():
    time.sleep(0.1)
"""
CHANGE = """\
shown.show(shown.variants[0])
print("changed")
"""
SETTING = "@jupyterlab/apputils-extension:kernels-settings"
INSIDE = """svg => {
  const whole = svg.getBoundingClientRect();
  const out = ({ left, right, top, bottom }) =>
    left < whole.left - 1 || right > whole.right + 1 ||
    top < whole.top - 1 || bottom > whole.bottom + 1;
  return [...svg.querySelectorAll("text, path, line, circle")]
    .filter((one) => out(one.getBoundingClientRect()))
    .map((one) => one.textContent || one.outerHTML);
}"""
KERNEL = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"


def run_first(page: Page) -> None:
    """Runs the first cell, and makes the second the active one."""
    page.page.wait_for_function(IDLE, timeout=60_000, polling=100)
    page.page.locator(".jp-Notebook .jp-Cell").first.click()
    command(page, "notebook:run-cell-and-select-next")


def start_below(page: Page) -> None:
    """Starts the cells below the active one, and does not wait for the last, which waits for the
    test.
    """
    page.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-below'); }")
    page.page.wait_for_function(f"() => {KERNEL}?.status === 'busy'", timeout=60_000, polling=100)


TAKEN = re.compile(r"^[1-9]")
"""Rounds of which one is finished: rows are there as soon as they are checked."""


def test_variants_are_measured_in_turn_and_compared(lab: Lab) -> None:
    page = lab.open(lab.notebook("measure.ipynb", [SHOW, "print('still here')"]), width=1500)
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    open_pane(panel, "Compare")
    panel.get_by_label("rounds").fill("3")
    panel.get_by_role("button", name="Measure 2 variants").click()
    panel.locator(".wbk-progress").wait_for(timeout=30_000)
    command(page, "notebook:run-all-below")  # the notebook can be used meanwhile
    page.page.locator(".jp-OutputArea-output", has_text="still here").first.wait_for(timeout=30_000)
    panel.locator(".wbk-progress").wait_for(state="detached", timeout=120_000)
    table = panel.get_by_role("table").first
    expect(table).to_contain_text("Vectorize('b')")
    expect(table).to_contain_text(re.compile(r"[×÷] \d|no measurable difference"))
    lab.shot(page, "compare")
    open_pane(panel, "Variants")
    tree = panel.get_by_role("list", name="Variants")
    expect(tree.get_by_text("✓ checked")).to_have_count(2)
    lab.shot(page, "variants")
    page.check()


def test_a_measurement_is_cancelled_and_keeps_its_finished_rounds(lab: Lab) -> None:
    page = lab.open(lab.notebook("cancel.ipynb", [SHOW]), height=1400)
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    open_pane(panel, "Compare")
    panel.get_by_label("rounds").fill("200")  # more of them are too slow for a busy machine
    panel.get_by_role("button", name="Measure 2 variants").click()
    rounds = panel.locator(".wbk-rows .wbk-rounds")  # rows grow while it measures
    rounds.filter(has_text=TAKEN).nth(1).wait_for(timeout=120_000)
    panel.locator(".wbk-progress").get_by_role("button", name="Cancel").click()
    panel.locator(".wbk-progress").wait_for(state="detached", timeout=60_000)
    expect(panel.get_by_role("button", name="Measure 2 variants")).to_be_enabled()
    expect(rounds).to_have_text([re.compile(r"^\d+ of 200 rounds$")] * 2)
    assert len(set(rounds.all_inner_texts())) == 1
    lab.shot(page, "cancelled")
    page.check()


def test_what_was_measured_outlives_a_kernel_that_dies_while_more_is_measured(lab: Lab) -> None:
    show = SHOW.replace("T=5))", "T=5), 'outlives.jsonl')")
    page = lab.open(lab.notebook("dies.ipynb", [show, "import os; os._exit(1)"]), width=1500)
    run_first(page)
    panel = live(page)
    shows(panel, "Vectorize")
    open_pane(panel, "Compare")
    panel.get_by_label("rounds").fill("1")
    panel.get_by_role("button", name="Measure 2 variants").click()
    panel.locator(".wbk-progress").wait_for(timeout=60_000)
    panel.locator(".wbk-progress").wait_for(state="detached", timeout=120_000)
    rows = panel.locator(".wbk-table tbody tr")
    expect(rows).to_have_count(2)
    finished = rows.all_inner_texts()
    panel.get_by_label("rounds").fill("200")
    panel.get_by_role("button", name="Measure 2 variants").click()
    rounds = panel.locator(".wbk-rows .wbk-rounds")
    rounds.filter(has_text=TAKEN).nth(1).wait_for(timeout=120_000)
    page.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-below'); }")
    page.page.locator(".jp-Dialog .jp-mod-accept").click(timeout=60_000)  # JupyterLab tells of it
    panel.get_by_text("what was loaded still shows").wait_for(timeout=60_000)
    expect(panel.locator(".wbk-progress")).to_have_count(0)
    expect(rounds).to_have_count(2)
    lab.shot(page, "died")
    which = panel.get_by_label("Which comparison").locator("option")
    expect(which).to_have_count(2)
    page.page.locator(".jp-Notebook .jp-Cell").first.click()
    run_first(page)
    panel.get_by_text("what was loaded still shows").wait_for(state="detached", timeout=60_000)
    shows(panel, "Vectorize")
    expect(which).to_have_count(2)  # the file is read while the panel is shown already
    expect(rounds).to_have_text([re.compile(r"^\d+ of 200 rounds$")] * 2)  # as far as it came
    panel.get_by_label("Which comparison").select_option(index=1)
    expect(rounds).to_have_count(0)
    assert rows.all_inner_texts() == finished


@contextmanager
def without_subshells(lab: Lab, name: str, cells: Sequence[str]) -> Iterator[Page]:
    """A notebook whose Jupyter kernel answers nothing while a cell runs."""
    with setting(lab, SETTING, commsOverSubshells="disabled"):
        yield lab.open(lab.notebook(name, cells), under="without-subshells")


def test_a_click_while_a_cell_runs_is_answered(lab: Lab) -> None:
    page = lab.open(lab.notebook("answered.ipynb", [SMALL, UNTIL.format("go-answered")]))
    run_first(page)
    panel = live(page)
    shows(panel, "Vectorize")
    start_below(page)
    panel.get_by_role("button", name="Undo").click()
    shows(panel, "as written")
    (lab.root / "go-answered").touch()
    page.check()


def test_a_click_while_a_cell_runs_is_answered_after_it_without_subshells(lab: Lab) -> None:
    with without_subshells(lab, "after.ipynb", [SMALL, UNTIL.format("go-after")]) as page:
        run_first(page)
        panel = live(page)
        shows(panel, "Vectorize")
        start_below(page)
        panel.get_by_role("button", name="Undo").click()
        page.page.wait_for_timeout(1500)
        shows(panel, "Vectorize")
        (lab.root / "go-after").touch()
        shows(panel, "as written")
    page.check()


def test_a_panel_opened_while_a_cell_keeps_python_busy_shows_what_is_saved(lab: Lab) -> None:
    change, go = lab.root / "change-open", lab.root / "go-open"
    busy = UNTIL.format(change.name) + CHANGE + UNTIL.format(go.name)
    with without_subshells(lab, "opened.ipynb", [SMALL, busy]) as page:
        run_first(page)
        panel = live(page)
        shows(panel, "Vectorize")
        start_below(page)
        tab = page.page.locator(".lm-TabBar-tab", has_text="Workbench")
        tab.locator(".lm-TabBar-tabCloseIcon").click()
        panel.wait_for(state="detached")
        output = page.page.locator(".jp-OutputArea")
        output.get_by_role("button", name="Open", exact=True).click()
        panel.locator('.wbk-connection[data-status="saved"]').wait_for(timeout=60_000)
        panel.locator("g.node:visible").first.wait_for()
        shows(panel, "Vectorize")
        change.touch()  # the cell itself tells of a change, but answers nothing
        page.page.locator(".jp-OutputArea-output", has_text="changed").wait_for(timeout=60_000)
        panel.get_by_text("The Jupyter kernel does not answer yet").wait_for()
        lab.shot(page, "waiting")
        panel.locator('.wbk-connection[data-status="saved"]').wait_for(timeout=60_000)
        panel.locator("g.node:visible").first.wait_for()
        go.touch()
        live(page)
        shows(panel, "as written")
    page.check()


def test_the_graph_shows_where_a_running_program_is(lab: Lab) -> None:
    run = "wb.run(shown.variant, 'numpy', sizes={'I': 100}, progress=False)"
    page = lab.open(
        lab.notebook("running.ipynb", [LONG, UNTIL.format("ran").replace("time.sleep(0.1)", run)])
    )
    run_first(page)
    panel = live(page)
    start_below(page)
    running: Any = panel.locator(".wbk-run").first
    running.wait_for(timeout=60_000)
    lab.shot(page, "running")
    (lab.root / "ran").touch()
    running.wait_for(state="detached", timeout=120_000)
    page.check()


def test_sizes_that_are_measured_are_offered_where_those_asked_for_take_too_long(
    lab: Lab,
) -> None:
    cell = SHOW.replace("B=4, I=3, T=5", "B=64, I=5000, T=100")
    page = lab.open(lab.notebook("offered.ipynb", [cell]), width=1500)
    run_all(page)
    panel = live(page)
    open_pane(panel, "Compare")
    offer = panel.locator(".wbk-expected").get_by_role(
        "button", name=re.compile("Measure at I=[0-9]+$")
    )
    offer.wait_for(timeout=60_000)
    lab.shot(page, "offered")
    offer.click()
    panel.locator(".wbk-progress").wait_for(timeout=30_000)
    panel.locator(".wbk-table tbody tr").first.wait_for(timeout=120_000)
    expect(panel.locator(".wbk-expected button")).to_have_count(0)
    page.check()


def test_the_variant_that_a_program_runs_as_is_named_and_gone_to(lab: Lab) -> None:
    cell = LONG.replace('shown.apply(wb.transforms.Vectorize("b"))\n', "")
    run = "wb.run(shown.variants[0].program, 'numpy', sizes={'I': 3000}, progress=False)"
    looped = UNTIL.format("went").replace("time.sleep(0.1)", run)
    page = lab.open(lab.notebook("named.ipynb", [cell, looped]))
    run_first(page)
    panel = live(page)
    start_below(page)
    named = panel.locator(".wbk-run").first.get_by_role("button", name="automatic")
    named.wait_for(timeout=60_000)
    expect(panel.locator(".wbk-share")).to_have_count(0)  # as written is shown, which does not run
    open_pane(panel, "Variants")
    lab.shot(page, "named")
    named.click()
    panel.locator(".wbk-share").first.wait_for(timeout=60_000)
    expect(panel.locator(".wbk-run b")).to_have_text("automatic")
    lab.shot(page, "named-shown")
    (lab.root / "went").touch()
    page.check()


def test_a_huge_size_is_predicted_and_keeps_no_click_waiting(lab: Lab) -> None:
    page = lab.open(lab.notebook("huge.ipynb", [SHOW]), width=1500)
    run_all(page)
    panel = live(page)
    shows(panel, "Vectorize")
    open_pane(panel, "Compare")
    size = panel.locator(".wbk-field:visible", has_text="T").locator("input").first
    size.fill("100000000000")
    size.press("Enter")
    sweeps = panel.locator(".wbk-sweeps svg")
    expect(panel.locator(".wbk-slider-value")).to_have_text("T=100000000000")
    sweeps.first.wait_for(timeout=30_000)
    expect(panel.locator(".wbk-estimate").first).to_contain_text("TB")
    sweeps.first.scroll_into_view_if_needed()
    lab.shot(page, "huge")
    for drawn in sweeps.all():
        inside = drawn.evaluate(INSIDE)
        assert inside == [], f"drawn outside of the chart: {inside}"
    size.fill("5")
    size.press("Enter")
    open_pane(panel, "Moves")
    panel.locator(".wbk-move", has_text="Vectorize t").last.click()
    panel.locator(".wbk-costs").wait_for(timeout=10_000)
    page.check()
