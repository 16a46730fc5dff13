// A plain layout within milliseconds for any size: boxes in rows, each below its inputs, arrows straight.

import type { Rectangle } from "../window/geometry";
import { placeLabels } from "./labels";
import { type Contents, type Layout, type Line, scopeOf, statementOf } from "./scene";

const [HEIGHT, ACROSS, DOWN] = [40, 16, 44];
/** Width of a character of a box's name, and the free room beside it. */
const [CHARACTER, MARGIN] = [9.6, 20];

export function rows(contents: Contents): Layout {
  const widths = new Map([...contents.inside].map(([name]) => [name, width(contents, name)]));
  const total = [...widths.values()].reduce((sum, wide) => sum + wide + ACROSS, 0);
  const room = Math.max(600, Math.sqrt(total * (HEIGHT + DOWN)) * 1.3);
  const boxes = new Map<string, Rectangle>();
  let [left, top] = [0, 0];
  let depth = 0;
  const depths = layers(contents);
  const order = [...depths].sort(([, one], [, other]) => one - other);
  for (const [name, layer] of order) {
    const wide = widths.get(name) ?? 0;
    if (boxes.size && (layer > depth || left + wide > room)) {
      top += HEIGHT + DOWN;
      left = 0;
    }
    depth = layer;
    boxes.set(name, { left, top, width: wide, height: HEIGHT });
    left += wide + ACROSS;
  }
  const all = [...boxes.values()];
  return {
    width: Math.max(1, ...all.map((box) => box.left + box.width)),
    height: top + HEIGHT,
    boxes,
    grounds: new Map(),
    lines: placeLabels(straight(contents, boxes), contents.arrows, all),
  };
}

/** Counts the most arrows on a way to each box, along arrows that follow the order of the text. */
function layers({ inside, arrows }: Contents): Map<string, number> {
  const places = new Map([...inside.keys()].map((name, position) => [name, position]));
  const incoming = new Map<string, string[]>();
  for (const { source, target } of arrows) {
    if ((places.get(source) ?? 0) >= (places.get(target) ?? 0)) continue;
    incoming.set(target, [...(incoming.get(target) ?? []), source]);
  }
  const found = new Map<string, number>();
  for (const name of inside.keys()) {
    const above = (incoming.get(name) ?? []).map((source) => found.get(source) ?? 0);
    found.set(name, above.reduce((most, one) => Math.max(most, one + 1), 0));
  }
  return found;
}

function width({ snapshot, inside }: Contents, name: string): number {
  const scope = scopeOf(name);
  const title = scope && snapshot.scopes[scope[scope.length - 1] ?? ""]?.title;
  const text = title ?? inside.get(name)?.[0]?.box.short ?? statementOf(name) ?? "";
  return [...text].length * CHARACTER + MARGIN;
}

function straight({ arrows }: Contents, boxes: ReadonlyMap<string, Rectangle>): Map<string, Line> {
  const found = new Map<string, Line>();
  for (const { id, source, target } of arrows) {
    const [from, to] = [boxes.get(source), boxes.get(target)];
    if (!from || !to || from === to) continue;
    const down = from.top <= to.top;
    const [x, y] = [from.left + from.width / 2, down ? from.top + from.height : from.top];
    const [u, v] = [to.left + to.width / 2, down ? to.top : to.top + to.height];
    const [dx, dy] = [(u - x) / 3, (v - y) / 3];
    const end: [number, number] = [u - dx * 0.15, v - dy * 0.15];
    const points = [x, y, x + dx, y + dy, u - dx, v - dy, ...end];
    found.set(id, { points, tip: [u, v], label: null, clear: 0 });
  }
  return found;
}
