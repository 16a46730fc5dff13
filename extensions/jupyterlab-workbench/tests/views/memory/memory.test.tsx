import { afterEach, describe, expect, test } from "vitest";
import type { MemoryPoint, MemoryView } from "../../../src/protocol";
import { highestBetween, lastBefore, liveAt, liveBetween, loopSpans, outline } from "../../../src/views/memory/course";
import { Memory } from "../../../src/views/memory/memory";
import { bytesText } from "../../../src/model/numbers";
import { ticks } from "../../../src/views/memory/timeline";
import { act, byText, type Drawn, drawn, fire, GOLDEN, texts } from "../../drawing";

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
    expect(shown.host.textContent).toContain(`Live at the peak: ${bytesText(space?.peak_bytes)} device`);
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
    expect(shown.host.textContent).toContain(`Live there: ${bytesText(points[at]?.bytes)} device`);
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

  test("ticked variants are laid over it", async () => {
    shown = await drawn(Memory);
    expect(shown.host.querySelectorAll(".wbk-series li svg").length).toBe(1);
    const keys = GOLDEN.state.variants.map((variant) => variant.key);
    await act(async () => shown.store.select({ compared: keys.slice(0, 3) }));
    expect(texts(shown.host, ".wbk-series-name")).toEqual(["Vectorize('b')", "as written", "Contract()"]);
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
});
