// In place of the player, at sizes that are too large for it: which they are; and a way to smaller ones.

import { sizesText } from "../../model/numbers";
import type { Sizes } from "../../model/selection";
import type { PlayView } from "../../protocol";

interface Given {
  readonly view: PlayView;
  readonly set: (sizes: Sizes) => void;
}

export function TooLarge({ view, set }: Given): JSX.Element {
  return (
    <div className="wbk-answer wbk-play-large" role="alert">
      <span>{view.too_large}</span>
      <Smaller view={view} set={set} />
    </div>
  );
}

/** Plays more at smaller sizes; nothing where there are none. */
export function Smaller({ view: { too_large, smaller }, set }: Given): JSX.Element | null {
  if (!smaller) return null;
  return (
    <button className="wbk-button" type="button" onClick={() => set(smaller)}>
      Play {too_large ? "" : "all of it "}at {sizesText(smaller)}
    </button>
  );
}
