// The marks of variants in charts: colours that colour-blind readers can tell apart, and dashes.

import type { State } from "../../protocol";

const DASHES = ["", "6 3", "2 2"];
const COLOURS = 6;

export interface Series {
  readonly colour: string;
  readonly dash: string;
}

/** Returns the colour of a variant, the same in every chart and in the tree, by the time it came into the tree.
 * `others` is the place of a variant outside the tree among those outside. */
export function seriesIn({ variants }: State, key: string, others = 0): Series {
  const found = variants.find((variant) => variant.key === key);
  const next = 1 + Math.max(...variants.map(({ number }) => number));
  return series(found ? found.number : next + others);
}

export function series(position: number): Series {
  const dash = DASHES[Math.floor(position / COLOURS) % DASHES.length] ?? "";
  return { colour: `var(--wbk-series-${position % COLOURS})`, dash };
}
