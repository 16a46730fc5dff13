// What an automatic recipe achieves: memory and time before it and after, both measured in turn or both predicted.

import { atSizes, bytesText, changeText, onThreads, secondsText } from "../../model/numbers";
import type { CostView, MeasurementView } from "../../protocol";
import { type Comparison, timeDifference } from "../compare/measured";
import { isUncalibrated } from "../run/estimated";
import type { Recipe } from "./folding";

/** The cost of a run. */
interface Cost {
  readonly seconds: number;
  readonly peak_bytes: Readonly<Record<string, number>>;
}

export interface Gain {
  readonly before: Cost;
  readonly after: Cost;
  readonly measured: boolean;
  /** Where and at which sizes it was measured, in words; empty for predictions, which are at those of the list. */
  readonly where: string;
  /** How the times differ, in words, where that is told of them; null where it is their ratio. */
  readonly time: string | null;
  /** True for predictions by the constants of another machine. */
  readonly rough: boolean;
}

/** Returns what a recipe changes; null where that is not known yet. */
export function gainOf(
  { steps, last }: Recipe,
  comparison: Comparison | undefined,
  predictions: ReadonlyMap<string, CostView>,
): Gain | null {
  const start = steps[0]?.parent ?? "";
  const row = (key: string): MeasurementView | undefined => comparison?.rows.find((one) => one.variant === key);
  const [from, to] = [row(start), row(last.key)];
  const measured = comparison && from && to ? measuredGain(comparison, from, to) : null;
  if (measured) return measured;
  const [before, after] = [predictions.get(start), predictions.get(last.key)];
  return before && after ? { before, after, measured: false, where: "", time: null, rough: isUncalibrated(after) } : null;
}

/** Returns what two rows of a comparison tell; null where one of them has no times. */
export function measuredGain(comparison: Comparison, from: MeasurementView, to: MeasurementView): Gain | null {
  const cost = ({ median, peak_bytes }: MeasurementView): Cost | null =>
    median === null ? null : { seconds: median, peak_bytes };
  const [before, after] = [cost(from), cost(to)];
  if (!before || !after) return null;
  const where = `on ${onThreads(to)}${atSizes(to.sizes)}`;
  return { before, after, measured: true, where, time: timeDifference(comparison, from, to), rough: false };
}

export function Headline({ gain }: { gain: Gain }): JSX.Element {
  const { before, after, measured, where, time, rough } = gain;
  const peak = (cost: Cost, space: string): number => cost.peak_bytes[space] ?? 0;
  const host = peak(before, "host") || peak(after, "host");
  return (
    <div className={`wbk-headline${measured ? "" : " wbk-estimate"}${rough ? " wbk-rough" : ""}`}>
      <Change what="peak" before={peak(before, "device")} after={peak(after, "device")} text={bytesText} />
      {host > 0 && <Change what="on the host" before={peak(before, "host")} after={peak(after, "host")} text={bytesText} />}
      <Change what="time" before={before.seconds} after={after.seconds} text={secondsText} said={time} />
      <span className="wbk-faint">{measured ? `measured in turn ${where}` : "predicted"}</span>
    </div>
  );
}

/** Says what is worked out before a recipe's gain is known; nothing where it cannot be. */
export function Awaited({ recipe, awaited }: { recipe: Recipe; awaited: ReadonlySet<string> }): JSX.Element | null {
  const { steps, last } = recipe;
  const left = [...(awaited.has(steps[0]?.parent ?? "") ? ["before"] : []), ...(awaited.has(last.key) ? ["after it"] : [])];
  if (!left.length) return null;
  return (
    <p className="wbk-note" role="status">
      What it gains is being predicted: time and peak {left.join(" and ")} …
    </p>
  );
}

function Change(props: {
  what: string;
  before: number;
  after: number;
  text: (amount: number) => string;
  said?: string | null;
}): JSX.Element {
  const { what, before, after, text, said } = props;
  return (
    <span className="wbk-gain">
      <span className="wbk-faint">{what}</span> <b>{text(before)} → {text(after)}</b> {said ?? changeText(before, after, text)}
    </span>
  );
}
