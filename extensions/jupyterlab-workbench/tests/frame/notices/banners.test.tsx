import { act } from "react";
import { expect, test, vi } from "vitest";
import { Banners } from "../../../src/frame/notices/banners";
import { Progress } from "../../../src/frame/notices/progress";
import type { CycleView, ErrorView, UntracedView } from "../../../src/protocol";
import { byText, drawn, GOLDEN, texts } from "../../drawing";

const LINE = { file: "cell", number: 6, text: "    x[t] = y[t]", place: "cell 4, line 6" };
const ERROR: ErrorView = { sentence: "unknown dim u", line: LINE, trace: "", cycle: null, arguments: {} };
const untraced = (program: string, error: Partial<ErrorView> = {}): UntracedView => ({
  program, place: "cell 4", error: { ...ERROR, ...error },
});
const ring = (count: number): CycleView => ({
  instances: Array.from({ length: count }, (_, n) => ({ text: `x_${n}[t=0]`, line: LINE })),
  sizes: { T: 1 },
});

test("every program that could not be traced is told, with its cell, why, and its line", async () => {
  const showLine = vi.fn();
  const shown = await drawn(Banners, GOLDEN, true, { showLine });
  const { host } = shown;
  await shown.hear({ type: "untraced", programs: [untraced("cyc"), untraced("lost", { line: null })] });
  expect(texts(host, "[role=alert] .wbk-sentences")).toEqual([
    "cyc of cell 4 could not be traced: unknown dim u.",
    "lost of cell 4 could not be traced: unknown dim u.",
  ]);
  await shown.press(byText(host, "button", "Show line"));
  expect(showLine).toHaveBeenCalledWith(6, LINE.text);
  await shown.hear({ type: "untraced", programs: [untraced("lost")] });
  expect(texts(host, "[role=alert] strong")).toEqual(["lost"]);
  await shown.takeDown();
});

test("one that is put away comes back when it fails again", async () => {
  const shown = await drawn(Banners, GOLDEN, true);
  const { host, hear } = shown;
  await hear({ type: "untraced", programs: [untraced("cyc")] });
  await shown.press(host.querySelector("[aria-label='Close the message']"));
  expect(host.querySelector("[role=alert]")).toBeNull();
  await hear({ type: "untraced", programs: [untraced("cyc"), untraced("lost")] });
  expect(texts(host, "[role=alert] strong")).toEqual(["lost"]);
  await hear({ type: "untraced", programs: [] });
  await hear({ type: "untraced", programs: [untraced("cyc")] });
  expect(texts(host, "[role=alert] strong")).toEqual(["cyc"]);
  await shown.takeDown();
});

test("the program that is shown is told to be how it was before", async () => {
  const shown = await drawn(Banners, GOLDEN, true);
  const state = { ...GOLDEN.state, revision: 100, error: untraced(GOLDEN.state.name) };
  await shown.hear({ type: "state", state, open: false });
  expect(texts(shown.host, "[role=alert] .wbk-sentences")[0]).toContain("Shown is how it was before.");
  await shown.takeDown();
});

test("a workbench that is not shown tells of its program too", async () => {
  const shown = await drawn(Banners, GOLDEN, true);
  const state = { ...GOLDEN.state, workbench: "other", name: "other", error: untraced("other") };
  await shown.hear({ type: "state", state, open: false });
  expect(texts(shown.host, "[role=alert] strong")).toEqual(["other"]);
  await shown.takeDown();
});

test("a cycle is drawn with a line for each instance, of a long one the ends at first", async () => {
  const shown = await drawn(Banners, GOLDEN, true);
  const { host } = shown;
  await shown.hear({ type: "untraced", programs: [untraced("cyc", { cycle: ring(2) })] });
  expect(texts(host, ".wbk-cycle .wbk-instance")).toEqual(["x_0[t=0]", "x_1[t=0]"]);
  expect(texts(host, ".wbk-cycle .wbk-error-line code")).toEqual(["x[t] = y[t]", "x[t] = y[t]"]);
  expect(texts(host, ".wbk-sentences")[0]).toBe(
    "cyc of cell 4 could not be traced: each of these needs the next with no delay, at T=1 already.",
  );
  await shown.hear({ type: "untraced", programs: [untraced("cyc", { cycle: ring(9) })] });
  const drawnOnes = (): readonly string[] => texts(host, ".wbk-instance");
  expect(drawnOnes()).toEqual(["x_0[t=0]", "x_1[t=0]", "x_2[t=0]", "x_6[t=0]", "x_7[t=0]", "x_8[t=0]"]);
  await shown.press(byText(host, "button", "3 more between"));
  expect(drawnOnes()).toHaveLength(9);
  await shown.takeDown();
});

test("in place of a Jupyter kernel that has not run the program, its cell can be run", async () => {
  const runCell = vi.fn(async () => true);
  const shown = await drawn(Banners, GOLDEN, false, { runCell });
  const { host, store } = shown;
  expect(host.textContent).toBe("");
  await act(async () => store.standFor("waiting"));
  expect(host.textContent).toContain("does not answer yet");
  await act(async () => store.standFor("empty"));
  expect(texts(host, "[role=status] p")).toEqual([
    `This Jupyter kernel has not run ${GOLDEN.state.name} yet: this is what was saved.`,
  ]);
  await shown.press(byText(host, "button", "Run its cell"));
  expect(runCell).toHaveBeenLastCalledWith(GOLDEN.state.workbench, false);
  await shown.press(byText(host, "button", "Run all cells up to it"));
  expect(runCell).toHaveBeenLastCalledWith(GOLDEN.state.workbench, true);
  await shown.takeDown();
});

test("where no cell needs to show a program yet, all cells can be run", async () => {
  const runCell = vi.fn(async () => true);
  const shown = await drawn(Banners, GOLDEN, true, { runCell });
  const notice = { text: "A link to other is open.", failed: false, missing: "other", unseen: true };
  await act(async () => shown.store.say(notice));
  expect(byText(shown.host, "button", "Run its cell")).toBeFalsy();
  await shown.press(byText(shown.host, "button", "Run the cells"));
  expect(runCell).toHaveBeenCalledWith("other", true);
  await shown.takeDown();
});

test("the cell of a workbench that the Jupyter kernel does not have can be run", async () => {
  const runCell = vi.fn(async () => true);
  const shown = await drawn(Banners, GOLDEN, true, { runCell });
  await act(async () => shown.store.say({ text: "This Jupyter kernel has not run other yet.", failed: false, missing: "other" }));
  await shown.press(byText(shown.host, "button", "Run its cell"));
  expect(runCell).toHaveBeenCalledWith("other", false);
  expect(shown.host.textContent).toBe("");
  await shown.takeDown();
});

test("a cell that ends early is told, until it is run again", async () => {
  const ends = [false, true];
  const runCell = vi.fn(async () => ends.shift() ?? true);
  const shown = await drawn(Banners, GOLDEN, false, { runCell });
  await act(async () => shown.store.standFor("empty"));
  await shown.press(byText(shown.host, "button", "Run its cell"));
  expect(texts(shown.host, "[role=alert]")[0]).toContain("did not run to its end");
  await shown.press(byText(shown.host, "button", "Run its cell"));
  expect(texts(shown.host, "[role=alert]")).toEqual([]);
  await shown.takeDown();
});

test("a search tells what it tries, has no end that is known, and is cancelled", async () => {
  const measuring = { what: "search", stage: "251 s and 8 MB so far; trying Simplify()", done: 37, total: 0, variants: [], group: "" } as const;
  const shown = await drawn(Progress, { ...GOLDEN, state: { ...GOLDEN.state, measuring } }, true);
  expect(texts(shown.host, ".wbk-doing")).toEqual([`${measuring.stage} `]);
  expect(texts(shown.host, ".wbk-count")).toEqual(["37 plans tried"]);
  expect(shown.host.querySelector("progress")?.hasAttribute("value")).toBe(false);
  await shown.press(byText(shown.host, "button", "Cancel"));
  expect(shown.sent).toMatchObject([{ type: "cancel" }]);
  await shown.takeDown();
});

test("a measurement that is cancelled says in a plain line what was stopped and what is kept", async () => {
  const [written] = GOLDEN.state.variants;
  const measuring = { what: "measurement", stage: "compiling and checking", done: 1, total: 2, variants: [written?.key ?? ""], group: "" } as const;
  const shown = await drawn(Progress, { ...GOLDEN, state: { ...GOLDEN.state, measuring } }, true);
  await shown.press(byText(shown.host, "button", "Cancel"));
  await shown.answer((id) => ({ type: "done", id, variant: null }));
  const notice = shown.store.values().notice;
  expect(notice?.text).toBe(`The measurement of ${written?.name} was stopped: no round was done, so none is kept.`);
  expect(notice?.failed).toBe(false);
  await shown.takeDown();
});

test("a profile that is cancelled says what is kept of it", async () => {
  const [written] = GOLDEN.state.variants;
  const measuring = { what: "profile", stage: "profiling", done: 2, total: 9, variants: [written?.key ?? ""], group: "" } as const;
  const shown = await drawn(Progress, { ...GOLDEN, state: { ...GOLDEN.state, measuring } }, true);
  await shown.press(byText(shown.host, "button", "Cancel"));
  await shown.answer((id) => ({ type: "done", id, variant: null }));
  expect(shown.store.values().notice?.text).toBe(`The profile of ${written?.name} was stopped: its finished rounds are kept.`);
  await shown.takeDown();
});

test("steps of another program are told to be so, with a way to be rid of them", async () => {
  const asked = vi.fn(() => Promise.resolve(null));
  const shown = await drawn(Banners, GOLDEN, true);
  shown.store.ask = asked as never;
  const [written, changed] = GOLDEN.state.variants;
  const state = { ...GOLDEN.state, revision: 100, current: changed?.key ?? "", taken_over: "The steps are those of another program." };
  await shown.hear({ type: "state", state, open: false });
  expect(texts(shown.host, "[role=status] p")).toContain(state.taken_over);
  await shown.press(byText(shown.host, "button", "Show as written"));
  expect(asked).toHaveBeenCalledWith({ type: "show", variant: written?.key });
  await shown.press(shown.host.querySelector("[aria-label='Close the message']"));
  expect(shown.host.textContent).not.toContain(state.taken_over);
  await shown.takeDown();
});
