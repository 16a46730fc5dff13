import { afterEach, describe, expect, test } from "vitest";
import type { MemoryPoint, MemoryView } from "../../../src/protocol";
import golden from "../../../../../tests/golden/session/steps.json";
import type { Capsule, CostView, MovesView, MoveView, PriceView } from "../../../src/protocol";
import { BANDS, bandsOf, stacked } from "../../../src/views/memory/bands";
import { isIdle, ranked, reduction } from "../../../src/views/memory/reduce-order";
import { highestBetween, lastBefore, liveAt, liveBetween, loopSpans, outline, spansOf } from "../../../src/views/memory/course";
import { Memory } from "../../../src/views/memory/memory";
import { heldAtPeak } from "../../../src/views/moves/price";
import { bytesText } from "../../../src/model/numbers";
import { ticks } from "../../../src/views/memory/timeline";
import { act, byText, type Drawn, drawn, fire, GOLDEN, texts } from "../../drawing";

type Part = Capsule["parts"][number];

const views = GOLDEN.parts.filter((part) => part.part === "memory");
const view = (variant: number): MemoryView =>
  views.find((part) => part.variant === GOLDEN.state.variants[variant]?.key)?.value as MemoryView;

let shown: Drawn;
afterEach(() => shown?.takeDown());

function made(count: number): readonly MemoryPoint[] {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  let line = 0;
  return Array.from({ length: count }, () => {
    line += 1 + random(3);
    return { line, text: "", loops: [], bytes: random(1000), born: [], gone: [] };
  });
}

/** A hundred arrays that live at once, each larger than those before, with long names. */
function hundred(): MemoryView {
  const arrays = Array.from({ length: 100 }, (_, k) => ({
    name: `gradient.a_network_with_a_long_name.and_a_layer.weight_${k}`,
    array: `weight_${k}`,
    bytes: 100 * (k + 1),
    formula: `${100 * (k + 1)} bytes`,
    statements: [`weight_${k}`],
    until: `until its last reader reader_${k}`,
    last_reader: `reader_${k}`,
  }));
  const point = { line: 1, text: "", loops: [], bytes: 505000, born: arrays.map((_, k) => k), gone: [] };
  const spaces = [{ space: "device", peak_bytes: 505000, points: [point] }];
  return { sizes: { T: 1 }, dtype: "float32", backend: "numpy", threads: 1, beside: 0, lines: 10, peak_formula: "505000 bytes", arrays, spaces };
}

describe("the course of memory", () => {
  test("an outline of few columns keeps every peak", () => {
    for (const columns of [1, 2, 7, 50, 400]) {
      const points = made(300);
      const lines = (points.at(-1)?.line ?? 0) + 1;
      const corners = outline(points, lines, columns);
      expect(corners.length).toBeLessThanOrEqual(columns);
      for (let column = 0; column < columns; column++) {
        const inside = points.filter(({ line }) => Math.floor((line / lines) * columns) === column);
        const corner = corners.find(({ line }) => Math.floor((line / lines) * columns) === column);
        expect(corner?.highest ?? -1).toBe(Math.max(-1, ...inside.map(({ bytes }) => bytes)));
        expect(corner?.last).toBe(inside.at(-1)?.bytes);
      }
    }
  });

  test("the highest place of a part counts what was held when it is reached", () => {
    const points = made(40);
    for (let from = 0; from < 90; from++) {
      for (const to of [from, from + 3, from + 30]) {
        const before = points.filter(({ line }) => line <= from).at(-1);
        const inside = points.filter(({ line }) => line > from && line <= to);
        const all = before ? [before, ...inside] : inside;
        const found = points[highestBetween(points, from, to)];
        expect(found?.bytes ?? -1).toBe(Math.max(-1, ...all.map(({ bytes }) => bytes)));
      }
    }
    expect(lastBefore(points, -1)).toBe(-1);
  });

  test("what lives at a point makes up its bytes", () => {
    for (const part of views) {
      const { arrays, spaces } = part.value as MemoryView;
      for (const { points } of spaces) {
        points.forEach((point, at) => {
          const live = [...liveAt(points, at)];
          expect(live.reduce((sum, one) => sum + (arrays[one]?.bytes ?? NaN), 0)).toBe(point.bytes);
        });
      }
    }
  });

  test("what lives between two lines is all that lives at one of them", () => {
    const { points } = view(0).spaces[0] ?? { points: [] };
    for (let from = 0; from < view(0).lines; from += 5) {
      const all = new Set<number>();
      const first = lastBefore(points, from);
      points.forEach((point, at) => {
        if (at >= first && point.line <= from + 12) for (const one of liveAt(points, at)) all.add(one);
      });
      expect([...liveBetween(points, from, from + 12)].sort()).toEqual([...all].sort());
    }
  });

  test("loops span the places inside of them", () => {
    const spans = loopSpans(view(0));
    expect(spans.length).toBeGreaterThan(0);
    for (const point of view(0).spaces[0]?.points ?? []) {
      const around = spans.filter(({ from, to }) => from <= point.line && point.line <= to);
      for (const variable of point.loops) expect(around.map((span) => span.variable)).toContain(variable);
    }
  });

  test("bands add up to what is held, and those that are few stand for themselves", () => {
    for (const part of views) {
      const shown = part.value as MemoryView;
      for (const { space, points } of shown.spaces) {
        const bands = bandsOf(shown, space);
        const tops = stacked(shown, space, bands);
        points.forEach((point, at) => {
          expect(tops.at(-1)?.[at]).toBe(point.bytes);
          const live = liveAt(points, at);
          bands.forEach(({ buffers }, place) => {
            const own = buffers.filter((one) => live.has(one)).reduce((sum, one) => sum + (shown.arrays[one]?.bytes ?? 0), 0);
            expect((tops[place]?.[at] ?? NaN) - (tops[place - 1]?.[at] ?? 0)).toBe(own);
          });
        });
      }
    }
  });

  test("a hundred arrays have a band for the largest and one for all others", () => {
    const bands = bandsOf(hundred(), "device");
    expect(bands).toHaveLength(BANDS + 1);
    expect(bands[0]?.buffers).toEqual([99]);
    expect(bands.at(-1)?.title).toBe(`${100 - BANDS} smaller`);
    expect(bands.flatMap(({ buffers }) => buffers)).toHaveLength(100);
  });

  test("an array lives from where it comes to where it goes", () => {
    const { points } = view(0).spaces[0] ?? { points: [] };
    const spans = spansOf(points, view(0).lines);
    points.forEach((point, at) => {
      for (const one of liveAt(points, at)) {
        const span = spans.get(one);
        expect(span && span.from <= point.line && point.line <= span.to).toBe(true);
      }
    });
    expect([...spans.keys()].sort()).toEqual([...new Set(points.flatMap(({ born }) => born))].sort());
  });

  test("ticks are round and within", () => {
    for (const top of [1, 7, 4096, 621624, 7.8e9]) {
      for (const log of [false, true]) {
        const found = ticks(top, log);
        expect(found.length).toBeGreaterThan(0);
        expect(Math.max(...found)).toBeLessThanOrEqual(top);
      }
    }
  });
});

describe("the view", () => {
  const listed = (): number => texts(shown.host, ".wbk-buffers td.wbk-number").length;

  test("the peak and what lives there are listed first", async () => {
    shown = await drawn(Memory);
    const [space] = view(1).spaces;
    expect(shown.host.textContent).toContain(`Live at the peak: ${bytesText(space?.peak_bytes)}`);
    expect(shown.host.textContent).toContain(view(1).peak_formula);
    expect(listed()).toBeGreaterThan(0);
    expect(shown.store.values().selection.brushed).toBeNull();
  });

  test("a click lights the arrays that live there", async () => {
    shown = await drawn(Memory);
    const points = view(1).spaces[0]?.points ?? [];
    const svg = shown.host.querySelector(".wbk-timeline svg") as SVGElement & { setPointerCapture: () => void };
    svg.setPointerCapture = () => undefined;
    const x = 58 + 0.6 * (500 - 58 - 10);
    for (const type of ["pointerdown", "pointerup"]) {
      await fire(svg, new MouseEvent(type, { bubbles: true, clientX: x, button: 0 }));
    }
    const pixel = view(1).lines / (500 - 68);
    const line = 0.6 * view(1).lines;
    const at = highestBetween(points, line - pixel / 2, line + pixel / 2);
    const arrays = [...liveAt(points, at)].map((one) => view(1).arrays[one]?.array).filter((name) => name);
    expect(shown.store.values().selection.brushed?.arrays).toEqual([...new Set(arrays)].sort());
    expect(shown.host.textContent).toContain(`Live there: ${bytesText(points[at]?.bytes)}`);
    await shown.press(byText(shown.host, "button", "back to the peak"));
    expect(shown.store.values().selection.brushed).toBeNull();
  });

  test("arrow keys go from place to place, Enter takes one", async () => {
    shown = await drawn(Memory);
    const svg = shown.host.querySelector(".wbk-timeline svg");
    const key = (name: string): Event => new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true });
    for (const name of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Enter"]) await fire(svg, key(name));
    const point = view(1).spaces[0]?.points[1];
    expect(svg?.getAttribute("aria-valuenow")).toBe(String(point?.line));
    expect(svg?.getAttribute("aria-valuetext")).toContain(point?.text);
    expect(shown.host.textContent).toContain("Live there");
    await fire(svg, key("Escape"));
    expect(shown.host.textContent).toContain("Live at the peak");
  });

  test("the second click on Reduce, of a double click, applies nothing that lies there now", async () => {
    shown = await drawn(Memory, golden as unknown as Capsule, true);
    await shown.press(shown.host.querySelector("button[aria-label='Reduce reward']"));
    const apply = shown.host.querySelector("button[aria-label^='Apply ']");
    const applied = (): number => shown.sent.filter(({ type }) => type === "apply").length;
    await fire(apply, new MouseEvent("click", { bubbles: true, detail: 2 }));
    expect(applied()).toBe(0);
    await fire(apply, new MouseEvent("click", { bubbles: true, detail: 1 }));
    expect(applied()).toBe(1);
  });

  test("ticked variants are laid over it", async () => {
    shown = await drawn(Memory);
    expect(shown.host.querySelectorAll(".wbk-series li svg").length).toBe(0);
    expect(shown.host.querySelectorAll(".wbk-band").length).toBeGreaterThan(1);
    const keys = GOLDEN.state.variants.map((variant) => variant.key);
    await act(async () => shown.store.select({ compared: keys.slice(0, 3) }));
    expect(texts(shown.host, ".wbk-series-name")).toEqual(["Vectorize('b')", "as written", "Vectorize('b') · Contract"]);
    expect(shown.host.querySelectorAll(".wbk-timeline path[stroke]").length).toBe(3);
  });

  test("a place leads to its line in the code", async () => {
    shown = await drawn(Memory);
    await shown.press(byText(shown.host, ".wbk-live-head button", "in the loops"));
    const { line, pane } = shown.store.values().selection;
    expect(pane).toBe("code");
    const points = view(1).spaces[0]?.points ?? [];
    expect(points.find((point) => point.line === line)?.bytes).toBe(view(1).spaces[0]?.peak_bytes);
  });
  test("an array under the pointer or the focus lights what it is of, and stands out in the chart", async () => {
    shown = await drawn(Memory);
    const row = shown.host.querySelector<HTMLElement>(".wbk-buffers tbody tr");
    const name = row?.querySelector(".wbk-link");
    await act(async () => (name as HTMLElement).focus());
    const buffer = view(1).arrays.find((one) => one.name === name?.textContent);
    expect(shown.store.values().selection.pointed?.statements).toEqual(buffer?.statements);
    const bands = shown.host.querySelectorAll(".wbk-band").length;
    expect(shown.host.querySelectorAll(".wbk-behind").length).toBe(bands - 1);
    await act(async () => (name as HTMLElement).blur());
    expect(shown.store.values().selection.pointed).toBeNull();
    expect(shown.host.querySelectorAll(".wbk-behind").length).toBe(0);
  });

  test("what is selected in the graph is marked, and listed where it does not live", async () => {
    shown = await drawn(Memory);
    const listed = texts(shown.host, ".wbk-buffers .wbk-buffer-name");
    const other = view(1).arrays.find((one) => one.array !== null && !listed.includes(one.name) && one.statements.length);
    await act(async () => shown.store.select({ statements: other?.statements ?? [] }));
    expect(shown.host.textContent).toContain("Selected, and not live there");
    expect(texts(shown.host, ".wbk-picked .wbk-buffer-name")).toContain(other?.name);
  });

  test("the last reader leads to itself", async () => {
    shown = await drawn(Memory);
    const until = [...shown.host.querySelectorAll(".wbk-until")].find((cell) => cell.querySelector("button"));
    await shown.press(until?.querySelector("button"));
    expect(shown.store.values().selection.statements).toEqual([until?.querySelector("button")?.textContent]);
  });
});

describe("reducing an array", () => {
  const CAPSULE = golden as unknown as Capsule;
  const part = <T,>(name: string): T => CAPSULE.parts.find((one) => one.part === name)?.value as T;
  const [cost, whole] = [part<CostView>("cost"), part<MovesView>("moves")];
  const priceOf = (step: unknown) =>
    CAPSULE.parts.find((one) => one.part === "price" && JSON.stringify(one.arguments["step"]) === JSON.stringify(step))
      ?.value as never;

  async function opened(array: string, live = false): Promise<void> {
    shown = await drawn(Memory, CAPSULE, live);
    await shown.press(shown.host.querySelector(`[aria-label="Reduce ${array}"]`));
  }

  test("steps come in the order of what they do to the array and the peak, refused ones last", () => {
    const all = whole.moves.map((move) => reduction(move, priceOf(move.step.json), "reward", cost));
    const order = ranked(all, cost);
    expect(order[0]?.array.after).toBeLessThan(order[0]?.array.before ?? 0);
    const done = order.filter(({ move, after }) => move.refused === null && after);
    const ratio = (one: (typeof done)[number]): number =>
      (Math.max(one.array.after, 1) * (one.after ? heldAtPeak(one.after, cost) : 0)) / one.array.before;
    for (const [at, one] of done.slice(1).entries()) {
      const before = done[at] as (typeof done)[number];
      expect(ratio(before)).toBeLessThanOrEqual(ratio(one) * 1.1);
    }
    const refused = order.findIndex(({ move }) => move.refused !== null);
    expect(order.slice(refused).every(({ move }) => move.refused !== null)).toBe(true);
    expect(order.some((one) => isIdle(one, cost))).toBe(true);
  });

  test("a saved workbench lists them with their effect, and they open", async () => {
    await opened("reward");
    const [first] = shown.host.querySelectorAll(".wbk-reduce .wbk-move");
    expect(first?.querySelector(".wbk-array-price")?.textContent).toMatch(/^→ /);
    expect(shown.host.querySelector(".wbk-reduce h4")?.getAttribute("title")).toContain("held until its last reader");
    expect(byText(shown.host, ".wbk-idle summary", "neither it nor the peak")).toBeDefined();
    expect((shown.host.querySelector(".wbk-reduce-row > .wbk-button") as HTMLButtonElement).disabled).toBe(true);
    await shown.press(first);
    const { pane, move } = shown.store.values().selection;
    expect(pane).toBe("moves");
    expect(JSON.parse(move ?? "")).toEqual(whole.moves.find(({ step }) => step.source === first?.closest("li")?.dataset["source"])?.step.json);
  });

  test.each([true, false])("a step that moves the array to the host says so, and what that saves (one memory: %s)", async (one_memory) => {
    const away = whole.moves.find(({ step, refused }) => refused === null && priceOf(step.json) && step.arrays.includes("reward")) as MoveView;
    const instead = ({ part, arguments: of, value }: Part): unknown => {
      if (part === "cost") return { ...(value as CostView), one_memory };
      const moves = part === "price" && JSON.stringify(of["step"]) === JSON.stringify(away.step.json);
      return moves ? { ...(value as PriceView), arrays: {}, moved: { reward: "host" }, peak_bytes: { device: 1, host: 1 } } : value;
    };
    const parts = CAPSULE.parts.map((one) => ({ ...one, value: instead(one) }) as Part);
    shown = await drawn(Memory, { ...CAPSULE, parts });
    await shown.press(shown.host.querySelector('[aria-label="Reduce reward"]'));
    const row = [...shown.host.querySelectorAll<HTMLElement>(".wbk-reduce-row")].find((one) => one.dataset["source"] === away.step.source);
    const tag = row?.querySelector(".wbk-array-price");
    expect(tag?.textContent).toMatch(/B → host$/);
    expect(tag?.getAttribute("title")).toContain("move to the host's memory; the device holds slices");
    expect(tag?.getAttribute("title")?.includes("nothing is saved")).toBe(one_memory);
  });

  test("all arrays are listed again behind it", async () => {
    await opened("reward");
    await shown.press(byText(shown.host, "button", "All arrays"));
    expect(shown.host.querySelector(".wbk-reduce")).toBeNull();
    expect(texts(shown.host, ".wbk-buffers tbody tr").length).toBeGreaterThan(1);
  });

  test("rows stay under the pointer while estimates come, until the reader wants them sorted", async () => {
    const parts = CAPSULE.parts.filter((one) => one.part !== "price");
    shown = await drawn(Memory, { ...CAPSULE, parts }, true);
    await shown.press(shown.host.querySelector('[aria-label="Reduce reward"]'));
    const rows = (): string[] =>
      [...shown.host.querySelectorAll<HTMLElement>(".wbk-reduce > div > ol > li")].map((row) => row.dataset["source"] ?? "");
    const before = rows();
    const moved = Object.defineProperties(new MouseEvent("pointermove", { bubbles: true }), { movementX: { value: 1 }, movementY: { value: 0 } });
    await fire(shown.host.querySelector(".wbk-reduce-row"), moved);
    let answered = 0;
    for (let wants = shown.parts; answered < wants.length; wants = shown.parts) {
      const want = wants[answered++];
      if (want?.type !== "want" || want.part !== "price") continue;
      const price = priceOf(want.arguments["step"]);
      if (price) await shown.part(want.id, price);
    }
    expect(rows().slice(0, before.length)).toEqual(before);
    await shown.press(byText(shown.host, "button", "Sort now"));
    expect(rows()).not.toEqual(before);
    expect(shown.host.querySelector(".wbk-reduce-row .wbk-array-price")?.textContent).toMatch(/^→ /);
    expect(shown.host.querySelector(".wbk-idle")).not.toBeNull();
    expect(byText(shown.host, "button", "Sort now")).toBeUndefined();
  });

  test("a step is taken from the list", async () => {
    await opened("reward", true);
    const button = shown.host.querySelector<HTMLButtonElement>(".wbk-reduce-row > .wbk-button");
    const source = button?.closest("li")?.dataset["source"];
    await shown.press(button);
    const [asked] = shown.sent;
    expect(asked).toMatchObject({ type: "apply", step: whole.moves.find(({ step }) => step.source === source)?.step.json });
    await shown.answer((id) => ({ type: "done", id, variant: null }));
    expect(shown.host.querySelector(".wbk-reduce")).toBeNull();
  });
});

describe("a large program", () => {
  test("small arrays are folded in chart and table, and long names keep their end", async () => {
    const capsule = { ...GOLDEN, parts: GOLDEN.parts.map((one) => (one.part === "memory" ? { ...one, value: hundred() } : one)) };
    shown = await drawn(Memory, capsule as typeof GOLDEN);
    expect(shown.host.querySelectorAll(".wbk-band").length).toBe(BANDS + 1);
    expect(shown.host.querySelectorAll(".wbk-buffers tbody tr").length).toBeLessThan(20);
    expect(texts(shown.host, ".wbk-cut-name span:last-child")[0]).toBe("weight_99");
    await shown.press(byText(shown.host, "button", "more, together"));
    expect(shown.host.querySelectorAll(".wbk-buffers tbody tr").length).toBe(100);
  });

  test("where nothing is held it says so", async () => {
    const empty = { ...hundred(), arrays: [], spaces: [] };
    const capsule = { ...GOLDEN, parts: GOLDEN.parts.map((one) => (one.part === "memory" ? { ...one, value: empty } : one)) };
    shown = await drawn(Memory, capsule as typeof GOLDEN);
    expect(shown.host.textContent).toBe("Nothing is held at these sizes.");
  });
});
