// How variants are told apart in charts: by colours that colour-blind readers can tell, and by dashes.

import type { State } from "../../protocol";

const DASHES = ["", "6 3", "2 2"];
const COLOURS = 6;

export interface Series {
  readonly colour: string;
  readonly dash: string;
}

/** A variant has one colour in every chart and in the tree, that of when it came into the tree. `others` is the
 * place of one that is not in it among those that are not. */
export function seriesIn({ variants }: State, key: string, others = 0): Series {
  const found = variants.find((variant) => variant.key === key);
  const next = 1 + Math.max(...variants.map(({ number }) => number));
  return series(found ? found.number : next + others);
}

export function series(position: number): Series {
  const dash = DASHES[Math.floor(position / COLOURS) % DASHES.length] ?? "";
  return { colour: `var(--wbk-series-${position % COLOURS})`, dash };
}
