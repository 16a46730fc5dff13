import { expect, test } from "vitest";
import { placeLabels } from "../../../src/graph/layout/labels";
import { type Arrow, type Line, markOf, type Scene } from "../../../src/graph/layout/scene";
import { chipSize, hang, letters, READABLE, type Rectangle } from "../../../src/graph/window/geometry";
import { DOT, type Snapshot } from "../../../src/protocol";
import { overlap, scene, WRITTEN } from "../pictures";

const line = (...points: [number, number, number, number]): Line => {
  const [x, y, u, v] = points;
  return { points: [x, y, x, y, u, v, u, v], tip: [u, v], label: null, clear: 0 };
};
const arrow = (id: string, mark: string): Arrow => ({ id, source: "", target: "", carried: false, marks: [mark], edges: [] });

/** The room that an index takes, with letters of the scale from which on it is painted. */
function text(arrow: Arrow, { label, clear }: Line): Rectangle {
  const [width, height] = [0.6 * letters(clear) * markOf(arrow).length, 0.8 * letters(clear)];
  const [x, y] = label ?? [NaN, NaN];
  return { left: x - width / 2, top: y - height / 2, width, height };
}

/** A program of so many copies of one, side by side. */
function copies(one: Snapshot, count: number): Snapshot {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return {
    ...one,
    nodes: numbers.flatMap((n) => one.nodes.map((node) => ({ ...node, id: `${node.id}_${n}` }))),
    edges: numbers.flatMap((n) => one.edges.map((edge) => ({ ...edge, source: `${edge.source}_${n}`, target: `${edge.target}_${n}` }))),
  };
}

test("an index stands on the middle of its arrow, or where that is behind a box further on, or beside it", () => {
  const box = { left: -20, top: 40, width: 40, height: 20 };
  const [free, behind, tight] = [line(0, 200, 0, 300), line(0, 0, 0, 100), line(100, 0, 100, 20)];
  const narrow = [box, { left: 95, top: -10, width: 10, height: 15 }, { left: 95, top: 10, width: 10, height: 20 }];
  const arrows = [arrow("free", "t"), arrow("behind", "t-1"), arrow("tight", "b=0:B")];
  const lines = new Map([["free", free], ["behind", behind], ["tight", tight]]);
  const placed = placeLabels(lines, arrows, narrow);
  expect(placed.get("free")?.label).toEqual([0, 250]);
  expect(placed.get("behind")?.label?.[0]).toBe(0);
  for (const one of arrows) {
    const there = placed.get(one.id) as Line;
    expect(there.label).not.toBeNull();
    for (const other of narrow) expect(overlap(text(one, there), other)).toBe(false);
  }
  expect(placed.get("tight")?.label?.[0]).toBeLessThan(100);
});

test("an index without room is not painted, and an arrow without one has no place for it", () => {
  const wall = { left: -1000, top: -1000, width: 2000, height: 2000 };
  const placed = placeLabels(new Map([["a", line(0, 0, 0, 50)], ["b", line(9, 0, 9, 50)]]), [arrow("a", "t"), arrow("b", "")], [wall]);
  expect(placed.get("a")).toMatchObject({ label: null, clear: Infinity });
  expect(placed.get("b")).toMatchObject({ label: null, clear: 0 });
});

test("two arrows of one course have their indices beside each other", () => {
  const arrows = [arrow("a", "t-1"), arrow("b", "t-2")];
  const placed = placeLabels(new Map([["a", line(0, 0, 0, 90)], ["b", line(0, 0, 0, 90)]]), arrows, []);
  const [a, b] = arrows.map((one) => text(one, placed.get(one.id) as Line)) as [Rectangle, Rectangle];
  expect(overlap(a, b)).toBe(false);
});

test("no index of a picture too large for routed arrows is behind a box or its chips", async () => {
  const large: Scene = await scene(copies(WRITTEN, Math.ceil((DOT.routed + 1) / WRITTEN.nodes.length)));
  expect(large.layout.boxes.size).toBeGreaterThan(DOT.routed);
  const boxes = [...large.layout.boxes.values()].map((box) => ({ ...box, height: box.height + hang(chipSize(READABLE)) }));
  const texts = large.arrows.flatMap((one) => {
    const there = large.layout.lines.get(one.id);
    return there?.label ? [text(one, there)] : [];
  });
  const marked = large.arrows.filter((one) => markOf(one) && large.layout.lines.has(one.id));
  expect(texts.length).toBeGreaterThan(0.9 * marked.length);
  expect(texts.filter((one) => boxes.some((box) => overlap(one, box)))).toEqual([]);
});
