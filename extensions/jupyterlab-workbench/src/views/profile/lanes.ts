// The lanes of a profile's course as numbers to draw: spans in ticks, the part of them in sight.

import type { CourseView, LaneView } from "../../protocol";

/** A launch or several, or an iteration, from one tick to another. */
export interface Span {
  readonly begin: number;
  readonly end: number;
  /** The launches in it; of an iteration the loop's value. */
  readonly count: number;
  /** The share of the time in which they ran. */
  readonly busy: number;
  /** The length in ticks that they were predicted to have; null where nothing was. */
  readonly predicted: number | null;
}

/** The numbers of a span in a `LaneView`. */
const NUMBERS = 5;

export function spansOf({ spans }: LaneView): readonly Span[] {
  return Array.from({ length: spans.length / NUMBERS }, (_, at): Span => {
    const [begin = 0, end = 0, count = 0, busy = 0, predicted = -1] = spans.slice(NUMBERS * at, NUMBERS * (at + 1));
    return { begin, end, count, busy: busy / 1000, predicted: predicted < 0 ? null : predicted };
  });
}

/** A part of the time axis, in ticks. */
export interface Sight {
  readonly from: number;
  readonly to: number;
}

export const wholeSight = ({ seconds, tick }: CourseView): Sight => ({ from: 0, to: seconds / tick });

/** The fewest ticks in sight. */
const LEAST = 20;

/** Returns what is in sight after a zoom about a tick: `by` is the new width over the old one. */
export function zoomed({ from, to }: Sight, by: number, about: number, whole: Sight): Sight {
  const width = Math.min(Math.max((to - from) * by, LEAST), whole.to - whole.from);
  const share = (about - from) / (to - from);
  return moved({ from: about - share * width, to: about + (1 - share) * width }, 0, whole);
}

/** Returns what is in sight some ticks later, as far as there is something. */
export function moved({ from, to }: Sight, by: number, whole: Sight): Sight {
  const width = to - from;
  const start = Math.min(Math.max(from + by, whole.from), whole.to - width);
  return { from: start, to: start + width };
}

/** A step of the bytes held. */
export interface Level {
  readonly begin: number;
  readonly end: number;
  readonly bytes: number;
}

/** Returns the bytes held, step by step to the end of the course. */
export function levelsOf(course: CourseView): readonly Level[] {
  const { held } = course;
  const { to } = wholeSight(course);
  return Array.from({ length: held.length / 2 }, (_, at): Level => {
    const [begin = 0, bytes = 0, end = to] = held.slice(2 * at, 2 * at + 3);
    return { begin, bytes, end };
  });
}

/** Returns round times within a part of the axis, in seconds. */
export function timesIn({ from, to }: Sight, tick: number, most: number): readonly number[] {
  const rough = ((to - from) * tick) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const first = Math.ceil((from * tick) / step);
  const last = Math.floor((to * tick) / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
}
