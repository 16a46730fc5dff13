// The object under a point of the picture.

import { along, distance, extent } from "./curve";
import type { Rectangle } from "./geometry";
import type { Layout, Line } from "../layout/scene";

export type Hit =
  | { readonly kind: "box" | "ground" | "arrow"; readonly id: string }
  | { readonly kind: "none" };

export const NONE: Hit = { kind: "none" };

const extents = new WeakMap<Line, Rectangle>();
const courses = new WeakMap<Line, readonly number[]>();

/** Finds a box, else an arrow at most `reach` away, else the innermost ground. */
export function pick(layout: Layout, x: number, y: number, reach: number): Hit {
  for (const [id, place] of layout.boxes) if (holds(place, x, y, 0)) return { kind: "box", id };
  let [nearest, least] = ["", reach];
  for (const [id, line] of layout.lines) {
    if (!holds(reaches(line), x, y, reach)) continue;
    const far = distance(course(line), x, y);
    if (far <= least) [nearest, least] = [id, far];
  }
  if (nearest) return { kind: "arrow", id: nearest };
  let [ground, size] = ["", Infinity];
  for (const [id, place] of layout.grounds) {
    const area = place.width * place.height;
    if (area < size && holds(place, x, y, 0)) [ground, size] = [id, area];
  }
  return ground ? { kind: "ground", id: ground } : NONE;
}

/** Returns the middle of an arrow's course, where its text is shown. */
export function middle(line: Line): readonly [number, number] {
  const points = course(line);
  const at = 2 * Math.floor(points.length / 4);
  return [points[at] ?? 0, points[at + 1] ?? 0];
}

/** Returns the place of an arrow's label: the room that there is for it, else the middle. */
export const labelPlace = (line: Line): readonly [number, number] => line.label ?? middle(line);

/** Returns points along an arrow: `x, y, x, y, …`. */
export const course = (line: Line): readonly number[] => kept(courses, line, along);

/** Returns the least rectangle around an arrow. */
export const reaches = (line: Line): Rectangle => kept(extents, line, extent);

function kept<T>(known: WeakMap<Line, T>, line: Line, make: (line: Line) => T): T {
  const there = known.get(line);
  if (there !== undefined) return there;
  const made = make(line);
  known.set(line, made);
  return made;
}

function holds({ left, top, width, height }: Rectangle, x: number, y: number, reach: number): boolean {
  return x >= left - reach && x <= left + width + reach && y >= top - reach && y <= top + height + reach;
}
