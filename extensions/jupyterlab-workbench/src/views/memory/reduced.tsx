// What the last step did to the peak, and the check that it left every result as it was.

import { perform } from "../../frame/actions";
import { useCurrent, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { atSizes, bytesText, onThreads, secondsText, sizesText, separated } from "../../model/numbers";
import { predicting, type Sizes } from "../../model/selection";
import type { MeasurementView, MemoryView, RunsView, State } from "../../protocol";
import { useCheck } from "../compare/badge";
import { smallest } from "../compare/expected";
import { changedSizes, type Comparison, comparisons, freeSizes, paceOf, runSizes } from "../compare/measured";
import { Headline, measuredGain } from "../variants/headline";

/** The peak, and what it was before the last step. */
export function Peak({ view }: { view: MemoryView }): JSX.Element {
  const state = useWorkbench();
  const current = useCurrent();
  const { sizes, backend, dtype } = useSelection();
  const store = useStore();
  const before =
    current.parent === null ? null : (store.known("memory", current.parent, { sizes, backend, dtype })?.value ?? null);
  const name = state.variants.find(({ key }) => key === current.parent)?.name;
  const peaks = view.spaces.map(({ space, peak_bytes: bytes }) => {
    const was = before?.spaces.find((one) => one.space === space)?.peak_bytes ?? 0;
    return (
      <span key={space} className="wbk-peak-said">
        <b>{bytesText(bytes)}</b> at the peak{view.spaces.length > 1 && ` of the ${space}`}
        {before && was !== bytes && `, ${bytesText(was)} before the last step`}
      </span>
    );
  });
  return (
    <span className="wbk-peaks-said" title={before && name ? `Before: ${name}` : ""}>
      {peaks}{separated(atSizes(view.sizes).trim())}, on {onThreads(view)}
    </span>
  );
}

/** Whether every result is as the program as written computes it: what was found last, and a button that measures both,
 * each checked against the reference, at sizes at which that is soon over. */
export function Unchanged(): JSX.Element | null {
  const state = useWorkbench();
  const selection = useSelection();
  const { status } = useValues();
  const store = useStore();
  const run = predicting(state, selection);
  if (state.current === state.root) return null;
  const variants = [state.root, state.current];
  const found = newest(state, variants);
  const note = store.known("cost", state.current, run)?.value?.note ?? null;
  const known = variants.flatMap((key) => {
    const pace = paceOf(state, key, selection, note);
    const { value } = store.part("runs", key, { ...run, repeats: null, pace });
    return value ? [value] : [];
  });
  const cut = smallSizes(known);
  const taken = cut ? changedSizes(state.sizes, cut) : run.sizes;
  const at = sizesText(runSizes(state.sizes, taken));
  const expected = known.length === 2 && !cut ? `, about ${secondsText(known.reduce((sum, one) => sum + one.seconds, 0))}` : "";
  const measure = (): void => {
    const plain = { lengths: {}, ...run, seed: 0, repeats: null, force: false } as const;
    void perform(store, () => store.ask({ type: "measure", variants, ...plain, sizes: taken }));
  };
  const check = status === "connected" && (
    <button
      className={found ? "wbk-button wbk-link" : "wbk-button"}
      type="button"
      disabled={state.measuring !== null}
      title={`Check the program as written and this variant against the reference, and measure both at ${at}${expected}`}
      onClick={measure}
    >
      {found ? "check again" : "Check that it is unchanged"}
    </button>
  );
  if (!found) return check || null;
  return <Verdict {...found} key={found.after.group} again={check} />;
}

/** Two measurements that were run in turn, of the program as written and of the shown variant. */
interface Pair {
  readonly comparison: Comparison;
  readonly before: MeasurementView;
  readonly after: MeasurementView;
}

/** Returns the newest pair of the two variants in which both were checked. */
function newest(state: State, [root, current]: readonly string[]): Pair | undefined {
  for (const comparison of comparisons(state)) {
    const { rows } = comparison;
    const before = rows.find((row) => row.variant === root);
    const after = rows.find((row) => row.variant === current);
    if (before && after && after.outcome !== "not run") return { comparison, before, after };
  }
  return undefined;
}

const VERDICTS: Readonly<Record<MeasurementView["outcome"], string>> = {
  passed: "Every result is unchanged",
  failed: "Results have changed",
  impossible: "Whether results are unchanged cannot be told",
  "not run": "",
};

/** What a pair tells: whether results are unchanged, with the report of the check, and what it measured of both. */
function Verdict({ comparison, before, after, again }: Pair & { again: React.ReactNode }): JSX.Element {
  const state = useWorkbench();
  const store = useStore();
  const { badge, report } = useCheck(after, after.variant);
  const sizes = sizesText(freeSizes(state.sizes, after.sizes));
  const gain = measuredGain(comparison, before, after);
  return (
    <div className="wbk-verdict" role="status">
      <span>
        <b>{VERDICTS[after.outcome]}</b> {badge}{" "}
        <span className="wbk-faint">{after.outcome === "passed" && "up to rounding, "}at {sizes}</span>
      </span>
      {again}
      {gain && <Headline gain={gain} />}
      <button className="wbk-button wbk-link" type="button" onClick={() => store.select({ pane: "compare" })}>
        in Compare
      </button>
      {report}
    </div>
  );
}

/** Returns sizes at which all runs are soon over, where some are not as they are. */
function smallSizes(known: readonly RunsView[]): Sizes | null {
  const slow = known.filter((one) => one.too_slow);
  return slow.length ? smallest(slow.map((one) => one.affordable)) : null;
}
