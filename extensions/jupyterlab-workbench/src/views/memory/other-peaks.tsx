// Under the peak of one pane: what the others tell of the same variant where that differs, and why.

import { useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { otherPeaksText, type Peak, peakOfMemory, peakOfProfile, peakOfRun } from "./peaks";

export function OtherPeaks({ here, variant }: { here: Peak | null; variant: string }): JSX.Element | null {
  const store = useStore();
  useValues();
  const { runs, profiles } = useWorkbench();
  const { sizes, backend, dtype } = useSelection();
  if (!here) return null;
  const memory = store.known("memory", variant, { sizes, backend, dtype })?.value;
  const run = runs.filter((one) => one.variant === variant).at(-1);
  const profile = profiles.filter((one) => one.variant === variant).at(-1);
  const all = [memory && peakOfMemory(memory), run && peakOfRun(run), profile && peakOfProfile(profile)];
  const text = otherPeaksText(here, all);
  return text ? <p className="wbk-note wbk-other-peaks">{text}</p> : null;
}
