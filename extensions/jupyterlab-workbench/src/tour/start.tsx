// The button in the workbench's head that begins the tour, or goes on with it.

import { useSelection, useStore } from "../model/hooks";
import type { Store } from "../model/store";
import { tourOf } from "./place";

/** Begins the tour, or goes on where it was left; waits where no program is shown yet. */
export function startTour(store: Store): void {
  const { state, selection: { tour } } = store.values();
  store.select({ tour: tour ? { ...tour, open: true } : tourOf(state) });
}

export function StartTour(): JSX.Element {
  const store = useStore();
  const { tour } = useSelection();
  const left = tour !== null && !tour.open;
  return (
    <button
      className="wbk-button wbk-tour-button"
      type="button"
      data-tour-start
      aria-pressed={tour?.open ?? false}
      title={left ? "Go on with the tour where it was left" : "Ten stops in three minutes, on this program"}
      onClick={() => (tour?.open ? store.select({ tour: { ...tour, open: false } }) : startTour(store))}
    >
      Tour
    </button>
  );
}
