"""Programs that cannot be traced, told in the panel over whatever is shown."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.lab import Lab, run_all, run_cell
from tests.browser.panel import live, still

SHOWN = """\
import workbench as wb

@wb.program
def walk(T=4):
    t = wb.dim(t=T)
    place = wb.recurrent("place", (), over=t)
    place[0] = 0.0
    place[t + 1] = place[t] + 1.0
    return {"far": place.sum(over=t)}

wb.Workbench(walk())
"""
CYCLE = """\
@wb.program
def cyc(B=2, T=4, factor=0.5):
    b, t = wb.dims(b=B, t=T)
    position = wb.recurrent("position_of_the_cart", (), over=(b, t))
    speed = wb.recurrent("speed", (), over=(b, t))
    position[b, t] = factor * wb.tanh(speed[b, t] + 1.0) + wb.uniform(over=(b, t)) * speed[b, t]
    speed[b, t] = position + 1.0
    return {"far": position.sum(over=(b, t))}

cyc()
"""
LOST = SHOWN.partition("\n\n")[2].replace("walk", "lost").replace("place[t] +", "nowhere +")
BROKEN = SHOWN.replace("place[0] = 0.0", "place[0] = wb.tanh(1.0, 2.0)")
SOURCE = """([number, before, after]) => {
  const notebook = [...window.jupyterapp.shell.widgets("main")].find((one) => one.content?.widgets);
  const { sharedModel } = notebook.content.widgets[number].model;
  sharedModel.setSource(sharedModel.getSource().replace(before, after));
}"""


def test_every_program_that_cannot_be_traced_is_told_until_it_is(lab: Lab) -> None:
    page = lab.open(
        lab.notebook("untraced.ipynb", [SHOWN, CYCLE, LOST, BROKEN]), width=1500, height=900
    )
    page.page.locator(".jp-Notebook .jp-Cell").first.click()
    run_all(page)
    panel = live(page)
    still(page)
    failures = panel.get_by_role("alert")
    mark = panel.locator(".wbk-connection:visible")
    page.page.wait_for_timeout(500)  # JupyterLab did not run what is behind the cell that failed
    expect(failures).to_have_count(1)
    expect(failures).to_contain_text("cyc of cell 2 could not be traced: each of these needs")
    expect(failures.locator(".wbk-instance")).to_have_text(
        ["position_of_the_cart[b=0, t=0]", "speed[b=0, t=0]"]
    )
    expect(mark).to_have_text("live")  # walk is as it is written
    lab.shot(page, "untraced-cycle")
    failures.get_by_role("button", name="Show line").last.click()
    page.page.locator(".wbk-line-mark").wait_for(state="attached")
    assert page.page.locator(".jp-Cell.jp-mod-active").inner_text().count("def cyc") == 1
    run_cell(page, 2)
    expect(failures).to_have_count(2)
    expect(failures.last).to_contain_text("lost of cell 3 could not be traced: NameError")
    run_cell(page, 3)
    expect(failures).to_have_count(3)
    expect(failures.first).to_contain_text("walk of cell 4 could not be traced")
    expect(failures.first).to_contain_text("Shown is how it was before.")
    expect(mark).to_have_text("out of date")
    assert panel.locator("g.node:visible").count() > 2
    lab.shot(page, "untraced")
    lab.shot(page, "untraced-dark", "JupyterLab Dark")
    page.page.evaluate(SOURCE, [1, "factor=0.5", "factor=0.25"])  # the same again, elsewhere
    run_cell(page, 1)
    expect(failures.get_by_text("cyc of cell 5")).to_be_visible()
    expect(failures).to_have_count(3)
    page.page.evaluate(SOURCE, [1, "speed[b, t] = position", "speed[b, t] = 1.0"])
    run_cell(page, 1)
    expect(failures).to_have_count(2)
    run_cell(page, 0)
    expect(failures).to_have_count(1)
    expect(mark).to_have_text("live")
    page.page.set_viewport_size({"width": 800, "height": 700})
    lab.shot(page, "untraced-narrow")
    failures.get_by_role("button", name="Close the message").click()
    expect(failures).to_have_count(0)
    page.check()


def test_a_cycle_of_the_program_on_show_is_drawn_in_a_narrow_panel(lab: Lab) -> None:
    page = lab.open(lab.notebook("narrow.ipynb", [SHOWN, CYCLE.replace("cyc", "walk")]))
    run_all(page)
    panel = live(page)
    still(page)
    cycle = panel.locator(".wbk-cycle")
    cycle.wait_for()
    page.page.set_viewport_size({"width": 820, "height": 760})
    lab.shot(page, "cycle-narrow")
    lab.shot(page, "cycle-narrow-dark", "JupyterLab Dark")
    outer = panel.locator(".wbk-banners").bounding_box()
    for box in (one.bounding_box() for one in cycle.locator("code, button").all()):
        assert box["x"] + box["width"] <= outer["x"] + outer["width"], "it stands out on the right"
    page.check()
