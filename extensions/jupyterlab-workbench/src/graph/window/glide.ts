// The transition from one picture to the next. Boxes in both glide; a box in only one comes from or goes to the box
// that holds it in the other.

import { blended } from "./curve";
import type { Rectangle } from "./geometry";
import { type Layout, type Line, type Scene, scopeBox, scopeOf, statementOf } from "../layout/scene";

/** Milliseconds of the transition between pictures. */
export const GLIDE = 420;

/** Eases a share of time: slow at both ends. */
export const eased = (s: number): number => (s < 0.5 ? 4 * s ** 3 : 1 - (2 - 2 * s) ** 3 / 2);

/** Returns the layout on the way from one scene to the next: `e` goes from 0 to 1. */
export function between(before: Scene, after: Scene, e: number): Layout {
  if (e >= 1) return after.layout;
  const [old, next] = [before.layout, after.layout];
  const boxes = new Map<string, Rectangle>();
  for (const [name, place] of next.boxes) {
    boxes.set(name, mixed(old.boxes.get(name) ?? holding(before, after, name) ?? place, place, e));
  }
  const grounds = new Map<string, Rectangle>();
  for (const [name, place] of next.grounds) {
    grounds.set(name, mixed(old.grounds.get(name) ?? old.boxes.get(name) ?? place, place, e));
  }
  const lines = new Map<string, Line>();
  for (const [id, line] of next.lines) {
    const was = old.lines.get(id);
    if (was) lines.set(id, blended(was, line, e));
    else if (e > 0.6) lines.set(id, line);
  }
  return { width: next.width, height: next.height, boxes, grounds, lines };
}

/** Returns the places to which the lost boxes go while they fade. */
export function leaving(before: Scene, after: Scene, e: number): Map<string, Rectangle> {
  const found = new Map<string, Rectangle>();
  if (e >= 1) return found;
  for (const [name, place] of before.layout.boxes) {
    if (after.layout.boxes.has(name)) continue;
    found.set(name, mixed(place, holding(after, before, name) ?? place, e));
  }
  return found;
}

/** Returns the place in `other` of a box that only `has` draws: in a closed scope around it, or in its open scope. */
function holding(other: Scene, has: Scene, name: string): Rectangle | null {
  const id = statementOf(name) ?? has.inside.get(name)?.[0]?.id;
  const place = other.layout.boxes.get(other.boxes.get(id ?? "") ?? "");
  const scope = scopeOf(name);
  if (scope) return other.layout.grounds.get(scopeBox(scope)) ?? place ?? null;
  return place ?? null;
}

function mixed(from: Rectangle, to: Rectangle, e: number): Rectangle {
  const mix = (one: number, other: number): number => one + (other - one) * e;
  return {
    left: mix(from.left, to.left),
    top: mix(from.top, to.top),
    width: mix(from.width, to.width),
    height: mix(from.height, to.height),
  };
}
