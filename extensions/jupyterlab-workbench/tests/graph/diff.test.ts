import { expect, test } from "vitest";
import { changes } from "../../src/graph/diff";
import type { Snapshot } from "../../src/protocol";
import { altered, LAYERS, VECTORIZED, WRITTEN } from "./pictures";

const ids = (snapshot: Snapshot): readonly string[] => snapshot.nodes.map((node) => node.id);

test("a program does not differ from itself", () => {
  const { changed, gone } = changes(LAYERS, LAYERS);
  expect([changed.size, gone.length]).toEqual([0, 0]);
});

test("vectorizing differs in the loops of the statements that have the dimension", () => {
  const { changed } = changes(WRITTEN, VECTORIZED);
  const inB = WRITTEN.nodes.filter((node) => node.domain.includes("0 <= b < B")).map((node) => node.id);
  expect([...changed.keys()].sort()).toEqual([...inB].sort());
  expect(new Set([...changed.values()].flat())).toEqual(new Set(["loops"]));
});

test("how a statement is drawn does not matter", () => {
  const [node] = LAYERS.nodes;
  const box = { first: "x", second: "y", short: "z", dot: "" };
  const other = altered(LAYERS, node?.id ?? "", { title: "x", summary: "y", box, kind: "update", scope: [] });
  expect(changes(LAYERS, other).changed.size).toBe(0);
});

test.each([
  ["equation", { equation: "another" }],
  ["equation", { dtype: "int32" }],
  ["domain", { domain: "{ [b] : b = 0 }" }],
  ["domain", { reduction: "{ [b, k] : k = 0 }" }],
  ["reads", { reads: [] }],
  ["storage", { storage: "host memory" }],
] as const)("a statement differs in its %s", (word, change) => {
  const node = LAYERS.nodes.find((one) => one.reads.length > 0);
  const { changed } = changes(LAYERS, altered(LAYERS, node?.id ?? "", change));
  expect([...changed]).toEqual([[node?.id, [word]]]);
});

test("what was there before a change is told", () => {
  const { changed, before } = changes(WRITTEN, VECTORIZED);
  expect([...before.keys()].sort()).toEqual([...changed.keys()].sort());
  const [id] = [...changed.keys()];
  const was = WRITTEN.nodes.find((node) => node.id === id);
  expect(before.get(id ?? "")?.loops.map((loop) => loop.mark)).toEqual(
    was?.loops.map((position) => WRITTEN.loops[position]?.mark),
  );
});

test("statements that come and go are told", () => {
  const [first, ...rest] = LAYERS.nodes;
  const fewer = { ...LAYERS, nodes: rest };
  expect(changes(LAYERS, fewer).gone.map((node) => node.id)).toEqual([first?.id]);
  expect([...changes(fewer, LAYERS).changed]).toEqual([[first?.id, ["new"]]]);
});

/** The picture with all statements outside of loops. */
const ALONE: Snapshot = { ...LAYERS, nodes: LAYERS.nodes.map((node) => ({ ...node, loops: [] })) };

test("statements that come to share a loop differ, those that stay alone do not", () => {
  const loop = { text: "for t", dim: "t", mark: "t" };
  const [a, b, c] = ids(LAYERS) as [string, string, string];
  const standing = (where: Readonly<Record<string, number>>): Snapshot => ({
    ...Object.entries(where).reduce((one, [id, at]) => altered(one, id, { loops: [at] }), ALONE),
    loops: [loop, loop, loop],
  });
  const [apart, fused] = [standing({ [a]: 0, [b]: 1, [c]: 2 }), standing({ [a]: 0, [b]: 0, [c]: 1 })];
  expect([...changes(apart, fused).changed.keys()]).toEqual([a, b]);
});

test("a statement that leaves a loop does not mark those that stay in it", () => {
  const loop = { text: "for t", dim: "t", mark: "t" };
  const axis = { text: "axis t", dim: "t", mark: "[t]" };
  const [a, b, c] = ids(LAYERS) as [string, string, string];
  const all: Snapshot = { ...ALONE, loops: [loop, axis] };
  const together = [a, b, c].reduce<Snapshot>((one, id) => altered(one, id, { loops: [0] }), all);
  const { changed } = changes(together, altered(together, a, { loops: [1] }));
  expect([...changed]).toEqual([[a, ["loops"]]]);
});
