// What the last step did to the peak, and the check that it left every result as it was.

import { perform } from "../../frame/actions";
import { useCurrent, usePart, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { bytesText, onThreads, secondsText, sizesText } from "../../model/numbers";
import type { Sizes } from "../../model/selection";
import type { MeasurementView, MemoryView, RunsView, State } from "../../protocol";
import { smallest } from "../compare/expected";
import { changedSizes, comparisons, paceOf, runSizes } from "../compare/measured";

/** The peak, and what it was before the last step. */
export function Peak({ view }: { view: MemoryView }): JSX.Element {
  const state = useWorkbench();
  const current = useCurrent();
  const { sizes, dtype } = useSelection();
  const store = useStore();
  const before = current.parent === null ? null : (store.known("memory", current.parent, { sizes, dtype })?.value ?? null);
  const name = state.variants.find(({ key }) => key === current.parent)?.name;
  const peaks = view.spaces.map(({ space, peak_bytes: bytes }) => {
    const was = before?.spaces.find((one) => one.space === space)?.peak_bytes ?? 0;
    return (
      <span key={space} className="wbk-peak-said">
        <b>{bytesText(bytes)}</b> at the peak of the {space}
        {before && was !== bytes && `, ${bytesText(was)} before the last step`}
      </span>
    );
  });
  return (
    <span className="wbk-peaks-said">
      <span title={before && name ? `Before: ${name}` : ""}>
        {peaks} at {sizesText(view.sizes)}
      </span>
      <OfKernels />
    </span>
  );
}

/** The peak of compiled kernels, which is another one than that of array operations, drawn here. */
function OfKernels(): JSX.Element | null {
  const { sizes, backend, dtype } = useSelection();
  const { value } = usePart("cost", { sizes, backend, dtype });
  if (!value || value.backend === "numpy") return null;
  return (
    <span
      className="wbk-faint"
      title="Kernels keep values on chip that array operations, drawn here, hold in memory; each thread has a block's arrays of its own"
    >
      predicted for {onThreads(value)}: {bytesText(value.peak_bytes["device"] ?? 0)}
    </span>
  );
}

/** Measures the shown variant beside the program as written, each checked against the reference, at sizes at which that
 * is soon over. */
export function Unchanged(): JSX.Element | null {
  const state = useWorkbench();
  const selection = useSelection();
  const { status } = useValues();
  const store = useStore();
  const { sizes, backend, dtype } = selection;
  if (state.current === state.root || status !== "connected") return null;
  const variants = [state.root, state.current];
  const note = store.known("cost", state.current, { sizes, backend, dtype })?.value?.note ?? null;
  const known = variants.flatMap((key) => {
    const pace = paceOf(state, key, selection, note);
    const { value } = store.part("runs", key, { sizes, backend, dtype, repeats: null, pace });
    return value ? [value] : [];
  });
  const cut = smallSizes(known);
  const taken = cut ? changedSizes(state.sizes, cut) : sizes;
  const at = sizesText(runSizes(state.sizes, taken));
  const expected = known.length === 2 && !cut ? `, about ${secondsText(known.reduce((sum, one) => sum + one.seconds, 0))}` : "";
  const checked = passed(state);
  const measure = (): void => {
    store.select({ pane: "compare" }); // that pane has its progress and results
    const plain = { backend, dtype, seed: 0, repeats: null, force: false } as const;
    void perform(store, () => store.ask({ type: "measure", variants, sizes: taken, ...plain }));
  };
  return (
    <button
      className="wbk-button"
      type="button"
      disabled={state.measuring !== null}
      title={`${checked ? `Checked at ${sizesText(checked.sizes)}. ` : ""}Check the program as written and this variant against the reference, and measure both at ${at}${expected}`}
      onClick={measure}
    >
      {checked ? "✓ Unchanged: check again" : "Check that it is unchanged"}
    </button>
  );
}

/** Returns the newest measurement of the variant beside the program as written, where both passed their checks. */
function passed(state: State): MeasurementView | undefined {
  const keys = [state.root, state.current];
  for (const { rows } of comparisons(state)) {
    const both = keys.map((key) => rows.find((row) => row.variant === key));
    if (both.every((row) => row?.outcome === "passed")) return both[1];
  }
  return undefined;
}

/** Returns sizes at which all runs are soon over, where some are not as they are. */
function smallSizes(known: readonly RunsView[]): Sizes | null {
  const slow = known.filter((one) => one.too_slow);
  return slow.length ? smallest(slow.map((one) => one.affordable)) : null;
}
