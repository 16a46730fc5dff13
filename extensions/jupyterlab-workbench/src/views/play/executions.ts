// Executions to be played: of one variant, or of two at the same sizes.

import { useMemo } from "react";
import { useStore, useValues, useWorkbench } from "../../model/hooks";
import type { Loaded } from "../../model/parts";
import type { Sizes } from "../../model/selection";
import type { Store } from "../../model/store";
import type { PlayView } from "../../protocol";
import { type Script, scriptOf } from "./script";

export interface Execution {
  readonly variant: string;
  readonly loaded: Loaded<PlayView>;
  readonly script: Script | null;
}

/** Returns the executions of variants, at `sizes` where some are set, else at the least ones that suit all of them. Of
 * a large program that of a statement and its neighbours. */
export function useExecutions(variants: readonly string[], statement: string | undefined, sizes: Sizes): readonly Execution[] {
  const store = useStore();
  useValues();
  const { sizes: known } = useWorkbench();
  const free = known.filter((size) => size.derived === null).map(({ name }) => name);
  const first = variants.map((variant) => executionOf(store, variant, statement, sizes));
  const together = commonSizes(first.flatMap(({ value }) => value ?? []), free);
  const loaded = variants.map((variant, number) => {
    const own = first[number];
    const fits = !own?.value || free.every((name) => own.value?.sizes[name] === together[name]);
    return own && fits ? own : executionOf(store, variant, statement, together);
  });
  const [one, other] = [useScript(loaded[0]?.value), useScript(loaded[1]?.value)];
  return variants.flatMap((variant, number) => {
    const own = loaded[number];
    return own ? { variant, loaded: own, script: (number === 0 ? one : other) ?? null } : [];
  });
}

function executionOf(store: Store, variant: string, statement: string | undefined, sizes: Sizes): Loaded<PlayView> {
  const all = store.part("play", variant, { statement: null, sizes });
  if (!all.value || all.value.whole || statement === undefined) return all;
  const own = store.part("play", variant, { statement, sizes });
  // A statement that this variant has no more.
  return own.status === "failed" ? all : own;
}

/** Returns the sizes, none of them derived, that are as large as those of each execution. */
export function commonSizes(views: readonly PlayView[], free: readonly string[]): Sizes {
  return Object.fromEntries(free.map((name) => [name, Math.max(1, ...views.map(({ sizes }) => sizes[name] ?? 1))]));
}

function useScript(view: PlayView | null | undefined): Script | null {
  return useMemo(() => (view && !view.too_large ? scriptOf(view) : null), [view]);
}
