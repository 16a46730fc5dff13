// Steps as views hand them on: the open one is the selection's, as JSON text.

import type { Store } from "../../model/store";
import type { StepView } from "../../protocol";

export type StepJson = StepView["json"];

export function openStep(store: Store, step: StepJson | null): void {
  store.select({ move: step && stepKey(step), next: null, contrast: null });
}

/** Opens a step that makes a refused one possible. */
export function openFirst(store: Store, step: StepView, refused: StepView): void {
  store.select({ move: stepKey(step.json), next: { move: stepKey(refused.json), text: refused.text }, contrast: null });
}

/** Opens a step beside what was said of another. */
export function openContrast(store: Store, step: StepJson, before: StepJson): void {
  store.select({ move: stepKey(step), next: null, contrast: stepKey(before) });
}

/** Goes on with the step that the open one was taken for, or back to it; to the moves where there is none. */
export function openNext(store: Store): void {
  store.select({ move: store.values().selection.next?.move ?? null, next: null, contrast: null });
}

/** The same text for the same step. */
export function stepKey(step: StepJson): string {
  return JSON.stringify(step);
}

/** The step of a key; null for a text that is none. */
export function stepOf(key: string): StepJson | null {
  try {
    const value: unknown = JSON.parse(key);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as StepJson) : null;
  } catch {
    return null;
  }
}
