import { expect, test } from "vitest";
import { blended, distance, extent } from "../../../src/graph/window/curve";
import { shortened } from "../../../src/graph/drawing/boxes/shortened";
import { atFirst, chipSize, nameSize, READABLE } from "../../../src/graph/window/geometry";
import { colouring, summed } from "../../../src/graph/drawing/overlay";
import { clipped } from "../../../src/graph/drawing/paint";
import type { Line } from "../../../src/graph/layout/scene";
import { scopeBox, statementBox } from "../../../src/graph/layout/scene";
import type { CostView, ShareView } from "../../../src/protocol";
import { LAYERS, scene } from "../pictures";

const ends = (line: Line): readonly number[] => [...line.points.slice(0, 2), ...line.points.slice(-2)];
const bend: Line = { points: [0, 0, 0, 10, 10, 10, 10, 20], tip: [10, 24], label: null, clear: 0 };
const long: Line = { points: [5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 20, 20, 30, 40], tip: [31, 44], label: null, clear: 0 };

test("a curve becomes another of more pieces without leaving its own way", () => {
  expect(blended(bend, long, 0).points.length).toBe(long.points.length);
  expect(ends(blended(bend, long, 0))).toEqual(ends(bend));
  expect(ends(blended(bend, long, 1))).toEqual(ends(long));
  expect(blended(bend, long, 0.5).tip).toEqual([20.5, 34]);
  expect(extent(blended(bend, long, 0))).toEqual(extent(bend));
});

test("distances are to the nearest part of a line", () => {
  expect(distance([0, 0, 10, 0, 10, 10], 5, 3)).toBe(3);
  expect(distance([0, 0, 10, 0, 10, 10], 13, 14)).toBe(5);
});

test("of a line the part inside the window is left", () => {
  const window = { left: 0, top: 0, width: 10, height: 10 };
  expect(clipped(-10, 5, 10, 5, window)).toEqual([0.5, 1]);
  expect(clipped(2, 2, 8, 8, window)).toEqual([0, 1]);
  expect(clipped(-10, 5, -1, 5, window)).toBeNull();
  expect(clipped(-10, 0, 0, -10, window)).toBeNull();
  expect(clipped(20, 4, 20, 8, window)).toBeNull();
});

test("names and chips are at least nine pixels high, or not there", () => {
  for (const k of [0.1, 0.3, 0.5, 0.6, 0.84]) {
    expect(nameSize(k) * k).toBeGreaterThanOrEqual(9 - 1e-9);
    if (chipSize(k)) expect(chipSize(k) * k).toBeGreaterThanOrEqual(9 - 1e-9);
  }
  expect(chipSize(0.4)).toBe(0);
});

test("a name without room loses its index, then its middle, then its end, then all", () => {
  const cut = (name: string): string[] => [30, 12, 9, 8, 7, 5, 4, 3].map((length) => shortened(name, length));
  expect(cut("state[b, i + 1]")).toEqual(["state[b, i + 1]", ...Array(4).fill("state…"), "state", "sta…", ""]);
  expect(cut("accumulated[0]")).toEqual(["accumulated[0]", "accumulated…", "accum…ted", "accu…ted", "accumu…", "accu…", "acc…", ""]);
  expect(shortened("[b, i + 1]", 8)).toBe("[b, … 1]");
});

test("the first view of what does not fit has many boxes and no empty margin above them", () => {
  const boxes = [
    { left: 0, top: 0, width: 90, height: 40 },
    ...Array.from({ length: 40 }, (_, at) => ({ left: 3000 + (at % 8) * 100, top: 2000 + Math.floor(at / 8) * 60, width: 90, height: 40 })),
  ];
  const room = { width: 800, height: 400 };
  const { x, y, k } = atFirst({ width: 6000, height: 4000 }, boxes, room);
  expect(k).toBe(READABLE);
  const seen = boxes.filter(
    ({ left, top }) => left * k + x >= 0 && (left + 90) * k + x <= room.width && top * k + y >= 0 && (top + 40) * k + y <= room.height,
  );
  expect(seen.length).toBe(40);
});

const share = (statement: string, seconds: number): ShareView => ({ statement, seconds, operations: 10, bytes: 100, launches: 1 });

function cost(shares: readonly ShareView[]): CostView {
  return { ...({} as CostView), shares };
}

test("the dearest box is fullest, and every factor of ten a third less; closed scopes add up", async () => {
  const shown = await scene(LAYERS, ["optimizer"]);
  const inside = LAYERS.nodes.filter((node) => node.scope[0] === "optimizer").map((node) => node.id);
  const [other] = LAYERS.nodes.filter((node) => node.scope[0] !== "optimizer");
  const total = inside.length * 0.01;
  const made = colouring("seconds", shown, cost([...inside.map((id) => share(id, 0.01)), share(other?.id ?? "", total / 10)]), null, null);
  expect(made.levels.get(scopeBox(["optimizer"]))).toBeCloseTo(1);
  expect(made.levels.get(statementBox(other?.id ?? ""))).toBeCloseTo(2 / 3);
  expect(made.words.get(statementBox(other?.id ?? ""))).toContain("9.1 %");
  expect(made.ticks.length).toBe(4);
  expect(summed(shown, new Map(inside.map((id) => [id, 1]))).get(scopeBox(["optimizer"]))).toBe(inside.length);
});

test("what took more of the time than predicted is told from what took less", async () => {
  const shown = await scene(LAYERS);
  const [a, b, c] = LAYERS.nodes.map((node) => node.id) as [string, string, string];
  const predicted = cost([share(a, 1), share(b, 1), share(c, 2)]);
  const { levels } = colouring("measured", shown, predicted, { [a]: 0.5, [b]: 0.0625, [c]: 0.4375 }, null);
  expect(levels.get(statementBox(a))).toBeCloseTo(0.5);
  expect(levels.get(statementBox(b))).toBeCloseTo(-1);
  expect(levels.get(statementBox(c))).toBeLessThan(0);
  expect(colouring("measured", shown, predicted, null, null).levels.size).toBe(0);
});

test("by kind every box has its own colour, by a number that is not known none has", () => {
  expect(colouring("kind", null, null, null, null).byKind).toBe(true);
  const unknown = colouring("seconds", null, null, null, null);
  expect([unknown.byKind, unknown.levels.size, unknown.ticks.length]).toEqual([false, 0, 0]);
});
