// How variants are told apart in charts: by colours that colour-blind readers can tell, and by dashes.

const DASHES = ["", "6 3", "2 2"];
const COLOURS = 6;

export interface Series {
  readonly colour: string;
  readonly dash: string;
}

export function series(position: number): Series {
  const dash = DASHES[Math.floor(position / COLOURS) % DASHES.length] ?? "";
  return { colour: `var(--wbk-series-${position % COLOURS})`, dash };
}
