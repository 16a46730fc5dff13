import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { changes } from "../../../src/graph/diff";
import { type Chip, Chips, chips, fitted } from "../../../src/graph/drawing/boxes/chips";
import type { Snapshot } from "../../../src/protocol";
import { altered, VECTORIZED, WRITTEN } from "../pictures";

/** The chips of a statement of a program, against another one before a step. */
function of(snapshot: Snapshot, id: string, before: Snapshot | null): readonly string[] {
  const node = snapshot.nodes.find((one) => one.id === id);
  if (!node) throw new Error(`there is no ${id}`);
  const found = chips(snapshot, node, before && changes(before, snapshot));
  return found.map(({ text, kind, changed }) => `${kind} ${text}${changed ? ", changed" : ""}`);
}

test("loops are told, and what the last step made of them", () => {
  expect(of(WRITTEN, "g", null)).toEqual(["loop b", "loop ←t"]);
  expect(of(VECTORIZED, "g", WRITTEN)).toEqual(["axis b → [b], changed", "loop ←t"]);
  expect(of(VECTORIZED, "g", null)).toEqual(["axis [b]", "loop ←t"]);
});

test("what is kept of an array is told, and whether the last step changed that", () => {
  const kept = altered(WRITTEN, "g", { kept: ["2 of T", "host"], storage: "host memory" });
  expect(of(kept, "g", WRITTEN).slice(2)).toEqual(["kept 2 of T, changed", "kept host, changed"]);
  expect(of(kept, "g", altered(kept, "g", { kept: ["host"], storage: "another" })).slice(2)).toEqual([
    "kept 2 of T, changed",
    "kept host",
  ]);
});

test("a new statement has nothing that changed", () => {
  const fewer = { ...WRITTEN, nodes: WRITTEN.nodes.filter((node) => node.id !== "g") };
  expect(of(WRITTEN, "g", fewer)).toEqual(["loop b", "loop ←t"]);
});

test("chips are no wider than their box", () => {
  const chip = (text: string, short?: string, changed = false): Chip => ({ text, kind: "loop", changed, ...(short && { short }) });
  const row = [chip("i"), chip("b → ▮b/8", "▮b/8", true), chip("t → [t]", "[t]", true), chip("2 of T")];
  const at = (room: number): readonly string[] => fitted(row, room, 10).map(({ text }) => text);
  expect(at(300)).toEqual(["i", "b → ▮b/8", "t → [t]", "2 of T"]);
  expect(at(140)).toEqual(["i", "▮b/8", "[t]", "2 of T"]);
  expect(at(120)).toEqual(["i", "▮b/8", "[t]", "+1"]);
  expect(at(90)).toEqual(["i", "▮b/8", "+2"]);
  expect(at(10)).toEqual(["+4"]);
  expect(fitted(row, 90, 10).map(({ changed }) => changed)).toEqual([false, true, true]);
});

test("larger letters stand as far from the ends of their chip and from the next one, in their own size", () => {
  const row = [..."ibt"].map((text): Chip => ({ text, kind: "loop", changed: false }));
  const ends = (size: number): readonly number[] => {
    const drawn = renderToStaticMarkup(createElement("svg", null, createElement(Chips, { chips: row, width: 200, edge: 0, size })));
    return [...drawn.matchAll(/<text x="([\d.]+)"/g)].map(([, x]) => Number(x));
  };
  const [near, far] = [ends(9), ends(18)].map(([one = 0, other = 0]) => other - one);
  expect(far).toBeCloseTo(2 * (near ?? 0));
  expect(near).toBeGreaterThan(9 * 1.7); // a letter, both ends and a gap
});
