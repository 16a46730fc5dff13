// The requests for a run and for a profile.

import { useAsking } from "../../model/asking";
import { useSelection } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import type { NotMadeView } from "../../protocol";

export interface RunSettings {
  readonly backend: string;
  readonly sizes: Sizes;
  readonly dtype: "float32" | "float64";
  readonly seed: number;
  /** True for the Jupyter kernel itself. */
  readonly here: boolean;
}

export interface AskedRun {
  readonly start: (variant: string, more?: Partial<RunSettings & { readonly force: boolean }>) => void;
  /** The reason why it could not be started. */
  readonly said: string;
}

/** Starts a run or a profile of a variant. What comes of it is in the state. */
export function useRun(what: "run" | "profile"): AskedRun {
  const { backend, sizes, dtype } = useSelection();
  const { ask, said } = useAsking();
  const start: AskedRun["start"] = (variant, { force = false, ...more } = {}) => {
    const plain: RunSettings = { backend, sizes, dtype, seed: 0, here: false, ...more };
    if (what === "run") ask({ type: "run", variant, ...plain });
    else ask({ type: "profile", variant, ...plain, force });
  };
  return { start, said };
}

/** Returns the settings of what was not made, to make it in another way. */
export function settingsOf({ backend, sizes, dtype, seed }: NotMadeView): Omit<RunSettings, "here"> {
  return { backend, sizes, seed, dtype: dtype === "float64" ? "float64" : "float32" };
}
