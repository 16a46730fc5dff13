// Bézier curves: sampled as points to measure distances, and blended into one another.

import type { Rectangle } from "./geometry";
import type { Line } from "../layout/scene";

const SAMPLES = 8;

/** Returns points along a curve with its head's tip last: `x, y, x, y, …`. */
export function along(line: Line): number[] {
  const { points } = line;
  const found = [points[0] ?? 0, points[1] ?? 0];
  if (isStraight(line)) return [...found, ...line.tip];
  for (let at = 0; at + 7 < points.length; at += 6) {
    for (let step = 1; step <= SAMPLES; step++) {
      const s = step / SAMPLES;
      const [a, b, c, d] = [(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s * s * (1 - s), s ** 3];
      for (const axis of [0, 1]) {
        const of = (place: number): number => points[at + 2 * place + axis] ?? 0;
        found.push(a * of(0) + b * of(1) + c * of(2) + d * of(3));
      }
    }
  }
  found.push(...line.tip);
  return found;
}

function isStraight({ points, tip }: Line): boolean {
  const [x = 0, y = 0] = points;
  const [dx, dy] = [tip[0] - x, tip[1] - y];
  const length = Math.hypot(dx, dy) || 1;
  for (let at = 2; at + 1 < points.length; at += 2) {
    const across = ((points[at] ?? 0) - x) * dy - ((points[at + 1] ?? 0) - y) * dx;
    if (Math.abs(across) > length * 0.5) return false;
  }
  return true;
}

/** Returns the distance of a point from a polyline. */
export function distance(points: readonly number[], x: number, y: number): number {
  let least = Infinity;
  for (let at = 0; at + 3 < points.length; at += 2) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = points.slice(at, at + 4);
    const [dx, dy] = [bx - ax, by - ay];
    const length = dx * dx + dy * dy;
    const s = length ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
    least = Math.min(least, Math.hypot(x - ax - s * dx, y - ay - s * dy));
  }
  return least;
}

/** Returns the least rectangle around a curve's points. */
export function extent({ points, tip, label }: Line): Rectangle {
  let [left, top, right, bottom] = [tip[0], tip[1], tip[0], tip[1]];
  const all = label ? [...points, ...label] : points;
  for (let at = 0; at + 1 < all.length; at += 2) {
    const [x = 0, y = 0] = [all[at], all[at + 1]];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  return { left, top, width: right - left, height: bottom - top };
}

/** Returns the curve on the way from one to the other: `e` goes from 0 to 1. */
export function blended(before: Line, after: Line, e: number): Line {
  const pieces = Math.max(before.points.length, after.points.length);
  const [from, to] = [divided(before.points, pieces), divided(after.points, pieces)];
  const blend = (one: number, other: number): number => one + (other - one) * e;
  return {
    points: from.map((one, at) => blend(one, to[at] ?? one)),
    tip: [blend(before.tip[0], after.tip[0]), blend(before.tip[1], after.tip[1])],
    label:
      before.label && after.label
        ? [blend(before.label[0], after.label[0]), blend(before.label[1], after.label[1])]
        : after.label,
    clear: after.clear,
  };
}

/** Divides a curve into more pieces, the longest halved until it has `length` numbers. */
function divided(points: readonly number[], length: number): readonly number[] {
  let found = points;
  while (found.length < length) {
    let [longest, place] = [-1, 0];
    for (let at = 0; at + 7 < found.length; at += 6) {
      const size = Math.hypot((found[at + 6] ?? 0) - (found[at] ?? 0), (found[at + 7] ?? 0) - (found[at + 1] ?? 0));
      if (size > longest) [longest, place] = [size, at];
    }
    found = [...found.slice(0, place + 2), ...halves(found.slice(place, place + 8)), ...found.slice(place + 8)];
  }
  return found;
}

/** Halves a piece by De Casteljau; returns the points after the first of both halves. */
function halves(piece: readonly number[]): number[] {
  const axis = (which: number): number[] => {
    const [a = 0, b = 0, c = 0, d = 0] = [0, 2, 4, 6].map((at) => piece[at + which]);
    const [ab, bc, cd] = [(a + b) / 2, (b + c) / 2, (c + d) / 2];
    const [abc, bcd] = [(ab + bc) / 2, (bc + cd) / 2];
    return [ab, abc, (abc + bcd) / 2, bcd, cd, d];
  };
  const [xs, ys] = [axis(0), axis(1)];
  return xs.flatMap((x, at) => [x, ys[at] ?? 0]);
}
