// The steps that may make an array smaller, ranked by what they do to it and to the peak.

import type { CostView, MoveView, PriceView } from "../../protocol";
import { heldAtPeak, isSame } from "../moves/price";

/** A move with what it does to one array; `after` is null as long as it has no price. */
export interface Reduction {
  readonly move: MoveView;
  readonly after: PriceView | null;
  readonly array: { readonly before: number; readonly after: number };
  /** The memory space to which it moves the array; null where that stays. */
  readonly to: string | null;
}

/** Returns what a move does to an array. A price that does not name it leaves it as it is. */
export function reduction(move: MoveView, after: PriceView | null, array: string, cost: CostView): Reduction {
  const before = cost.arrays.find((one) => one.array === array)?.bytes ?? 0;
  return { move, after, array: { before, after: after?.arrays[array] ?? before }, to: after?.moved[array] ?? null };
}

/** The worth of a reduction, lower is better: how the array and the peak change, each as a ratio. Time decides
 * among equals. */
export function worthOf({ after, array }: Reduction, cost: CostView): number {
  if (!after) return 0;
  const [peak, now] = [heldAtPeak(cost, cost), heldAtPeak(after, cost)];
  const ratio = (of: number, to: number): number => Math.log(Math.max(to, 1) / Math.max(of, 1));
  return ratio(array.before, array.after) + ratio(peak, now) + 1e-3 * ratio(cost.seconds * 1e9, after.seconds * 1e9);
}

/** Tells whether a move, as far as it is predicted, makes neither the array nor the peak smaller. */
export function isIdle({ move, after, array }: Reduction, cost: CostView): boolean {
  if (move.refused !== null || !after) return false;
  const peak = { before: heldAtPeak(cost, cost), after: heldAtPeak(after, cost) };
  return array.after >= array.before && (peak.after >= peak.before || isSame(peak));
}

/** Sorts reductions: helpful ones first, then those without a price, then harmful ones, refused ones last. */
export function ranked(all: readonly Reduction[], cost: CostView): readonly Reduction[] {
  const worths = new Map(all.map((one) => [one, worthOf(one, cost)]));
  return [...all].sort(
    (one, other) =>
      Number(one.move.refused !== null) - Number(other.move.refused !== null) ||
      (worths.get(one) ?? 0) - (worths.get(other) ?? 0),
  );
}

/** Returns the moves that may be about an array: those about it, then those about the whole program, then others that
 * are known to change it. */
export function candidates(
  first: readonly MoveView[],
  rest: readonly MoveView[],
  changes: (move: MoveView) => boolean,
): readonly MoveView[] {
  const broad = rest.filter(({ step }) => !step.statements.length && !step.arrays.length);
  return [...first, ...broad, ...rest.filter((move) => !broad.includes(move) && changes(move))];
}
