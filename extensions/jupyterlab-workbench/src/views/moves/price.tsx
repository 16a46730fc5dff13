// Price tags: the predicted effect of a step, always marked as an estimate.

import type { CostView, EffectView, PriceView } from "../../protocol";
import { amountText, bytesText, changeText as textOfChange, SAME, secondsText } from "../../model/numbers";

/** The relative change below which values are called the same. */
const LITTLE = 0.005;

export interface Change {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly text: (value: number) => string;
}

/** Lists the time first, then the peak of each memory space in which either holds anything. */
export function changes(before: EffectView, after: EffectView): readonly Change[] {
  const spaces = Object.keys({ ...before.peak_bytes, ...after.peak_bytes });
  const held = spaces.map((space) => ({
    name: space === "device" ? "peak" : `peak on ${space}`,
    before: before.peak_bytes[space] ?? 0,
    after: after.peak_bytes[space] ?? 0,
    text: bytesText,
  }));
  return [
    { name: "time", before: before.seconds, after: after.seconds, text: secondsText },
    ...held.filter((change) => change.before || change.after),
  ];
}

/** Returns the bytes that count as the peak: the device's, with the host's where both are one memory. */
export function heldAtPeak({ peak_bytes }: EffectView, { one_memory }: Pick<CostView, "one_memory">): number {
  const { device = 0, host = 0 } = peak_bytes;
  return one_memory ? device + host : device;
}

/** What the seconds of a prediction come of. */
type Work = Pick<CostView, "operations" | "bytes" | "launches">;

/** Lists what changes of that which the time comes of. */
export function causes(before: Work, after: Work): readonly Change[] {
  const counted = (count: number): string => amountText(count, "").trim();
  const all: readonly Change[] = [
    { name: "operations", before: before.operations, after: after.operations, text: counted },
    { name: "bytes moved", before: before.bytes, after: after.bytes, text: bytesText },
    { name: "kernel launches", before: before.launches, after: after.launches, text: counted },
  ];
  return all.filter((change) => !isSame(change));
}

/** The most statements of which it is said that the time changes with them, and the least part of its change. */
const [MOST_PARTS, LEAST_PART] = [3, 0.05];

/** Lists the statements with which the time changes most. */
export function parts(before: CostView, after: PriceView): readonly Change[] {
  const [from, to] = [before.seconds, after.seconds];
  if (isSame({ before: from, after: to })) return [];
  const was = new Map(before.shares.map((share) => [share.statement, share.seconds]));
  const far = ({ before, after }: Change): number => Math.abs(after - before);
  return [...new Set([...was.keys(), ...Object.keys(after.parts)])]
    .map((name) => ({ name, before: was.get(name) ?? 0, after: after.parts[name] ?? 0, text: secondsText }))
    .filter((change) => far(change) >= LEAST_PART * Math.abs(to - from) && !isSame(change))
    .sort((one, other) => far(other) - far(one))
    .slice(0, MOST_PARTS);
}

export function isSame({ before, after }: Pick<Change, "before" | "after">): boolean {
  return Math.abs(after - before) <= LITTLE * Math.max(before, after);
}

/** Formats a change: `÷ 42`, `× 3.1`, `same`. */
export const changeText = ({ before, after, text }: Change): string => textOfChange(before, after, text);

/** A column for the time, one for the device's peak; other spaces only where they change. */
export function PriceTags({ before, after }: { before: EffectView; after: EffectView }): JSX.Element {
  const all = changes(before, after);
  const [time, ...spaces] = all;
  const peak = spaces.find((change) => change.name === "peak");
  const others = spaces.filter((change) => change !== peak && !isSame(change));
  return (
    <span className="wbk-prices">
      {others.map((change) => (
        <Tag key={change.name} change={change} />
      ))}
      {all.every(isSame) ? (
        <span className="wbk-price wbk-even" title={`Estimated at these sizes: ${alike(all)} before and after`}>
          same time and peak
        </span>
      ) : (
        <>
          {time && <Tag change={time} />}
          {peak && <Tag change={peak} />}
        </>
      )}
    </span>
  );
}

const alike = (all: readonly Change[]): string =>
  all.map((change) => `${change.name} ${change.text(change.after)}`).join(", ");

function Tag({ change }: { change: Change }): JSX.Element {
  return (
    <span
      className={`wbk-price ${direction(change)}`}
      title={`${change.name}, estimated: ${change.text(change.before)} → ${change.text(change.after)}`}
    >
      <span className="wbk-price-name">{change.name}</span> {isSame(change) ? SAME : changeText(change)}
    </span>
  );
}

export function direction(change: Change): string {
  if (isSame(change)) return "wbk-even";
  return change.after < change.before ? "wbk-cheaper" : "wbk-dearer";
}

/** Returns the worth of a step, lower is better, time before memory. An unknown effect counts as none. */
export function worth(
  before: (EffectView & Pick<CostView, "one_memory">) | null,
  after: EffectView | null,
  by: "time" | "peak",
): number {
  if (!before || !after) return 0;
  const of = (from: number, to: number): number =>
    from && to && !isSame({ before: from, after: to }) ? Math.log(to / from) : 0;
  const time = of(before.seconds, after.seconds);
  const peak = of(heldAtPeak(before, before), heldAtPeak(after, before));
  return by === "time" ? time + 1e-3 * peak : peak + 1e-3 * time;
}
