import { afterEach, describe, expect, test } from "vitest";
import type { NotMadeView, ProgressView, RunView, State } from "../../../src/protocol";
import { Progress } from "../../../src/frame/notices/progress";
import { predicting } from "../../../src/model/selection";
import { firstOutput, lastOf } from "../../../src/views/charts/outputs";
import { axisLength } from "../../../src/views/run/curve";
import { progressText, Run, runsOf } from "../../../src/views/run/run";
import { act, byText, type Drawn, drawn, enter, GOLDEN, texts } from "../../drawing";

const { state } = GOLDEN;
const [whole, stopped] = state.runs as readonly [RunView, RunView];

let shown: Drawn;
afterEach(() => shown?.takeDown());

/** The pane of the variant of a run. */
async function pane(of: RunView, live = false, more: Partial<State> = {}): Promise<void> {
  shown = await drawn(Run, { ...GOLDEN, state: { ...state, current: of.variant, ...more } }, live);
}

const UNDER_WAY: ProgressView = {
  what: "run", stage: "running", done: 2, total: 4, variants: [whole.variant], group: whole.id,
};

describe("a size", () => {
  const field = (): HTMLInputElement => shown.host.querySelector<HTMLInputElement>("input.wbk-size") as HTMLInputElement;
  const leave = (): Promise<void> =>
    act(async () => void field().dispatchEvent(new FocusEvent("focusout", { bubbles: true })));

  test.each(["0", "-3", "2.5", ""])("that is %j is refused with a word, and stays as it was", async (text) => {
    await pane(whole, true);
    const [name, value] = [field().parentElement?.querySelector("span")?.textContent, field().value];
    await enter(field(), text);
    expect(shown.host.querySelector("[role=alert]")).toBeNull();
    await leave();
    const said = `${name} is a whole number from 1 on, not ${text || "nothing"}; it stays ${value}`;
    expect(texts(shown.host, ".wbk-field-error")).toEqual([said]);
    expect(shown.store.values().selection.sizes).toEqual({});
  });

  test("takes effect when it is left", async () => {
    await pane(whole, true);
    await enter(field(), "5");
    await leave();
    expect(Object.values(shown.store.values().selection.sizes)).toEqual([5]);
    expect(shown.host.querySelector(".wbk-field-error")).toBeNull();
  });
});

describe("the steps of episodes", () => {
  const ended = { ...whole, lengths: { t: 4.26 } };
  const field = (): HTMLInputElement =>
    [...shown.host.querySelectorAll("label")].find((one) => one.textContent?.startsWith("steps of"))?.querySelector("input") as HTMLInputElement;
  const said = (): string => field().parentElement?.lastElementChild?.textContent ?? "";
  const leave = async (text: string): Promise<void> => {
    await enter(field(), text);
    await act(async () => void field().dispatchEvent(new FocusEvent("focusout", { bubbles: true })));
  };
  const predicted = (): unknown => predicting(shown.store.values().state as State, shown.store.values().selection).lengths;
  const ends = [{ dim: "t", size: "T" }];

  test("are asked for only where episodes end", async () => {
    await pane(whole, true);
    expect(field()).toBeUndefined();
    expect(predicted()).toBeUndefined();
  });

  test("are all of them before a run", async () => {
    await pane(whole, true, { ends });
    expect([field().placeholder, said()]).toEqual(["7", "all of them, until a run measures it"]);
    expect(predicted()).toBeUndefined();
  });

  test("are those of the last run, or what is expected", async () => {
    await pane(whole, true, { ends, runs: [stopped, ended] });
    expect([field().value, field().placeholder, said()]).toEqual(["", "4.3", "measured by the last run"]);
    expect(predicted()).toEqual({ t: ended.id });
    await leave("3.5");
    expect(said()).toBe("expected; 4.3 in the last run");
    expect(predicted()).toEqual({ t: 3.5 });
    await leave("");
    expect(predicted()).toEqual({ t: ended.id });
  });

  test("are refused where an episode cannot have so many", async () => {
    await pane(whole, true, { ends });
    for (const text of ["8", "0.5"]) {
      await leave(text);
      expect(said()).toBe(`an episode along t has from 1 to 7 steps, not ${text}`);
      expect(predicted()).toBeUndefined();
    }
  });
});

describe("the pane", () => {
  test("shows what a run came to: its last return, its time, how fast it was", async () => {
    await pane(whole);
    expect(shown.host.querySelector(".wbk-total")?.textContent).toBe(
      "32.50 return per episode · 4 updates · 500 ms · 4 k environment steps/s",
    );
    const notes = texts(shown.host, ".wbk-note").join("\n");
    expect(notes).toContain("numpy, float32, seed 0, B=3, T=7");
    expect(notes).toContain("compiled in 250 ms; peak 2.05 kB");
    expect(shown.host.textContent).not.toContain("In Python");
  });

  test("shows another output when told to", async () => {
    await pane(whole);
    await enter(shown.host.querySelector(".wbk-bar-end select"), "loss");
    expect(shown.host.querySelector(".wbk-total")?.textContent).toContain("0.2500 loss");
  });

  test("says where one was stopped, and how to have its arrays", async () => {
    await pane(stopped, true);
    expect(shown.host.querySelector(".wbk-total")?.textContent).toContain("2 of 4 updates, then stopped");
    expect(shown.host.textContent).toContain("In Python: .result of this workbench is this run");
  });

  test("says that Python has the arrays of that run alone", async () => {
    await pane(whole, true);
    expect(shown.host.textContent).not.toContain("In Python");
  });

  test("says why one failed, and nothing that contradicts it", async () => {
    const failed = { ...stopped, completed: 0, seconds: 0, curves: [], failed: "the matrix is singular at i=1500" };
    await pane(stopped, true, { runs: [whole, failed] });
    expect(texts(shown.host, "[role=alert]")).toEqual([failed.failed]);
    expect(shown.host.querySelector(".wbk-total")?.textContent).toContain("0 of 4 updates, then it ended");
    expect(texts(shown.host, ".wbk-hint")).toEqual(["No iteration of it was finished."]);
    expect(shown.host.textContent).not.toContain("In Python");
  });

  test("shows a run that is under way as that of the program before, where that is changed", async () => {
    const variants = state.variants.filter(({ key }) => key !== whole.variant);
    await pane(stopped, true, { variants, runs: [whole], measuring: UNDER_WAY });
    expect(texts(shown.host, ".wbk-measure .wbk-note")[0]).toContain("Running: as written, of the program before it was changed.");
    expect(texts(shown.host, "h4")).toEqual(["as written, of the program before it was changed"]);
    expect(shown.host.textContent).not.toContain("has not been run here yet");
    const ended = { ...state, current: stopped.variant, variants, runs: [whole], measuring: null, revision: state.revision + 1 };
    await shown.hear({ type: "state", state: ended, open: false });
    expect(texts(shown.host, "h4")).toEqual(["as written, of the program before it was changed"]);
    expect(shown.host.textContent).not.toContain("In Python");
  });

  test("without a run says what one shows, and leads to the variants that have one", async () => {
    await pane({ ...whole, variant: state.variants[3]?.key ?? "" }, true);
    expect(shown.host.querySelector(".wbk-nothing")?.textContent).toMatch(/^This variant has not been run here yet\./);
    expect(texts(shown.host, ".wbk-profiled .wbk-link")).toEqual(["as written", "Vectorize('b')"]);
    await shown.press(byText(shown.host, ".wbk-profiled .wbk-link", "as written"));
    expect(shown.sent.at(-1)).toMatchObject({ type: "show", variant: whole.variant });
  });

  test("of a saved workbench runs nothing, and says so", async () => {
    await pane(whole);
    expect(byText(shown.host, "button", "Run")).toBeUndefined();
    expect(shown.host.textContent).toContain("Saved results. Run the notebook to run more.");
  });
});

describe("running", () => {
  test("asks for the shown variant with the selected run and the seed", async () => {
    await pane(whole, true);
    await act(async () => shown.store.select({ sizes: { T: 9 } }));
    await enter([...shown.host.querySelectorAll("input")].at(-1), "7");
    await shown.press(byText(shown.host, "button", "Run"));
    expect(shown.sent.at(-1)).toMatchObject({
      type: "run", variant: whole.variant, backend: "numpy", sizes: { T: 9 }, dtype: "float32", seed: 7, here: false,
    });
  });

  test("says which variant runs, whatever is shown, and waits for it", async () => {
    await pane(stopped, true, { measuring: UNDER_WAY });
    expect(byText(shown.host, "button", "Running …")).toHaveProperty("disabled", true);
    expect(texts(shown.host, ".wbk-measure .wbk-note")[0]).toContain("Running: as written.");
  });

  test("is told over every pane, with a way to the variant and in its own unit", async () => {
    shown = await drawn(Progress, { ...GOLDEN, state: { ...state, current: stopped.variant, measuring: UNDER_WAY } }, true);
    expect(shown.host.querySelector(".wbk-progress")?.textContent).toContain("2 of 4 updates");
    await shown.press(byText(shown.host, ".wbk-progress .wbk-link", "as written"));
    expect(shown.sent.at(-1)).toMatchObject({ type: "show", variant: whole.variant });
  });

  const refused: NotMadeView = {
    variant: whole.variant, backend: "native", dtype: "float64", sizes: { T: 40 }, seed: 3, too_long: false, not_sent: true,
    error: { sentence: "this cannot be given to another process: a lock", line: null, trace: "", cycle: null, arguments: {} },
  };

  test("in a Jupyter kernel that ends meanwhile is told for as long as it is away", async () => {
    await pane(whole, true);
    await shown.press(byText(shown.host, "button", "Run"));
    await shown.become("disconnected");
    expect(texts(shown.host, "[role=alert]")).toEqual([expect.stringContaining("does not answer: start it")]);
    await shown.become("empty");
    expect(texts(shown.host, "[role=alert]")).toEqual([expect.stringContaining("was restarted: run the notebook's cell")]);
    await shown.become("connected");
    expect(texts(shown.host, "[role=alert]")).toEqual([]);
  });

  test("what cannot be sent to another process is asked about, and runs in the kernel", async () => {
    await pane(whole, true, { unrun: refused });
    expect(shown.host.querySelector("[role=alert]")?.textContent).toContain("a lock The Jupyter kernel can do it");
    await shown.press(byText(shown.host, "button", "Run in the Jupyter kernel"));
    expect(shown.sent.at(-1)).toMatchObject({
      type: "run", variant: whole.variant, backend: "native", sizes: { T: 40 }, dtype: "float64", seed: 3, here: true,
    });
  });

  test("that failed otherwise is told, of its own variant", async () => {
    await pane(whole, true, { unrun: { ...refused, not_sent: false } });
    expect(shown.host.querySelector("[role=alert]")?.textContent).toBe(refused.error.sentence);
    expect(byText(shown.host, "button", "Run in the Jupyter kernel")).toBeUndefined();
    await shown.takeDown();
    await pane(stopped, true, { unrun: refused });
    expect(shown.host.querySelector("[role=alert]")).toBeNull();
  });
});

test("how far a run is stands in the words of its program", () => {
  const so = (more: Partial<RunView>, running = true): string =>
    progressText({ ...whole, environment_steps: 0, seconds: 2, ...more }, running);
  expect(so({ completed: 0, seconds: 0 })).toBe("0 of 4 updates · 0 s");
  expect(so({ completed: 3, counted: "t" })).toBe("3 of 4 iterations of t · 2 s");
  expect(so({ completed: 3, counted: "run" })).toBe("3 of 4 iterations of run · 2 s");
  expect(so({ completed: 0, total: 1, counted: "" })).toBe("begun · 2 s");
  expect(so({ completed: 1, total: 1, counted: "" }, false)).toBe("done · 2 s");
});

test("the axis of a curve doubles while it grows, up to the whole run", () => {
  expect([0, 3, 4, 70, 100].map((done) => axisLength(done, 100))).toEqual([2, 4, 4, 100, 100]);
});

test("the newest run comes first, and the return is what is looked at", () => {
  const twice = { runs: [whole, stopped, { ...whole, id: "later" }] };
  expect(runsOf(twice, whole.variant).map(({ id }) => id)).toEqual(["later", "whole"]);
  expect(firstOutput(["loss", "episode_return"])).toBe("episode_return");
  expect(firstOutput(["loss"])).toBe("loss");
  expect(lastOf({ name: "x", dim: "i", every: 1, values: [1, 2, null] })).toBe(2);
});
