// The course of memory over the lines of a loop program: the bytes held at each, and their outline at a chart's width.

import type { Range } from "../../model/selection";
import type { MemoryPoint, MemoryView, SpaceView } from "../../protocol";

/** Bytes from a line on, up to the next corner. */
export interface Corner {
  readonly line: number;
  /** The most bytes held. */
  readonly highest: number;
  /** The bytes held at its end. */
  readonly last: number;
  /** The positions of the points with these. */
  readonly highestAt: number;
  readonly lastAt: number;
}

/** Reduces the points to as many places as a chart has columns. The most bytes held within a column are kept, so that
 * no peak is lost, however narrow it is. */
export function outline(points: readonly MemoryPoint[], lines: number, columns: number): readonly Corner[] {
  const corners: Corner[] = [];
  let column = -1;
  points.forEach((point, at) => {
    const here = Math.floor((point.line / Math.max(lines, 1)) * columns);
    const before = corners.at(-1);
    if (here === column && before) {
      const higher = point.bytes > before.highest;
      const highest = higher ? { highest: point.bytes, highestAt: at } : {};
      corners[corners.length - 1] = { ...before, ...highest, last: point.bytes, lastAt: at };
    } else corners.push({ line: point.line, highest: point.bytes, last: point.bytes, highestAt: at, lastAt: at });
    column = here;
  });
  return corners;
}

/** Returns the position of the point that holds the most from one line to another (both included); the bytes held when
 * the first is reached count. -1 where nothing is held before the last. */
export function highestBetween(points: readonly MemoryPoint[], from: number, to: number): number {
  let found = lastBefore(points, from);
  for (let at = found + 1; at < points.length; at++) {
    const point = points[at];
    if (!point || point.line > to) break;
    if (found < 0 || point.bytes > (points[found]?.bytes ?? 0)) found = at;
  }
  return found;
}

/** Returns the position of the last point on or before a line; -1 before the first. */
export function lastBefore(points: readonly MemoryPoint[], line: number): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.line ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns the arrays that live behind a point, as positions in `MemoryView.arrays`. */
export function liveAt(points: readonly MemoryPoint[], at: number): ReadonlySet<number> {
  const live = new Set<number>();
  for (const point of points.slice(0, at + 1)) {
    for (const gone of point.gone) live.delete(gone);
    for (const born of point.born) live.add(born);
  }
  return live;
}

/** Returns all arrays that live at some place from one line to another. */
export function liveBetween(points: readonly MemoryPoint[], from: number, to: number): ReadonlySet<number> {
  const start = lastBefore(points, from);
  const live = new Set(liveAt(points, start));
  for (const point of points.slice(start + 1)) {
    if (point.line > to) break;
    for (const born of point.born) live.add(born);
  }
  return live;
}

/** Returns the position of the point that holds the most. */
export function peakOf(points: readonly { readonly bytes: number }[]): number {
  let found = 0;
  points.forEach((point, at) => {
    if (point.bytes > (points[found]?.bytes ?? 0)) found = at;
  });
  return found;
}

/** Returns the lines on which each array of a space lives, as positions in `MemoryView.arrays`: from its first to its
 * last. */
export function spansOf(points: readonly MemoryPoint[], lines: number): ReadonlyMap<number, Range> {
  const spans = new Map<number, Range>();
  for (const point of points) {
    for (const one of point.born) spans.set(one, { from: spans.get(one)?.from ?? point.line, to: lines });
    for (const one of point.gone) spans.set(one, { from: spans.get(one)?.from ?? 0, to: point.line });
  }
  return spans;
}

/** A loop's extent among the lines where memory changes. */
export interface LoopSpan {
  readonly variable: string;
  readonly depth: number;
  readonly from: number;
  readonly to: number;
}

export function loopSpans(view: MemoryView): readonly LoopSpan[] {
  const points = view.spaces.flatMap((space) => space.points).sort((one, other) => one.line - other.line);
  const open: { variable: string; from: number; to: number }[] = [];
  const spans: LoopSpan[] = [];
  const close = (depth: number): void => {
    for (let top = open.length - 1; top >= depth; top--) {
      const span = open.pop();
      if (span) spans.push({ ...span, depth: top });
    }
  };
  for (const { line, loops } of points) {
    const same = loops.findIndex((variable, depth) => open[depth]?.variable !== variable);
    close(same === -1 ? loops.length : same);
    for (const variable of loops.slice(open.length)) open.push({ variable, from: line, to: line });
    for (const span of open) span.to = line;
  }
  close(0);
  return spans.sort((one, other) => one.depth - other.depth || one.from - other.from);
}

export function spaceOf(view: MemoryView, space: string): SpaceView | undefined {
  return view.spaces.find((one) => one.space === space);
}
