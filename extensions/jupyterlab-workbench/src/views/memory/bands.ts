// Bands of a stacked chart: one for each of the largest arrays, one for all small ones together.

import type { MemoryView } from "../../protocol";
import { liveAt, peakOf, spaceOf } from "./course";

/** The arrays with a band of their own, and so with a colour. */
export const BANDS = 8;

export interface Band {
  /** Positions in `MemoryView.arrays`. */
  readonly buffers: readonly number[];
  readonly title: string;
  readonly colour: string;
}

/** Returns the bands of a space from the bottom up: of what lives at the peak the largest first, then of all else. */
export function bandsOf(view: MemoryView, space: string): readonly Band[] {
  const points = spaceOf(view, space)?.points ?? [];
  const high = liveAt(points, peakOf(points));
  const all = [...new Set(points.flatMap((point) => point.born))];
  const bytes = (one: number): number => view.arrays[one]?.bytes ?? 0;
  all.sort((one, other) => Number(high.has(other)) - Number(high.has(one)) || bytes(other) - bytes(one));
  const bands = all
    .slice(0, BANDS)
    .map((one, place) => ({ buffers: [one], title: view.arrays[one]?.name ?? "", colour: `var(--wbk-band-${place})` }));
  const rest = all.slice(BANDS);
  const together = { buffers: rest, title: `${rest.length} smaller`, colour: "var(--wbk-band-rest)" };
  return rest.length ? [...bands, together] : bands;
}

/** Returns the bytes of each band and those below it at each point. */
export function stacked(view: MemoryView, space: string, bands: readonly Band[]): readonly (readonly number[])[] {
  const bandOf = new Map(bands.flatMap(({ buffers }, place) => buffers.map((one) => [one, place] as const)));
  const now = bands.map(() => 0);
  const tops: number[][] = bands.map(() => []);
  for (const { born, gone } of spaceOf(view, space)?.points ?? []) {
    for (const [ones, sign] of [[gone, -1], [born, 1]] as const) {
      for (const one of ones) {
        const place = bandOf.get(one) ?? 0;
        now[place] = (now[place] ?? 0) + sign * (view.arrays[one]?.bytes ?? 0);
      }
    }
    let sum = 0;
    now.forEach((bytes, place) => tops[place]?.push((sum += bytes)));
  }
  return tops;
}

/** Returns the colour of an array's band. */
export function colourOf(bands: readonly Band[], buffer: number): string {
  return bands.find(({ buffers }) => buffers.includes(buffer))?.colour ?? "var(--wbk-band-rest)";
}
