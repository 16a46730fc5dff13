// How long a measurement would take by what is predicted, and smaller sizes where that is long.

import { useSelection, useStore, useWorkbench } from "../model/hooks";
import type { Sizes } from "../model/selection";
import type { CostView } from "../protocol";
import { changedSizes, runSizes, usePredictions } from "./measured";
import { digits, secondsText, sizesText } from "./numbers";

/** Rounds where none are asked for: as many as fit into so many seconds, within these bounds. */
const [SECONDS, LEAST, MOST] = [2, 5, 30];
/** Seconds of all rounds of a variant that are not run without consent. */
const LIMIT = 60;
/** Seconds that what is offered instead would take. */
const SOON = 15;

/** The seconds of all runs of a variant, the one for warming up among them. */
function taken({ seconds }: Pick<CostView, "seconds">, rounds: number | null): number {
  return seconds * (1 + (rounds ?? Math.min(MOST, Math.max(LEAST, Math.ceil(SECONDS / seconds)))));
}

/** `40 s`, `12 min`, `3 h`. */
export function durationText(seconds: number): string {
  if (seconds < 1) return "a second";
  if (seconds < 100) return `${seconds.toFixed(0)} s`;
  return seconds < 100 * 60 ? `${(seconds / 60).toFixed(0)} min` : `${digits(seconds / 3600)} h`;
}

/** All sizes made so much smaller, alike and in round numbers, that what takes `seconds` is done soon, were it linear
 * in each. */
export function smaller(sizes: Sizes, seconds: number): Sizes {
  const count = Object.values(sizes).filter((value) => value > 1).length;
  const part = Math.min(1, SOON / seconds) ** (1 / Math.max(1, count));
  return Object.fromEntries(Object.entries(sizes).map(([name, value]) => [name, roundedDown(value * part)]));
}

function roundedDown(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return (value >= 5 * unit ? 5 : value >= 2 * unit ? 2 : 1) * unit;
}

export function Expected(props: {
  variants: readonly string[];
  rounds: number | null;
  force: () => void;
}): JSX.Element | null {
  const { variants, rounds, force } = props;
  const state = useWorkbench();
  const selection = useSelection();
  const store = useStore();
  const chosen = state.variants.filter(({ key }) => variants.includes(key));
  const predictions = usePredictions(chosen, selection);
  const known = chosen.flatMap((variant) => {
    const cost = predictions.get(variant.key);
    return cost ? [{ variant, cost, seconds: taken(cost, rounds) }] : [];
  });
  if (!known.length || known.length < chosen.length) return null;
  const total = known.reduce((sum, one) => sum + one.seconds, 0);
  const slow = known.filter((one) => one.seconds > LIMIT);
  const less = smaller(runSizes(state.sizes, selection.sizes), total);
  if (!slow.length) return <p className="wbk-note wbk-expected">About {durationText(total)} of runs, predicted.</p>;
  return (
    <div className="wbk-expected wbk-hint" role="status">
      <p>
        About {durationText(total)} of runs, predicted: {slow.map(({ variant, cost }) => `${variant.name} ≈ ${secondsText(cost.seconds)} a run`).join(", ")}
        . What takes more than a minute is not measured unless you say so.
      </p>
      <div className="wbk-bar">
        <button
          className="wbk-button"
          type="button"
          onClick={() => store.select({ sizes: changedSizes(state.sizes, less) })}
        >
          Take {sizesText(less)}
        </button>
        <button className="wbk-button" type="button" disabled={state.measuring !== null} onClick={force}>
          Measure all the same
        </button>
      </div>
    </div>
  );
}
