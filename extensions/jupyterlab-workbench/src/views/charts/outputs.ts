// Learning curves in words, and the range of their values.

import type { CurveView } from "../../protocol";

const OUTPUTS: Readonly<Record<string, string>> = {
  episode_return: "return per episode",
  episodes: "episodes ended",
};

const DIMS: Readonly<Record<string, string>> = { i: "update", t: "step", e: "epoch", m: "minibatch", b: "environment" };

export const outputText = (name: string): string => OUTPUTS[name] ?? name;

export const dimText = (dim: string): string => (dim in DIMS ? `${DIMS[dim]} ${dim}` : dim);

/** Returns the curve that is shown first: that of the return, where there is one. */
export function firstOutput(names: readonly string[]): string {
  return names.includes("episode_return") ? "episode_return" : (names[0] ?? "");
}

/** Returns the last value of a curve; null where none is a number. */
export function lastOf({ values }: CurveView): number | null {
  return [...values].reverse().find((value) => value !== null) ?? null;
}

/** Returns the turn from which on no value of a curve is finite; null where the last one is. */
export function divergedAt({ values, every }: CurveView): number | null {
  const infinite = [...values].reverse().findIndex((value) => value !== null);
  const from = infinite < 0 ? 0 : values.length - infinite;
  return from < values.length ? from * every : null;
}

/** Formats a value on an axis: short, whatever its size. */
export function tickText(value: number): string {
  const rounded = Number(value.toPrecision(6));
  const size = Math.abs(rounded);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? rounded.toExponential() : String(rounded);
}

/** Returns the range from the least to the greatest value, with room above and below a constant one. */
export function extent(points: readonly { readonly value: number }[]): readonly [number, number] {
  const values = points.map(({ value }) => value).filter(Number.isFinite);
  if (!values.length) return [0, 1];
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const room = greatest - least > 1e-6 * Math.abs(greatest) ? 0 : Math.abs(greatest) / 10 || 1;
  return [least - room, greatest + room];
}
