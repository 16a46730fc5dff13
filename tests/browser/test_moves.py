"""Moves live in JupyterLab: what can be done, why not, a step by hand; instances and values."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.lab import Lab, Page, run_all
from tests.browser.panel import live, open_pane, select, shows

WRONG = """\
import workbench as wb

@wb.program
def wrong(B=2, T=5):
    b, t = wb.dims(b=B, t=T)
    s = wb.recurrent("s", (), over=(b, t))
    s[b, 0] = 2.0
    s[b, t + 1] = wb.log(s)
    return {"last": s[b, T]}

wb.Workbench(wrong())
"""


def test_a_step_made_by_hand_says_what_is_wrong_with_it(lab: Lab, written: Page) -> None:
    panel = live(written)
    open_pane(panel, "Moves")
    panel.get_by_role("button", name="New step").click()
    form = panel.locator(".wbk-step-form")
    form.get_by_role("button", name="Preview").click()
    form.get_by_text("Vectorize lacks its argument dim").wait_for(timeout=30_000)
    expect(form.locator(".wbk-name-choice")).to_be_focused()
    lab.shot(written, "form-lacking")
    form.locator(".wbk-step-kind select").select_option("Contract")
    form.locator(".wbk-name-input").fill("gains")
    written.page.keyboard.press("Enter")
    form.get_by_text("unknown array gains: did you mean gain?").wait_for(timeout=30_000)
    expect(form.locator(".wbk-name-input")).to_be_focused()
    lab.shot(written, "form")
    form.locator(".wbk-step-kind select").select_option("Vectorize")
    form.locator(".wbk-name-choice").select_option("b")
    form.get_by_role("button", name="Preview").click()
    panel.locator(".wbk-costs").wait_for(timeout=30_000)
    written.page.keyboard.press("Escape")
    panel.locator(".wbk-open-step").wait_for(state="detached")
    written.check()


def test_a_step_is_found_previewed_and_taken_and_a_refused_one_explained(
    lab: Lab, written: Page
) -> None:
    panel = live(written)
    open_pane(panel, "Moves")
    moves = panel.locator(".wbk-moves")
    row = moves.locator(".wbk-move", has_text="Vectorize b").first
    row.wait_for(timeout=30_000)
    moves.locator(".wbk-price").first.wait_for(timeout=60_000)
    row.focus()
    panel.locator(".node.wbk-pointed").first.wait_for(timeout=10_000)
    expect(panel.locator(".wbk-move-said")).to_contain_text("Vectorize: ")
    expect(panel.locator(".wbk-estimated")).to_contain_text("Estimated at B=")
    lab.shot(written, "moves")

    select(panel, "hidden_1")
    own = moves.locator("section[aria-label='For policy.hidden_1']")
    own.locator(".wbk-refused-move", has_text="Vectorize t").click()
    panel.locator(".wbk-witness").wait_for(timeout=30_000)
    expect(panel.locator(".wbk-letter")).to_have_text(["A", "B"])
    expect(panel).to_contain_text("state[t+1] at b=0, i=0, t=0 writes state[0, 0, 1]")
    expect(panel.get_by_role("button", name="Apply", exact=True)).to_be_disabled()
    size = panel.locator(".wbk-one-size input").last
    size.fill("6")
    panel.locator(".wbk-point").nth(11).wait_for(timeout=30_000)
    lab.shot(written, "why")
    written.page.keyboard.press("Escape")

    panel.locator(".wbk-open-step").wait_for(state="detached")
    moves.locator(".wbk-move", has_text="Vectorize b").last.click()
    panel.locator(".wbk-costs").wait_for(timeout=30_000)
    lab.shot(written, "preview")
    panel.get_by_role("button", name="Apply", exact=True).click()
    shows(panel, "Vectorize")
    moves.locator(".wbk-move").first.wait_for(timeout=30_000)
    written.check()
    lab.tidy()


def test_a_value_that_is_not_finite_is_followed_back(lab: Lab) -> None:
    page = lab.open(lab.notebook("value.ipynb", [WRONG]))
    run_all(page)
    panel = live(page)
    panel.locator("g.node", has_text="t + 1").click()
    open_pane(panel, "Instances")
    last = panel.locator('.wbk-point[aria-label^="s[t+1] at b=1, t=4,"]')
    last.click(timeout=30_000)
    panel.locator(".wbk-cause button").first.wait_for(timeout=30_000)
    expect(panel.locator(".wbk-value-of")).to_contain_text("s[b=1, t=5] = nan")
    panel.locator(".wbk-cause button").first.click()
    panel.get_by_text("It began here: all inputs are finite.").wait_for(timeout=30_000)
    expect(panel.locator(".wbk-trail li")).to_have_count(2)
    lab.shot(page, "value")
    page.check()


def test_a_legal_step_says_why_and_draws_its_instances(lab: Lab, written: Page) -> None:
    panel = live(written)
    open_pane(panel, "Moves")
    select(panel, "worth")
    own = panel.locator("section[aria-label='For worth']")
    own.locator(".wbk-move", has_text="Vectorize t").first.click()
    why = panel.locator("section[aria-label='Why it is legal']")
    expect(why.locator(".wbk-sentence")).to_contain_text(
        "no worth reads another along t; all read gain, which is complete before"
    )
    why.locator(".wbk-point").first.wait_for(timeout=30_000)
    band = why.locator(".wbk-point", has=written.page.locator("title", has_text="worth["))
    numbers = band.locator(".wbk-order").all_inner_texts()
    assert len(numbers) > 1 and len(set(numbers)) == 1
    expect(why.locator(".wbk-broken.wbk-arrow")).to_have_count(0)
    why.scroll_into_view_if_needed()
    lab.shot(written, "why-legal")
    lab.shot(written, "why-legal-dark", "JupyterLab Dark")
    why.locator("summary").last.click()
    expect(why.locator("li").first).to_be_visible()
    why.locator("li").last.scroll_into_view_if_needed()
    lab.shot(written, "why-legal-pairs")
    written.page.keyboard.press("Escape")
    panel.locator(".wbk-open-step").wait_for(state="detached")
    own.locator(".wbk-move", has_text="Incrementalize worth").first.click()
    expect(why.locator(".wbk-conditions dd").first).to_have_text("worth is a sum")
    why.locator("summary", has_text="Equations before and after").click()
    expect(why.locator("pre")).to_contain_text("- worth[b, i, t] = sum(")
    why.locator("pre").scroll_into_view_if_needed()
    lab.shot(written, "why-legal-equations")
    lab.shot(written, "why-legal-equations-dark", "JupyterLab Dark")
    written.page.keyboard.press("Escape")
    panel.locator(".wbk-open-step").wait_for(state="detached")
    written.check()
    lab.tidy()
