import { afterEach, describe, expect, test } from "vitest";
import compared from "../../../../../tests/golden/session/rows.json";
import type { Capsule, SweepView } from "../../../src/protocol";
import { Compare } from "../../../src/views/compare/compare";
import { letterOf, lettered } from "../../../src/views/compare/letters";
import { changedSizes, comparisons, paceOf } from "../../../src/views/compare/measured";
import { bytesText, secondsText } from "../../../src/model/numbers";
import { extent } from "../../../src/views/charts/outputs";
import { csv, sorted } from "../../../src/views/compare/rows";
import { series } from "../../../src/views/charts/series";
import { runsAlong } from "../../../src/views/compare/sweeps";
import { act, byText, type Drawn, drawn, enter, fire, GOLDEN, texts } from "../../drawing";

const { state } = GOLDEN;
const [root, one] = state.variants;
const sweeps = GOLDEN.parts.filter((part) => part.part === "sweep");
const c1 = comparisons(state).find(({ group }) => group === "c1");
const rows = c1 ? lettered(state, c1) : [];

let shown: Drawn;
afterEach(() => shown?.takeDown());

/** The comparison of four, whatever is the newest. */
async function four(live = false): Promise<void> {
  shown = await drawn(Compare, GOLDEN, live);
  await enter(shown.host.querySelector(".wbk-which"), "c1");
}

const tr = (letter: string): HTMLElement =>
  [...shown.host.querySelectorAll<HTMLElement>(".wbk-rows tbody tr")].find(
    (row) => row.querySelector("b")?.textContent === letter,
  ) as HTMLElement;

/** A reader of RFC 4180, by hand. */
function cells(text: string): readonly (readonly string[])[] {
  const found: string[][] = [];
  let [line, cell, quoted] = [[] as string[], "", false];
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (quoted && letter === '"' && text[at + 1] === '"') cell += text.charAt(++at);
    else if (letter === '"') quoted = !quoted;
    else if (quoted || (letter !== "," && letter !== "\r")) cell += letter;
    else {
      line.push(cell);
      cell = "";
      if (letter === "," || text[at + 1] !== "\n") continue;
      found.push(line);
      [line, at] = [[], at + 1];
    }
  }
  return found;
}

describe("the rows", () => {
  test("times, ratios and peaks are those that were measured; predictions stand apart", async () => {
    await four();
    const [first, second] = c1?.rows ?? [];
    expect(tr("A").textContent).toContain(secondsText(first?.median ?? null));
    expect(tr("B").textContent).toContain(second?.difference);
    expect(tr("B").textContent).toContain(bytesText(512));
    expect(texts(tr("B"), ".wbk-estimate")[0]).toBe(`≈ ${secondsText(second?.predicted_seconds ?? null)}`);
  });

  test("a failed check has no time, one too slow its sentence", async () => {
    await four(true);
    expect(tr("C").textContent).toContain("✗ FAILED");
    expect(tr("C").querySelector(".wbk-no-time")?.textContent).toContain("to_go at b=1, t=3 is 0.5, expected 0.25");
    expect(tr("C").querySelectorAll("td").length).toBe(2);
    expect(byText(tr("C"), "button", "all the same")).toBeUndefined();
    expect(tr("D").querySelector(".wbk-no-time")?.textContent).toContain("a run would take about 90 s");
    expect(tr("D").querySelector("button b")).toBeNull();
    await shown.press(byText(tr("D"), "button", "all the same"));
    expect(shown.sent).toMatchObject([
      { type: "measure", variants: [c1?.rows[3]?.variant], force: true, sizes: { }, backend: "numpy", dtype: "float32", seed: 0 },
    ]);
  });

  test("they are sorted by any column, up, down and as measured; what has no time comes last", async () => {
    await four();
    const letters = (): readonly string[] => texts(shown.host, ".wbk-rows tbody td:first-child b");
    const head = byText(shown.host, ".wbk-rows th button", "time");
    for (const order of ["BACD", "ABCD", "ABCD"]) {
      await shown.press(head);
      expect(letters().join("")).toBe(order);
    }
    expect(head?.closest("th")?.getAttribute("aria-sort")).toBe("none");
    expect(sorted(rows, (row) => row.median, true).map((row) => row.letter)).toEqual(["A", "B", "C", "D"]);
  });

  test("a compiler's seconds stand apart from those of generating its text, where there is one", async () => {
    await four();
    expect(byText(shown.host, ".wbk-rows th", "compiler")).toBeUndefined();
    await shown.takeDown();
    const took = [2, 0] as const;
    const measurements = (c1?.rows ?? []).slice(0, 2).map((row, place) => ({
      ...row, compile_seconds: (took[place] ?? 0) + 0.5, compiler_seconds: took[place] ?? null,
    }));
    shown = await drawn(Compare, { ...GOLDEN, state: { ...state, measurements } });
    expect(byText(shown.host, ".wbk-rows th", "compiler")).toBeDefined();
    expect(texts(tr("A"), "td").at(-1)).toBe("2 s500 ms generated");
    expect(texts(tr("B"), "td").at(-1)).toBe("before500 ms generated");
  });

  test("CSV holds all of them, whatever is in a name", () => {
    const odd = rows.map((row) => ({ ...row, name: 'a "b",\r\nc' }));
    const [head, ...lines] = cells(csv(odd));
    expect(lines.map((line) => line.length)).toEqual(rows.map(() => head?.length));
    expect(lines.map((line) => line[0])).toEqual(odd.map((row) => row.name));
  });

  test("CSV has the columns and values of wb.compare's rows, and says where they are from", () => {
    const [head = [], ...lines] = cells(csv(rows));
    const columns = Object.keys(compared[0] ?? {});
    expect(head.slice(0, columns.length)).toEqual(columns);
    compared.forEach((record, line) => {
      expect(lines[line]?.[0]).toBe(rows[line]?.name);
      for (const [column, value] of Object.entries(record).slice(1)) {
        const cell = lines[line]?.[head.indexOf(column)] ?? "?";
        if (typeof value === "number") expect(Number(cell)).toBeCloseTo(value, 9);
        else expect(cell).toBe(value ?? "");
      }
    });
    for (const column of ["device", "backend", "dtype", "sizes", "date"]) {
      expect(lines.every((line) => line[head.indexOf(column)])).toBe(true);
    }
  });

  test("letters go on after Z", () => {
    expect([0, 25, 26, 52].map(letterOf)).toEqual(["A", "Z", "A1", "A2"]);
  });

  test("what was measured elsewhere says where and when", async () => {
    shown = await drawn(Compare);
    const group = comparisons(state).find(({ rows: [first] }) => first?.recorded)?.group ?? "";
    await enter(shown.host.querySelector(".wbk-which"), group);
    expect(shown.host.querySelector(".wbk-recorded")?.textContent).toBe("recorded");
    expect(shown.host.textContent).toContain("NVIDIA H200");
    expect(shown.host.textContent).toContain("measured-elsewhere.jsonl");
  });
});

describe("a measurement that is not whole", () => {
  test("of what is only checked says that its times follow, and nothing against it", async () => {
    const [row] = state.measurements.filter(({ outcome, median }) => outcome === "passed" && median !== null);
    if (!row) throw new Error("no row has passed");
    const checked = { ...row, samples: [], median: null, low: null, high: null };
    shown = await drawn(Compare, { ...GOLDEN, state: { ...state, measurements: [checked] } });
    expect(shown.host.querySelector(".wbk-no-time")).toBeNull();
    expect(texts(shown.host, "td.wbk-faint")).toEqual(["its times follow "]);
  });

  const c2 = comparisons(state).find(({ group }) => group === "c2")?.rows ?? [];
  const marks = (): readonly string[] => texts(tr("A"), ".wbk-rounds");

  test("says how many of its rounds are there, and why a variant has none", async () => {
    shown = await drawn(Compare, GOLDEN);
    await enter(shown.host.querySelector(".wbk-which"), "c2");
    expect(marks()).toEqual(["3 of 5 rounds"]);
    expect(tr("A").querySelector(".wbk-waiting")).toBeNull();
    expect(tr("A").textContent).toContain(secondsText(c2[0]?.median ?? null));
    expect(tr("B").querySelector(".wbk-no-time")?.textContent).toContain("no room for to_go: 80 GB asked for");
    const option = texts(shown.host, ".wbk-which option").find((text) => text.endsWith("3 of 5 rounds"));
    expect(option).toBeDefined();
  });

  test("is shown while it grows, whatever was looked at before", async () => {
    const quiet = { ...state, measurements: state.measurements.filter(({ group }) => group !== "c2") };
    shown = await drawn(Compare, { ...GOLDEN, state: quiet }, true);
    await enter(shown.host.querySelector(".wbk-which"), "c1");
    const now = c2.map((row) => ({ ...row, date: "2026-12-31T00:00:00+00:00" }));
    const variants = now.map((row) => row.variant);
    const measuring = { what: "measurement" as const, stage: "measuring", done: 3, total: 5, group: "c2", variants };
    const growing = { ...quiet, revision: 99, measuring, measurements: [...quiet.measurements, ...now] };
    await shown.hear({ type: "state", state: growing, open: false });
    expect(shown.host.querySelector<HTMLSelectElement>(".wbk-which")?.value).toBe("c2");
    expect(marks()).toEqual(["3 of 5 rounds"]);
    expect(tr("A").querySelector(".wbk-waiting")).not.toBeNull();
    const samples = (): number | undefined =>
      shown.host.querySelector(".wbk-figure svg g[aria-label=tick]")?.children.length;
    expect(samples()).toBe(3);
    const more = now.map((row) => (row.samples.length ? { ...row, samples: [...row.samples, 0.004] } : row));
    const later = { ...growing, revision: 100, measurements: [...quiet.measurements, ...more] };
    await shown.hear({ type: "state", state: later, open: false });
    expect(marks()).toEqual(["4 of 5 rounds"]);
    expect(samples()).toBe(4);
  });

  test("of a kernel that is gone nothing is under way", async () => {
    const measuring = { what: "measurement" as const, stage: "measuring", done: 3, total: 5, group: "c2", variants: [root?.key ?? ""] };
    shown = await drawn(Compare, { ...GOLDEN, state: { ...state, measuring } });
    await enter(shown.host.querySelector(".wbk-which"), "c2");
    expect(tr("A").querySelector(".wbk-waiting")).toBeNull();
    expect(shown.host.textContent).not.toContain("Measuring …");
  });
});

describe("charts", () => {
  test("times, peaks, curves and predictions are drawn, of what has times only", async () => {
    await four();
    const labels = [...shown.host.querySelectorAll(".wbk-figure svg")].map((svg) => svg.getAttribute("aria-label"));
    expect(labels).toEqual([
      "Times with intervals",
      "Peak memory",
      "mean over the run",
      "Predicted against measured times",
      "time of a run, predicted over T",
      "peak, predicted over T",
    ]);
    const [times, peaks] = shown.host.querySelectorAll(".wbk-figure svg");
    expect(times?.querySelectorAll("g[aria-label=dot] circle").length).toBe(2);
    expect(peaks?.querySelectorAll("g[aria-label=bar] rect").length).toBe(3);
  });
});

test("an output that is nowhere finite has a word in the place of its curve", async () => {
  const measurements = state.measurements.map((row) => ({
    ...row,
    curves: row.curves.map((curve) => ({ ...curve, values: curve.values.map(() => null) })),
  }));
  shown = await drawn(Compare, { ...GOLDEN, state: { ...state, measurements } });
  await enter(shown.host.querySelector(".wbk-which"), "c1");
  expect(shown.host.querySelector("svg[aria-label$='over the run']")).toBeNull();
  expect(texts(shown.host, ".wbk-hint")).toContain("mean: no value is finite.");
});

test("a curve that stays the same has room above and below", () => {
  const of = (...values: readonly number[]): readonly { value: number }[] => values.map((value) => ({ value }));
  expect(extent(of(1, NaN, 3))).toEqual([1, 3]);
  expect(extent(of(10, 10))).toEqual([9, 11]);
  expect(extent(of(0, 0))).toEqual([-1, 1]);
  expect(extent(of(NaN))).toEqual([0, 1]);
});

describe("measuring", () => {
  test("those ticked are measured, in the order of the tree, as it is asked for", async () => {
    shown = await drawn(Compare, GOLDEN, true);
    await act(async () => shown.store.select({ compared: [one?.key ?? "", root?.key ?? ""], dtype: "float64" }));
    const sizes = byText(shown.host, "label", "T")?.querySelector("input");
    await enter(sizes, "20");
    await fire(sizes, new FocusEvent("focusout", { bubbles: true }));
    expect(shown.store.values().selection.sizes).toEqual({ T: 20 });
    await enter(byText(shown.host, "label", "rounds")?.querySelector("input"), "3");
    await fire(shown.host.querySelector("form"), new Event("submit", { bubbles: true, cancelable: true }));
    expect(shown.sent).toMatchObject([
      { type: "measure", variants: [root?.key, one?.key], sizes: { T: 20 }, dtype: "float64", repeats: 3, force: false },
    ]);
    await shown.answer((id) => ({
      type: "failed", id, error: { sentence: "a measurement is under way", line: null, trace: "", cycle: null, arguments: {} },
    }));
    expect(shown.host.querySelector("[role=alert]")?.textContent).toBe("a measurement is under way");
  });

  test("what is measured is said once where the shown variant is the program as written", async () => {
    const told = async (current: string, variants = state.variants): Promise<string | undefined> => {
      shown = await drawn(Compare, { ...GOLDEN, state: { ...state, current, variants } }, true);
      const found = texts(shown.host, ".wbk-measure .wbk-note").find((text) => text.startsWith("The program as written"));
      await shown.takeDown();
      return found;
    };
    expect(await told(root?.key ?? "")).toBe("The program as written; tick others among the variants.");
    expect(await told(one?.key ?? "")).toBe(
      "The program as written and the shown variant; tick others among the variants.",
    );
    expect(await told(root?.key ?? "", state.variants.slice(0, 1))).toBe("The program as written.");
  });

  test("a backend that is not here is greyed, with the reason", async () => {
    shown = await drawn(Compare, GOLDEN, true);
    const cuda = byText(shown.host, "option", "cuda") as HTMLOptionElement;
    expect(cuda.disabled).toBe(true);
    expect(cuda.textContent).toContain("there is no GPU here");
    await act(async () => shown.store.select({ backend: "cuda" }));
    expect(shown.host.textContent).toContain("cuda cannot run here: there is no GPU here");
    expect(byText(shown.host, "button", "Measure 2")?.hasAttribute("disabled")).toBe(true);
  });

  test("while one measures no other is started", async () => {
    const measuring = { what: "measurement" as const, stage: "measuring", done: 1, total: 5, group: "", variants: [root?.key ?? ""] };
    shown = await drawn(Compare, { ...GOLDEN, state: { ...state, measuring } }, true);
    expect(byText(shown.host, "button", "Measuring …")?.hasAttribute("disabled")).toBe(true);
    expect(shown.host.textContent).toContain("Now: as written");
  });

  test("a saved workbench shows results and measures none", async () => {
    shown = await drawn(Compare);
    expect(shown.host.querySelector("form")).toBeNull();
    expect(shown.host.textContent).toContain("Saved results");
  });

  test("before anything is measured it says what that would be", async () => {
    const nothing: Capsule = { ...GOLDEN, state: { ...state, measurements: [] } };
    shown = await drawn(Compare, nothing, true);
    expect(shown.host.textContent).toContain("Nothing is measured yet");
  });
});

describe("sizes", () => {
  const sweep = (variant: string | undefined): SweepView =>
    sweeps.find((part) => part.variant === variant)?.value as SweepView;

  test("predictions follow the slider, and nothing is asked for until it is let go", async () => {
    await four();
    const slider = shown.host.querySelector(".wbk-slider");
    const before = shown.store.values();
    for (const [position, point] of sweep(one?.key).points.entries()) {
      await enter(slider, String(position));
      expect(shown.host.textContent).toContain(`T=${point.value}`);
      expect(shown.host.querySelector(".wbk-compare > ul")?.textContent).toContain(secondsText(point.seconds));
    }
    expect(shown.store.values()).toBe(before);
    await fire(slider, new Event("pointerup", { bubbles: true }));
    expect(shown.store.values().selection.sizes).toEqual({ T: sweep(one?.key).points.at(-1)?.value });
  });

  test("a value beyond the usual stops has stops around it", async () => {
    await four(true);
    await act(async () => shown.store.select({ sizes: { T: 100_000_000_000 } }));
    const asked = shown.parts.filter((message) => message.type === "want" && message.part === "sweep");
    const far = { arguments: { size: "T", sizes: { T: 100_000_000_000 } } };
    expect(asked.slice(-2)).toMatchObject([far, far]);
  });

  test("a run verifies them", async () => {
    await four(true);
    await enter(shown.host.querySelector(".wbk-slider"), "0");
    await shown.press(byText(shown.host, "button", "Verify by a run"));
    const least = sweep(one?.key).points[0]?.value;
    expect(shown.sent).toMatchObject([{ type: "measure", variants: [root?.key, one?.key], sizes: { T: least } }]);
  });

  test("what was measured at a stop stands beside what was predicted there", async () => {
    const [swept] = sweeps.filter((part) => part.variant === one?.key).map((part) => ({
      variant: part.variant, letter: "B", name: "", series: series(1), view: part.value as SweepView,
    }));
    const like = c1?.rows[1];
    if (!swept || !like) throw new Error("nothing to compare with");
    const at = (sizes: Readonly<Record<string, number>>, more = {}) => ({ ...like, sizes, ...more });
    const found = runsAlong(
      [swept],
      "T",
      ["B", "T"],
      [
        at({ B: 3, T: 14, K: 42 }),
        at({ B: 4, T: 14 }),
        at({ B: 3, T: 28 }, { backend: "cuda" }),
        at({ B: 3, T: 28 }, { dtype: "float64" }),
        at({ B: 3, T: 28 }, { recorded: "elsewhere.jsonl" }),
        at({ B: 3, T: 28 }, { variant: root?.key }),
      ],
      { backend: "numpy", dtype: "float32" },
    );
    expect(found.map(({ one: { letter }, value, row }) => [letter, value, row.median])).toEqual([["B", 14, like.median]]);
    await four();
    await enter(shown.host.querySelector(".wbk-slider"), String(swept.view.points.findIndex(({ value }) => value === 7)));
    const text = shown.host.querySelector(".wbk-compare > ul")?.textContent;
    expect(text).toContain(`measured ${secondsText(like.median)}`);
  });

  test("only what differs from the defaults is kept, and nothing that is derived", () => {
    const known = [
      { name: "B", default: 4, derived: null },
      { name: "T", default: 8, derived: null },
      { name: "K", default: 32, derived: "B * T" },
    ];
    expect(changedSizes(known, { B: 4, T: 9, K: 36 })).toEqual({ T: 9 });
  });
});

describe("what a measurement would take", () => {
  test("is said beside the button, of all that is chosen", async () => {
    shown = await drawn(Compare, GOLDEN, true);
    expect(shown.host.querySelector(".wbk-expected")?.textContent).toMatch(/^About [\d.]+ [mµ]s of runs, predicted\.$/);
  });

  const large = { run: 14, seconds: 84, too_slow: true };
  const asked = (): readonly unknown[] => shown.parts.filter((one) => one.type === "want" && one.part === "runs");

  test("comes with sizes at which it is measured, of which those that are cut are named", async () => {
    shown = await drawn(Compare, GOLDEN, true);
    await act(async () => shown.store.select({ sizes: { T: 4096 }, compared: [root?.key ?? "", one?.key ?? ""] }));
    const [first, second] = asked().slice(-2) as readonly { readonly id: number }[];
    await shown.part(first?.id ?? 0, { ...large, affordable: { B: 3, T: 50 } });
    await shown.part(second?.id ?? 0, { ...large, affordable: { B: 3, T: 20 } });
    expect(shown.host.querySelector(".wbk-expected p")?.textContent).toContain("About 2.8 min of runs, predicted");
    const offer = byText(shown.host, "button", "Measure at");
    expect(offer?.textContent).toBe("Measure at T=20");
    await shown.press(offer);
    expect(shown.store.values().selection.sizes).toEqual({ T: 20 });
    expect(shown.sent.at(-1)).toMatchObject({ type: "measure", sizes: { T: 20 } });
  });

  test("offers no sizes where none are small enough", async () => {
    shown = await drawn(Compare, GOLDEN, true);
    await act(async () => shown.store.select({ sizes: { T: 4096 }, compared: [root?.key ?? ""] }));
    const [first] = asked().slice(-1) as readonly { readonly id: number }[];
    await shown.part(first?.id ?? 0, { ...large, affordable: null });
    expect(byText(shown.host, "button", "Measure at")).toBeUndefined();
    expect(byText(shown.host, "button", "Measure all the same")).toBeDefined();
  });

  test("is set right by a trial run: the variant's own, the newest", async () => {
    const cost = GOLDEN.parts.find(({ part, variant }) => part === "cost" && variant === state.current);
    const { note } = cost?.value as { note: string };
    const tried = state.measurements.map((row, k) => (row.group === "c1" ? { ...row, pace: k + 2, prediction_note: note } : row));
    const now = { ...state, measurements: tried };
    const run = { backend: "numpy", dtype: "float32" } as const;
    expect(paceOf(state, root?.key ?? "", run, note)).toBeNull();
    expect(paceOf(now, one?.key ?? "", run, note)).toBe(tried.find((row) => row.variant === one?.key)?.pace);
    expect(paceOf(now, "another", run, note)).toBe(5);
    expect(paceOf(now, "another", run, null)).toBe(5);
    expect(paceOf(now, "another", run, "scaled by 3.3")).toBeNull(); // it is predicted otherwise now
    expect(paceOf(now, "another", { ...run, backend: "cuda" }, note)).toBeNull();
    shown = await drawn(Compare, { ...GOLDEN, state: now }, true);
    expect(asked().slice(-2)).toMatchObject([{ arguments: { pace: 2 } }, { arguments: { pace: 3 } }]);
  });
});
