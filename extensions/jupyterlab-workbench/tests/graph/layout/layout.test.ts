import { expect, test } from "vitest";
import { arrange } from "../../../src/graph/layout/arrange";
import { between, leaving } from "../../../src/graph/window/glide";
import { FAR, HANG, letters, READABLE, type Rectangle } from "../../../src/graph/window/geometry";
import { corner } from "../../../src/graph/drawing/minimap";
import { pick } from "../../../src/graph/window/pick";
import { placed } from "../../../src/graph/layout/placed";
import { rows } from "../../../src/graph/layout/plain-rows";
import { contents, scopeBox, statementBox } from "../../../src/graph/layout/scene";
import { ALL, CROWD, isStale, sight } from "../../../src/graph/window/sight";
import { nearest } from "../../../src/graph/window/navigate";
import { found } from "../../../src/graph/search";
import { key } from "../../../src/model/scopes";
import type { Node } from "../../../src/protocol";
import { broken, ENGINE, LAYERS, overlap, scene, VECTORIZED, WRITTEN } from "../pictures";

const ROOM = { width: 1000, height: 600 };
const middle = ({ left, top, width, height }: Rectangle): [number, number] => [left + width / 2, top + height / 2];

/** So many boxes in rows of fifty. */
function many(count: number): Map<string, Rectangle> {
  return new Map(
    Array.from({ length: count }, (_, at): [string, Rectangle] => [
      `n:${at}`,
      { left: (at % 50) * 100, top: Math.floor(at / 50) * 60, width: 90, height: 40 },
    ]),
  );
}

test("every statement stands in the ground of its scope, and no two boxes overlap", async () => {
  const { layout, snapshot } = await scene(LAYERS);
  expect(layout.boxes.size).toBe(LAYERS.nodes.length);
  for (const node of snapshot.nodes) {
    const place = layout.boxes.get(statementBox(node.id)) as Rectangle;
    for (let depth = 1; depth <= node.scope.length; depth++) {
      const ground = layout.grounds.get(scopeBox(node.scope.slice(0, depth))) as Rectangle;
      expect(pick(layout, ...middle(place), 0)).toEqual({ kind: "box", id: statementBox(node.id) });
      expect(place.left >= ground.left && place.top + place.height <= ground.top + ground.height + 0.1).toBe(true);
    }
  }
  const all = [...layout.boxes.values()];
  expect(all.filter((one, at) => all.some((other, place) => place > at && overlap(one, other)))).toEqual([]);
});

test("the text of an arrow is clear of the chips of a box above it", async () => {
  for (const { layout, inside } of [await scene(WRITTEN), await scene(LAYERS), await scene(VECTORIZED)]) {
    const chipped = [...layout.boxes].filter(([name]) => inside.get(name)?.[0]?.loops.length && !name.startsWith("s:"));
    const rows = chipped.map(([, { left, top, width, height }]) => ({ left, top: top + height, width, height: HANG + 2 }));
    const size = letters(READABLE);
    const texts = [...layout.lines.values()].flatMap(({ label }) =>
      label ? [{ left: label[0], top: label[1] - 0.4 * size, width: 1, height: 0.8 * size }] : [],
    );
    expect(rows.length && texts.length).toBeGreaterThan(0);
    expect(texts.filter((text) => rows.some((row) => overlap(text, row)))).toEqual([]);
  }
});

test("arrows between the same two boxes are one, with what stands behind it", async () => {
  const { arrows, boxes, layout } = await scene(LAYERS, ["policy"], ["gradient"]);
  expect(new Set(arrows.map((arrow) => arrow.id)).size).toBe(arrows.length);
  expect(arrows.every((arrow) => layout.lines.has(arrow.id))).toBe(true);
  const [policy, gradient] = [scopeBox(["policy"]), scopeBox(["gradient"])];
  expect(arrows.some((arrow) => arrow.source === policy && arrow.target === policy)).toBe(false);
  const between = arrows.filter((arrow) => arrow.source === policy && arrow.target === gradient);
  const edges = LAYERS.edges.filter(
    (edge) => boxes.get(edge.source) === policy && boxes.get(edge.target) === gradient,
  );
  expect(between.flatMap((arrow) => arrow.edges).length).toBe(edges.length);
  expect(edges.length).toBeGreaterThan(between.length);
});

test("an arrow is hit beside its line, and where it ends is the box that reads", async () => {
  const { layout, arrows } = await scene(WRITTEN);
  const arrow = arrows.find((one) => one.source !== one.target);
  const line = layout.lines.get(arrow?.id ?? "");
  const [x = 0, y = 0] = line?.points ?? [];
  const [u, v] = line?.tip ?? [0, 0];
  const target = layout.boxes.get(arrow?.target ?? "") as Rectangle;
  expect(Math.abs(v - target.top) < 3 || Math.abs(u - target.left) < 3 || Math.abs(u - target.left - target.width) < 3).toBe(true);
  expect(pick({ ...layout, boxes: new Map() }, x + 2, y, 5)).toEqual({ kind: "arrow", id: arrow?.id });
  expect(pick(layout, -50, -50, 5)).toEqual({ kind: "none" });
});

test("without Graphviz the picture comes in rows, and says why", async () => {
  const made = await arrange(broken("it took more than 15 s"), LAYERS, new Set(), [], () => true);
  expect(made?.remark).toBe(
    `The picture of ${LAYERS.nodes.length} boxes could not be laid out (it took more than 15 s); a simpler one is shown.`,
  );
  expect([...(made?.scene.layout.boxes.keys() ?? [])].every((name) => name.startsWith("s:"))).toBe(true);
  expect(made?.scene.closed.has(key(["policy"]))).toBe(true);
});

test("what fails with arrows round boxes is drawn with straight ones, and is the requested picture", async () => {
  const once = {
    ...ENGINE,
    place: (dot: string, deadline: number) =>
      dot.includes('splines="line"') ? ENGINE.place(dot, deadline) : Promise.reject(new Error("no")),
  };
  const closed = new Set([key(["policy"])]);
  const made = await arrange(once, LAYERS, closed, [new Set(contents(LAYERS, closed).scopes.map(key))], () => true);
  expect(made?.scene.closed).toBe(closed);
  expect(made?.remark).toBe("");
});

test("a picture in which boxes meet, or have no room, is none", () => {
  const box = (id: string, pos: string): object => ({ id, pos, width: "1", height: "0.5" });
  const output = (...objects: object[]): string => JSON.stringify({ bb: "0,0,400,300", objects });
  const apart = [box("n0", "50,200"), box("n1", "50,100")];
  const ground = { id: "s0", bb: "10,50,90,250" };
  expect(placed(output(ground, ...apart)).boxes.map(([name]) => name)).toEqual(["n0", "n1"]);
  const over = "Graphviz placed boxes over each other";
  expect(() => placed(output(...apart, box("n2", "100,190")))).toThrow(over);
  const none = "Graphviz left a box no room";
  expect(() => placed(output(...apart, { id: "s0", bb: "10,250,90,50" }))).toThrow(none);
  expect(() => placed(output(...apart, box("n2", "nan,190")))).toThrow(none);
});

test("what fails with all open is drawn with what was closed before", async () => {
  const once = {
    ...ENGINE,
    place: (dot: string, deadline: number) =>
      dot.includes("cluster") ? Promise.reject(new Error("no")) : ENGINE.place(dot, deadline),
  };
  const every = new Set(contents(LAYERS, new Set()).scopes.map(key));
  const made = await arrange(once, LAYERS, new Set(), [every], () => true);
  expect(made?.scene.closed).toBe(every);
  expect(made?.remark).toContain("could not be laid out (no)");
});

test("a picture that is no longer wanted does not come", async () => {
  expect(await arrange(ENGINE, WRITTEN, new Set(), [], () => false)).toBeNull();
});

test("rows keep every box apart and below what it reads", () => {
  const shown = contents(LAYERS, new Set());
  const { boxes } = rows(shown);
  const all = [...boxes.values()];
  expect(all.filter((one, at) => all.some((other, place) => place > at && overlap(one, other)))).toEqual([]);
  const order = new Map(LAYERS.nodes.map((node, at) => [statementBox(node.id), at]));
  for (const { source, target } of shown.arrows) {
    if ((order.get(source) ?? 0) >= (order.get(target) ?? 0)) continue;
    expect((boxes.get(source) as Rectangle).top).toBeLessThan((boxes.get(target) as Rectangle).top);
  }
});

test("what both pictures have glides on a straight way from one place to the other", async () => {
  const [before, after] = [await scene(WRITTEN), await scene({ ...VECTORIZED, nodes: [...VECTORIZED.nodes].reverse() })];
  const half = between(before, after, 0.5).boxes;
  for (const [name, to] of after.layout.boxes) {
    const from = before.layout.boxes.get(name) as Rectangle;
    expect(half.get(name)?.left).toBeCloseTo((from.left + to.left) / 2);
    expect(half.get(name)?.top).toBeCloseTo((from.top + to.top) / 2);
  }
  const start = between(before, after, 0);
  expect(start.boxes).toEqual(new Map([...start.boxes.keys()].map((name) => [name, before.layout.boxes.get(name)])));
  expect(between(before, after, 1)).toBe(after.layout);
});

test("boxes come out of the closed scope that opens, and go back into it", async () => {
  const [shut, open] = [await scene(LAYERS, ["optimizer"]), await scene(LAYERS)];
  const closed = shut.layout.boxes.get(scopeBox(["optimizer"])) as Rectangle;
  const inside = LAYERS.nodes.filter((node) => node.scope[0] === "optimizer").map((node) => statementBox(node.id));
  const start = between(shut, open, 0).boxes;
  for (const name of inside) expect(start.get(name)).toEqual(closed);
  const end = leaving(open, shut, 0.999999);
  for (const name of inside) {
    expect(end.get(name)?.left).toBeCloseTo(closed.left, 1);
    expect(end.get(name)?.top).toBeCloseTo(closed.top, 1);
  }
  expect(leaving(open, shut, 1).size).toBe(0);
});

test("a small picture is elements throughout, whatever the window shows", () => {
  const boxes = many(ALL);
  const seen = sight(boxes, { x: -4000, y: 0, k: 1 }, ROOM);
  expect(seen.boxes.length).toBe(ALL);
  expect(seen.crowd).toBe(false);
  expect(isStale(seen, boxes, { x: 0, y: 0, k: 1 }, ROOM)).toBe(false);
});

test("of a large picture, what is near the window is elements, the nearest first", () => {
  const boxes = many(5000);
  const seen = sight(boxes, { x: 0, y: 0, k: 1 }, ROOM);
  expect(seen.crowd).toBe(false);
  expect(seen.boxes.length).toBeLessThan(400);
  expect(seen.boxes[0]).toBe("n:255"); // around the window's middle
  expect(isStale(seen, boxes, { x: -100, y: 0, k: 1 }, ROOM)).toBe(false);
  expect(isStale(seen, boxes, { x: -900, y: 0, k: 1 }, ROOM)).toBe(true);
});

test("a crowd is painted", () => {
  const boxes = many(5000);
  const seen = sight(boxes, { x: 0, y: 0, k: 0.1 }, ROOM);
  expect(seen.crowd).toBe(true);
  expect(seen.boxes).toEqual([]);
  expect(boxes.size).toBeGreaterThan(CROWD);
  expect(isStale(seen, boxes, { x: 0, y: 0, k: 0.1 }, ROOM)).toBe(false);
});

test("letters follow the scale", () => {
  const boxes = many(10);
  const seen = sight(boxes, { x: 0, y: 0, k: 1 }, ROOM);
  expect(seen.text).toBe("both");
  expect(isStale(seen, boxes, { x: 0, y: 0, k: 0.8 }, ROOM)).toBe(true);
  expect(sight(boxes, { x: 0, y: 0, k: 0.8 }, ROOM).text).toBe("name");
});

test("an arrow key leads to the nearest box on that side, and stays where there is none", () => {
  const boxes = many(150);
  expect(nearest(boxes, "n:51", "up")).toBe("n:1");
  expect(nearest(boxes, "n:51", "down")).toBe("n:101");
  expect(nearest(boxes, "n:51", "left")).toBe("n:50");
  expect(nearest(boxes, "n:51", "right")).toBe("n:52");
  expect(nearest(boxes, "n:0", "up")).toBe("n:0");
});

test("the search looks at names, equations and scopes", () => {
  const inPolicy = LAYERS.nodes.filter((node) => node.scope[0] === "optimizer").map((node) => node.id);
  expect(new Set(found(LAYERS, "OPTIMIZER"))).toEqual(new Set([...inPolicy, ...found(LAYERS, "optimizer")]));
  const titles = new Map(LAYERS.nodes.map((node) => [node.id, node.title]));
  const named = found(LAYERS, "state[").map((id) => titles.get(id) ?? "");
  const first = named.filter((title) => title.startsWith("state["));
  expect(first.length).toBeGreaterThan(0);
  expect(named.length).toBeGreaterThan(first.length); // the others read it
  expect(named.slice(0, first.length)).toEqual(first);
  expect(found(LAYERS, "to_go[b, i, t] = sum").length).toBe(1);
  expect(found(LAYERS, "  ")).toEqual([]);
  const [one, other] = LAYERS.nodes as [Node, Node];
  const both = [{ ...one, title: "loss_sum[i]" }, { ...other, title: "loss[i]" }];
  expect(found({ ...LAYERS, nodes: both }, "loss")).toEqual([other.id, one.id]); // the whole of a name comes first
  expect(found(LAYERS, "<nothing>")).toEqual([]);
});

test("the small picture stands in the first corner where it hides no box, and in none where each has one", () => {
  const small = { width: 100, height: 60 };
  const box = (left: number, top: number): Rectangle => ({ left, top, width: 80, height: 20 });
  const [low, high] = [[box(880, 560), box(30, 560)], [box(880, 30), box(30, 30)]];
  const view = { x: 0, y: 0, k: 1 };
  expect(corner([], small, view, ROOM)).toBe("bottom right");
  expect(corner(low.slice(0, 1), small, view, ROOM)).toBe("bottom left");
  expect(corner([box(880, 400), box(790, 560)], small, view, ROOM)).toBe("bottom right");
  expect(corner(low, small, view, ROOM)).toBe("top right");
  expect(corner([...low, ...high.slice(0, 1)], small, view, ROOM)).toBe("top left");
  expect(corner([...low, ...high], small, view, ROOM)).toBe(null);
  expect(corner([box(430, 270)], small, { x: 20, y: 20, k: 2 }, ROOM)).toBe("bottom left"); // 880, 560 on the screen
});

test("indices on arrows are as large on the screen from afar, and none where nothing could be read", () => {
  expect(letters(2)).toBe(letters(1));
  for (const k of [READABLE, 0.7, FAR]) expect(letters(k) * k).toBeCloseTo(letters(1));
  expect(letters(0.4)).toBe(0);
});
