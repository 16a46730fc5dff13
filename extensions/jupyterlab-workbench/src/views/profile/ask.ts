// The request for a profile.

import { useAsking } from "../../model/asking";
import { useSelection } from "../../model/hooks";
import type { Sizes } from "../../model/selection";

interface Settings {
  readonly backend: string;
  readonly sizes: Sizes;
  readonly dtype: "float32" | "float64";
  readonly seed: number;
  readonly force: boolean;
}

/** Starts a profile of a variant; `said` is the reason why it could not. What comes of it is in the state. */
export function useProfile(): {
  readonly profile: (variant: string, more?: Partial<Settings>) => void;
  readonly said: string;
} {
  const { backend, sizes, dtype } = useSelection();
  const { ask, said } = useAsking();
  const profile = (variant: string, more: Partial<Settings> = {}): void => {
    const plain: Settings = { backend, sizes, dtype, seed: 0, force: false };
    ask({ type: "profile", variant, ...plain, ...more });
  };
  return { profile, said };
}
