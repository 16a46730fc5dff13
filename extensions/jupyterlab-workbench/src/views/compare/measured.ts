// Measurements by comparison: only those run in turn stand side by side.

import { useStore, useValues } from "../../model/hooks";
import { nameOfKey } from "../../model/naming";
import type { Predicting, Sizes } from "../../model/selection";
import type { CostView, MeasurementView, SizeView, State, VariantView } from "../../protocol";

/** Measurements that were run in turn, in their order. */
export interface Comparison {
  readonly group: string;
  readonly rows: readonly MeasurementView[];
}

/** Lists all comparisons, the newest first. */
export function comparisons(state: State): readonly Comparison[] {
  const found = new Map<string, MeasurementView[]>();
  for (const one of state.measurements) {
    const rows = found.get(one.group);
    if (rows) rows.push(one);
    else found.set(one.group, [one]);
  }
  const all = [...found].map(([group, rows]) => ({ group, rows }));
  return all.sort((one, other) => (dateOf(other) < dateOf(one) ? -1 : dateOf(other) > dateOf(one) ? 1 : 0));
}

const dateOf = ({ rows }: Comparison): string => rows[0]?.date ?? "";

/** Returns how the time of one row differs from another's of the same comparison, in words, with what is beyond the
 * spread of their runs; null where that is not told of these two. */
export function timeDifference({ rows }: Comparison, before: MeasurementView, after: MeasurementView): string | null {
  if (rows[0] === before) return after.difference || null;
  return after.last_steps?.since === before.variant ? after.last_steps.text : null;
}

/** Formats a date in the reader's own time, `8 Nov 2026, 14:03`; the text as it is where it is no date. */
export function dateText(date: string): string {
  const time = new Date(date);
  if (Number.isNaN(time.getTime())) return date;
  return time.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** Returns `3 of 5 rounds` while it is measured, or where that was ended early. */
export function unfinished({ samples, planned }: Pick<MeasurementView, "samples" | "planned">): string {
  return samples.length > 0 && samples.length < planned ? `${samples.length} of ${planned} rounds` : "";
}

/** Returns a variant's present name or path; its steps where it is not in the tree any more. */
export function nameOf(state: State, found: Pick<MeasurementView, "variant" | "label">): string {
  return nameOfKey(found.variant, state.variants) || found.label;
}

/** Returns the sizes that can be set, without those derived from them. */
export function freeSizes(known: readonly SizeView[], sizes: Sizes): Sizes {
  const free = known.filter((size) => size.derived === null && sizes[size.name] !== undefined);
  return Object.fromEntries(free.map((size) => [size.name, sizes[size.name] ?? size.default]));
}

/** Returns the sizes of a run: those that can be set, at their defaults where nothing else is selected. */
export function runSizes(known: readonly SizeView[], sizes: Sizes): Sizes {
  const free = known.filter((size) => size.derived === null);
  return Object.fromEntries(free.map((size) => [size.name, sizes[size.name] ?? size.default]));
}

/** Returns only sizes that differ from the defaults, as the selection keeps them. */
export function changedSizes(known: readonly SizeView[], sizes: Sizes): Sizes {
  const free = Object.entries(freeSizes(known, sizes));
  return Object.fromEntries(
    free.filter(([name, value]) => known.find((size) => size.name === name)?.default !== value),
  );
}

/** Returns the prediction of each variant where it is there; asks for missing ones. */
export function usePredictions(variants: readonly VariantView[], run: Predicting): ReadonlyMap<string, CostView> {
  const store = useStore();
  useValues();
  const found = new Map<string, CostView>();
  for (const { key } of variants) {
    const { value } = store.part("cost", key, run);
    if (value) found.set(key, value);
  }
  return found;
}

/** Returns the variants whose prediction is on its way. */
export function useAwaited(variants: readonly VariantView[], run: Predicting): ReadonlySet<string> {
  const store = useStore();
  const { status } = useValues();
  const waits = ({ key }: VariantView): boolean => {
    const part = store.part("cost", key, run);
    return !part.value && (part.status === "waiting" || part.status === "streaming");
  };
  return new Set(status === "connected" ? variants.filter(waits).map(({ key }) => key) : []);
}

/** Returns the seconds of the variant's trial run over those predicted of it, else the most of any other variant; null
 * where none was made here. `note` tells what is predicted with now, where that is known: a pace counts only for the
 * same. */
export function paceOf(state: State, variant: string, run: Pick<Predicting, "backend" | "dtype">, note: string | null): number | null {
  const tried = state.measurements.filter(
    (row) =>
      row.pace !== null && !row.recorded && row.backend === run.backend && row.dtype === run.dtype &&
      (note === null || row.prediction_note === note),
  );
  const own = tried.filter((row) => row.variant === variant).sort((one, other) => (one.date < other.date ? -1 : 1));
  const paces = (own.length ? own.slice(-1) : tried).map((row) => row.pace ?? 0);
  return paces.length ? Math.max(...paces) : null;
}

/** Returns the variant and its ancestors, the root first. */
export function lineage(state: State, key: string): readonly VariantView[] {
  const found: VariantView[] = [];
  let at = state.variants.find((variant) => variant.key === key);
  while (at) {
    const parent: string | null = at.parent;
    found.unshift(at);
    at = state.variants.find((variant) => variant.key === parent);
  }
  return found;
}

/** Counts the steps of a variant since it and another parted. */
export function stepsSince(state: State, variant: string, onto: string): number {
  const others = new Set(lineage(state, onto).map((one) => one.key));
  return lineage(state, variant).filter((one) => !others.has(one.key)).length;
}

/** Returns a variant with all its descendants. */
export function family(state: State, key: string): readonly string[] {
  const found = [key];
  for (const variant of state.variants) {
    if (variant.parent !== null && found.includes(variant.parent) && !found.includes(variant.key)) {
      found.push(variant.key);
    }
  }
  return found;
}
