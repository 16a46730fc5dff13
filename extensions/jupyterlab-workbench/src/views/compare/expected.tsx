// The expected time of a measurement, and the sizes at which a long one is made without being asked.

import { useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { pathName } from "../../model/naming";
import { predicting, type Sizes } from "../../model/selection";
import { changedSizes, paceOf, runSizes } from "./measured";
import { secondsText, sizesText } from "../../model/numbers";

/** Returns the farthest of several cuts of the same sizes; null where one of them is null. */
export function smallest(cuts: readonly (Sizes | null)[]): Sizes | null {
  const [first, ...others] = cuts;
  if (!first) return null;
  return others.reduce<Sizes | null>(
    (one, other) =>
      one && other && Object.fromEntries(Object.entries(one).map(([name, value]) => [name, Math.min(value, other[name] ?? value)])),
    first,
  );
}

export function Expected(props: {
  variants: readonly string[];
  rounds: number | null;
  /** Measures at other sizes than the chosen ones. */
  at: (sizes: Sizes) => void;
  force: () => void;
}): JSX.Element | null {
  const { variants, rounds, at, force } = props;
  const state = useWorkbench();
  const selection = useSelection();
  const store = useStore();
  useValues();
  const run = predicting(state, selection);
  const chosen = state.variants.filter(({ key }) => variants.includes(key));
  const cost = store.known("cost", state.current, run)?.value;
  const known = chosen.flatMap((variant) => {
    const pace = paceOf(state, variant.key, selection, cost?.note ?? null);
    const { value } = store.part("runs", variant.key, { ...run, repeats: rounds, pace });
    return value ? [{ variant, runs: value, tried: pace !== null }] : [];
  });
  if (!known.length || known.length < chosen.length) return null;
  const total = known.reduce((sum, one) => sum + one.runs.seconds, 0);
  const by = known.every((one) => one.tried) ? "by a trial run" : "predicted";
  const slow = known.filter((one) => one.runs.too_slow);
  if (!slow.length) {
    return (
      <p className="wbk-note wbk-expected">
        About {secondsText(total)} of runs, {by}.
      </p>
    );
  }
  const less = smallest(slow.map((one) => one.runs.affordable));
  const now = runSizes(state.sizes, run.sizes);
  const cut = Object.fromEntries(Object.entries(less ?? {}).filter(([name, value]) => value !== now[name]));
  return (
    <div className="wbk-expected wbk-hint" role="status">
      <p>
        About {secondsText(total)} of runs, {by}:{" "}
        {slow.map(({ variant, runs }) => `${pathName(variant, state.variants)} ≈ ${secondsText(runs.run)} a run`).join(", ")}. What takes
        more than a minute is not measured unless you say so.
      </p>
      <div className="wbk-bar">
        {less && (
          <button
            className="wbk-button"
            type="button"
            disabled={state.measuring !== null}
            title="The other sizes stay as they are"
            onClick={() => at(changedSizes(state.sizes, less))}
          >
            Measure at {sizesText(cut)}
          </button>
        )}
        <button className="wbk-button" type="button" disabled={state.measuring !== null} onClick={force}>
          Measure all the same
        </button>
      </div>
    </div>
  );
}
