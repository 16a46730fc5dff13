// Variants of a comparison as letters: A, B, … as `wb.compare` prints them. Names are too long for charts.

import type { State } from "../../protocol";
import { type Comparison, nameOf } from "./measured";
import { type Series, seriesIn } from "../charts/series";

export interface Lettered {
  readonly letter: string;
  readonly name: string;
  readonly series: Series;
  readonly row: Comparison["rows"][number];
}

export function lettered(state: State, comparison: Comparison): readonly Lettered[] {
  return comparison.rows.map((row, position) => ({
    letter: letterOf(position),
    name: nameOf(state, row),
    series: seriesIn(state, row.variant, position),
    row,
  }));
}

export function letterOf(position: number): string {
  const turn = Math.floor(position / 26);
  return String.fromCharCode(65 + (position % 26)) + (turn ? String(turn) : "");
}
