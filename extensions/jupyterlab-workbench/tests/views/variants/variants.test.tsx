import { afterEach, describe, expect, test, vi } from "vitest";
import type { Capsule, VariantView } from "../../../src/protocol";
import { stations } from "../../../src/views/variants/subway";
import { peaksChangeText, peaksText, secondsText } from "../../../src/model/numbers";
import { Variants } from "../../../src/views/variants/variants";
import { act, byText, type Drawn, drawn, enter, fire, GOLDEN, texts } from "../../drawing";

const { state } = GOLDEN;
const [root, one, two, branch] = state.variants as readonly [VariantView, VariantView, VariantView, VariantView];

let shown: Drawn;
afterEach(() => shown?.takeDown());

const row = (variant: VariantView): HTMLElement => {
  const at = stations(state.variants).findIndex((station) => station.variant.key === variant.key);
  return shown.host.querySelectorAll<HTMLElement>(".wbk-stop")[at] as HTMLElement;
};

/** Opens the menu of a variant. */
const menu = (variant: VariantView): Promise<void> => shown.press(row(variant).querySelector("[aria-haspopup=menu]"));

/** The entry of the open menu. */
const entry = (text: string): HTMLElement | undefined => byText(shown.host, "[role=menuitem]", text);

function drag(type: string, data: Map<string, string>): Event {
  const event = new Event(type, { bubbles: true, cancelable: true });
  const dataTransfer = {
    types: ["application/x-workbench-variant"],
    setData: (kind: string, value: string) => data.set(kind, value),
    getData: (kind: string) => data.get(kind) ?? "",
  };
  return Object.assign(event, { dataTransfer });
}

async function dropped(from: VariantView, onto: VariantView): Promise<void> {
  const data = new Map<string, string>();
  await fire(row(from), drag("dragstart", data));
  await fire(row(onto), drag("dragover", data));
  await fire(row(onto), drag("drop", data));
}

describe("the lines", () => {
  const variant = (key: string, parent: string | null): VariantView => ({ ...root, key, parent });

  test("children follow their parent; lanes that pass lead to rows further down; no lane is used twice", () => {
    let seed = 3;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    for (let round = 0; round < 200; round++) {
      const all = Array.from({ length: 1 + random(12) }, (_, k) => variant(String(k), k ? String(random(k)) : null));
      const rows = stations(all);
      expect(rows.map((station) => station.variant.key).sort()).toEqual(all.map((own) => own.key).sort());
      rows.forEach((station, at) => {
        const parent = rows.findIndex((other) => other.variant.key === station.variant.parent);
        expect(parent).toBeLessThan(at);
        expect(station.from).toBe(parent < 0 ? null : rows[parent]?.lane);
        expect(station.passing).not.toContain(station.lane);
        // a line is drawn from each row to its children without a gap
        for (const between of rows.slice(parent + 1, parent < 0 ? 0 : at)) {
          expect([...between.passing, between.lane]).toContain(station.from);
        }
        if (station.from !== null && station.from !== station.lane) expect(station.passing).toContain(station.from);
        expect(station.goesOn).toBe(all.some((own) => own.parent === station.variant.key));
      });
    }
  });
});

describe("the rows", () => {
  test("names are text, and the shown variant is marked", async () => {
    shown = await drawn(Variants);
    expect(texts(shown.host, ".wbk-stop-name")).toContain("folded <b>only</b>");
    expect(shown.host.querySelector(".wbk-stop-name b")).toBeNull();
    expect(row(one).getAttribute("aria-current")).toBe("true");
    expect(row(branch).textContent).toContain(branch.step?.text);
  });

  test("a name that a reader gave is told from a step, and a branch from what goes on", async () => {
    shown = await drawn(Variants);
    const own = state.variants.filter(({ named }) => named);
    expect(own.length).toBeGreaterThan(0);
    expect(texts(shown.host, ".wbk-own-name")).toEqual(own.map(({ name }) => name));
    expect(texts(row(branch), ".wbk-stop-from")).toEqual([`branch of ${root.name}`]);
    for (const variant of [root, one, two]) expect(texts(row(variant), ".wbk-stop-from")).toEqual([]);
  });

  test("a measured step shows its time and difference, a wrong one the reason and no time", async () => {
    shown = await drawn(Variants);
    const measured = state.measurements[1];
    expect(row(one).textContent).toContain(secondsText(measured?.median ?? null));
    expect(row(one).textContent).toContain(measured?.last_steps?.text);
    expect(texts(row(one), ".wbk-badge")).toEqual(["✓ checked ▸"]);
    expect(texts(row(two), ".wbk-badge")).toEqual(["✗ FAILED ▸"]);
    expect(row(two).textContent).toContain("to_go at b=1, t=3 is 0.5, expected 0.25");
    expect(row(two).querySelector(".wbk-numbers b")).toBeNull();
    expect(row(branch).textContent).toContain("not measured, since a run would take about 90 s");
  });

  test("what was not measured is estimated, in another style, and against its parent", async () => {
    shown = await drawn(Variants);
    await enter(shown.host.querySelector("select"), "estimate");
    for (const variant of state.variants) {
      const cost = GOLDEN.parts.find((part) => part.part === "cost" && part.variant === variant.key);
      const { seconds } = cost?.value as { seconds: number };
      expect(row(variant).querySelector(".wbk-estimate")?.textContent).toContain(`≈ ${secondsText(seconds)}`);
    }
    expect(row(one).querySelector(".wbk-estimate")?.textContent).toMatch(/time (÷ \d|× \d|same)/);
  });

  test("results from elsewhere are a choice of their own", async () => {
    shown = await drawn(Variants);
    const options = texts(shown.host, "select option");
    expect(options.some((text) => text.startsWith("recorded on NVIDIA H200, "))).toBe(true);
  });

  test("what was ended before its time says so; what stops says why", async () => {
    shown = await drawn(Variants);
    await enter(shown.host.querySelector("select"), "c2");
    expect(texts(row(root), ".wbk-rounds")).toEqual(["3 of 5 rounds"]);
    expect(row(branch).textContent).toContain("it stops: no room for to_go: 80 GB asked for");
    const estimate = row(branch).querySelector(".wbk-estimate")?.textContent;
    expect(estimate).toMatch(/time (÷ \S+|× \S+|same) against the predicted \d/); // its parent shows what was measured
  });
});

test("bytes on the host are told where there are any", () => {
  expect(peaksText({ device: 2000, host: 0 })).toBe("2 kB");
  expect(peaksText({ device: 1000, host: 1500 })).toBe("1 kB, host 1.5 kB");
  expect(peaksChangeText({ device: 1000, host: 1500 }, { device: 2000 })).toBe("÷ 2, host +1.5 kB");
  expect(peaksChangeText({ device: 1000, host: 0 }, { device: 1000, host: 0 })).toBe("same");
});

describe("what can be done", () => {
  test("a click shows, a tick compares", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await shown.press(row(two).querySelector(".wbk-stop-name"));
    expect(shown.sent).toMatchObject([{ type: "show", variant: two.key }]);
    await shown.press(row(two).querySelector("input[type=checkbox]"));
    await shown.press(row(root).querySelector("input[type=checkbox]"));
    expect(shown.store.values().selection.compared).toEqual([two.key, root.key]);
    await shown.press(row(two).querySelector("input[type=checkbox]"));
    expect(shown.store.values().selection.compared).toEqual([root.key]);
  });

  test("those ticked lead to where they are compared", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    expect(byText(shown.host, "button", "ticked")).toBeUndefined();
    await shown.press(row(two).querySelector("input[type=checkbox]"));
    await shown.press(row(root).querySelector("input[type=checkbox]"));
    await shown.press(byText(shown.host, "button", "Compare 2 ticked"));
    expect(shown.store.values().selection).toMatchObject({ pane: "compare", compared: [two.key, root.key] });
    await shown.press(byText(shown.host, "button", "untick"));
    expect(shown.store.values().selection.compared).toEqual([]);
  });

  test("a step dropped on another variant is taken there; a refusal is shown", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await dropped(branch, one);
    expect(shown.sent).toMatchObject([{ type: "replay", variant: branch.key, onto: one.key, only_last: true }]);
    expect(shown.host.textContent).toContain("Checking the step");
    const sentence = "step 1 of 1 does not fit: <i>nothing</i> to fold";
    await shown.answer((id) => ({ type: "failed", id, error: { sentence, line: null, trace: "", cycle: null, arguments: {} } }));
    expect(shown.host.querySelector("[role=alert]")?.textContent).toContain(sentence);
    expect(shown.host.querySelector("[role=alert] i")).toBeNull();
    expect(shown.host.textContent).not.toContain("Checking the step");
  });

  test("of several steps it is asked which", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await dropped(two, branch);
    expect(shown.sent).toEqual([]);
    await shown.press(byText(shown.host, "[role=group] button", "all 2 steps"));
    expect(shown.sent).toMatchObject([{ type: "replay", variant: two.key, onto: branch.key, only_last: false }]);
    await dropped(two, branch);
    await shown.press(byText(shown.host, "[role=group] button", "the last alone"));
    expect(shown.sent.at(-1)).toMatchObject({ only_last: true });
  });

  test("a variant dropped where it came from takes nothing", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await dropped(one, two);
    expect(shown.sent).toEqual([]);
  });

  test("a name is given, and taken back with an empty one", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await menu(branch);
    await shown.press(entry("Rename"));
    const input = row(branch).querySelector("input[type=text]") as HTMLInputElement;
    expect(input.value).toBe(branch.name);
    await enter(input, "  quick ");
    await fire(input.form, new Event("submit", { bubbles: true, cancelable: true }));
    expect(shown.sent).toMatchObject([{ type: "rename", variant: branch.key, name: "quick" }]);
  });

  test("what others came from is removed after a second look", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await menu(one);
    await shown.press(entry("Remove"));
    expect(shown.sent).toEqual([]);
    await shown.press(entry("Remove it and 1 that came from it"));
    expect(shown.sent).toMatchObject([{ type: "remove", variant: one.key }]);
    await menu(branch);
    await shown.press(entry("Remove"));
    expect(shown.sent.at(-1)).toMatchObject({ type: "remove", variant: branch.key });
    await menu(root);
    expect(entry("Rename")).toBeDefined();
    expect(entry("Remove")).toBeUndefined();
  });

  test("the recipe is copied, or becomes a cell where there is a notebook", async () => {
    const writeText = vi.fn(async () => undefined);
    Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText } });
    shown = await drawn(Variants, GOLDEN, true);
    await menu(two);
    expect(entry("as a cell")).toBeUndefined();
    await shown.press(entry("Copy recipe"));
    expect(writeText).toHaveBeenCalledWith(two.recipe);
  });

  test("the automatic recipe takes its objective and a capacity", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await enter(shown.host.querySelector(".wbk-optimize select"), "memory");
    await enter(shown.host.querySelector(".wbk-optimize input"), "1.5");
    await fire(shown.host.querySelector(".wbk-optimize"), new Event("submit", { bubbles: true, cancelable: true }));
    expect(shown.sent).toMatchObject([
      { type: "optimize", variant: one.key, objective: "memory", capacity: 1_500_000, backend: "numpy", sizes: {}, dtype: "float32" },
    ]);
    expect(byText(shown.host, "button", "Looking …")?.hasAttribute("disabled")).toBe(true);
    await shown.answer((id) => ({ type: "done", id, variant: two.key }));
    expect(byText(shown.host, "button", "Take steps")?.hasAttribute("disabled")).toBe(false);
  });

  test("what is chosen for it survives a visit to another pane", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await enter(shown.host.querySelector(".wbk-optimize select"), "memory");
    expect(shown.store.values().selection).toMatchObject({ objective: "memory", capacity: "" });
    const chosen = shown.store.values().selection;
    await shown.takeDown();
    shown = await drawn(Variants, GOLDEN, true);
    await act(async () => shown.store.select(chosen));
    expect(shown.host.querySelector<HTMLSelectElement>(".wbk-optimize select")?.value).toBe("memory");
  });

  test("a saved workbench offers nothing that it cannot do", async () => {
    shown = await drawn(Variants);
    expect(shown.host.querySelector(".wbk-optimize")).toBeNull();
    await menu(two);
    expect(entry("Copy recipe")).toBeDefined();
    expect(entry("Remove")).toBeUndefined();
    expect(entry("Rename")).toBeUndefined();
  });
});

test("a workbench of one variant that was never measured", async () => {
  const only: Capsule = { ...GOLDEN, state: { ...state, variants: [root], current: root.key, measurements: [], runs: [] } };
  shown = await drawn(Variants, only);
  expect(texts(shown.host, ".wbk-stop-name")).toEqual(["as written"]);
  expect(texts(shown.host, ".wbk-badge")).toEqual(["not run here"]);
});

test("a variant that was not measured has the time of its last whole run", async () => {
  shown = await drawn(Variants, { ...GOLDEN, state: { ...state, measurements: [] } });
  const badges = [root, one].map((variant) => texts(row(variant), ".wbk-badge"));
  expect(badges).toEqual([["ran in 500 ms"], ["not run here"]]); // the other one was stopped
  expect(row(root).querySelector(".wbk-badge")?.getAttribute("title")).toMatch(/^On numpy at B=3, T=7\. Measure it/);
});

describe("a check", () => {
  const badge = (of: VariantView): HTMLElement | null => row(of).querySelector("button.wbk-badge");

  test("opens to its report: what was compared at which sizes, how well, what was not reached", async () => {
    const told = "agrees with the reference at B=3, T=4 (float32)\n  compared: 24 elements of loss; worst deviation 2.2e-07\n" +
      "  not reached at these sizes:\n    nothing runs of alive";
    const measurements = state.measurements.map((measured) => ({ ...measured, check_report: told }));
    shown = await drawn(Variants, { ...GOLDEN, state: { ...state, measurements } });
    expect(badge(one)?.getAttribute("aria-expanded")).toBe("false");
    await shown.press(badge(one));
    const report = row(one).querySelector(".wbk-check-report");
    expect(report?.id).toBe(badge(one)?.getAttribute("aria-controls"));
    expect(report?.querySelector("p")?.textContent).toBe("agrees with the reference at B=3, T=4 (float32)");
    expect(texts(row(one), ".wbk-check-report ul ul li")).toEqual(["nothing runs of alive"]);
    await shown.press(badge(one));
    expect(row(one).querySelector(".wbk-check-report")).toBeNull();
  });

  test("that was never made has nothing to open", async () => {
    shown = await drawn(Variants, { ...GOLDEN, state: { ...state, measurements: [] } });
    expect(badge(one)).toBeNull();
    expect(texts(row(one), ".wbk-badge")).toEqual(["not run here"]);
  });
});

describe("a recipe", () => {
  const automatic = (variant: VariantView): VariantView => ({ ...variant, why: "since it pays" });
  /** The first and the second step by the automatic recipe, which is named by its end. */
  const searched: Capsule = {
    ...GOLDEN,
    state: {
      ...state,
      current: two.key,
      variants: [root, automatic({ ...one, named: false }), { ...automatic(two), parent: one.key, name: "automatic, memory", named: true }],
    },
  };
  const found = async (capsule = searched): Promise<void> => {
    shown = await drawn(Variants, capsule, true);
    await act(async () => shown.store.select({ found: two.key }));
  };
  const headlines = (): readonly string[] => texts(shown.host, ".wbk-tree .wbk-headline");

  test("is a row with what it gains, measured where both ends were measured in turn", async () => {
    const measurements = state.measurements
      .filter(({ group }) => group === "c1")
      .map((measured) => (measured.variant === two.key ? { ...measured, median: 0.002, peak_bytes: { device: 200 } } : measured))
      .map((measured) => (measured.variant === root.key ? { ...measured, median: 0.008, peak_bytes: { device: 100_000 } } : measured));
    const plain = measurements.map((measured) => ({ ...measured, difference: "÷ 4" }));
    await found({ ...searched, state: { ...searched.state, measurements: plain } });
    expect(headlines()).toEqual(["peak 100 kB → 200 B ÷ 500time 8 ms → 2 ms ÷ 4measured in turn on numpy at B=3, T=7"]);
    expect(texts(shown.host, ".wbk-fold")).toEqual(["automatic recipe, 2 steps ▸"]);
    expect(texts(shown.host, ".wbk-stop-name")).toEqual(["as written", "automatic, memory"]);
  });

  test("gains no time where runs differ by more than it", async () => {
    const measurements = state.measurements
      .filter(({ group }) => group === "c1")
      .map((measured) => ({ ...measured, median: 0.002, difference: "no measurable difference" }))
      .map((measured) => (measured.variant === root.key ? { ...measured, median: 0.0022 } : measured));
    await found({ ...searched, state: { ...searched.state, measurements } });
    expect(headlines()[0]).toContain("time 2.2 ms → 2 ms no measurable difference");
  });

  test("else by what is predicted, which is said", async () => {
    await found({ ...searched, state: { ...searched.state, measurements: [] } });
    expect(headlines()[0]).toMatch(/^peak .* → .*time .* → .*predicted$/);
    expect(shown.host.querySelector(".wbk-tree .wbk-headline.wbk-estimate")).not.toBeNull();
  });

  test("whose ends are not predicted yet says what is being worked out", async () => {
    const parts = searched.parts.filter(({ part, variant }) => part !== "cost" || variant !== two.key);
    await found({ ...searched, state: { ...searched.state, measurements: [] }, parts });
    const said = "What it gains is being predicted: time and peak after it …";
    expect(texts(shown.host, ".wbk-found [role=status]")).toEqual([said]);
    expect(texts(shown.host, ".wbk-tree [role=status]")).toEqual([said]);
    expect(headlines()).toEqual([]);
  });

  test("that was just found has a card, which leads on and can be closed", async () => {
    await found({ ...searched, state: { ...searched.state, measurements: [] } });
    const card = (): Element | null => shown.host.querySelector(".wbk-found");
    expect(card()?.textContent).toContain("automatic, memory2 steps");
    await shown.press(byText(card() as Element, "button", "Show its steps"));
    expect(texts(shown.host, ".wbk-stop-name")).toHaveLength(3);
    await shown.press(byText(card() as Element, "button", "Compare it"));
    expect(shown.store.values().selection).toMatchObject({ pane: "compare", compared: [root.key, two.key] });
    await shown.press(card()?.querySelector("[aria-label='Close the card']"));
    expect(card()).toBeNull();
  });

  test("that was looked for in vain, or stopped, has none", async () => {
    shown = await drawn(Variants, GOLDEN, true);
    await fire(shown.host.querySelector(".wbk-optimize"), new Event("submit", { bubbles: true, cancelable: true }));
    await shown.answer((id) => ({ type: "done", id, variant: null }));
    expect(shown.host.querySelector(".wbk-found")).toBeNull();
    expect(shown.store.values().notice?.text).toBe("The search was stopped; no step was taken.");
  });
});
