// Numbers as people read them: three digits and the unit that suits. Python writes them the same (`units.py`).

import { UNITS } from "../protocol";

/** A unit, and its size in seconds or bytes. */
export interface Unit {
  readonly unit: string;
  readonly size: number;
}

export const timeUnit = (seconds: number): Unit => unitOf(seconds, UNITS.seconds);

export function byteUnit(bytes: number): Unit {
  const { unit, size } = unitOf(bytes, UNITS.thousands);
  return { unit: `${unit}B`, size };
}

/** Returns the largest unit from whose number on this one is, as it is rounded. */
function unitOf(number: number, units: readonly (readonly [string, number, number])[]): Unit {
  const found = units.find(([, , least]) => (Math.abs(number) || 1) >= 0.9995 * least);
  const [unit, size] = found ?? ["", 1];
  return { unit, size };
}

export function secondsText(seconds: number | null): string {
  if (seconds === null) return "–";
  const { unit, size } = timeUnit(seconds);
  return `${digits(seconds / size)} ${unit}`;
}

/** Formats a number with the unit's power of thousand: `1.23 MB`. */
export function amountText(number: number, unit: string): string {
  const { unit: prefix, size } = unitOf(number, UNITS.thousands);
  return `${digits(number / size)} ${prefix}${unit}`;
}

export function bytesText(count: number | null | undefined): string {
  return count === null || count === undefined ? "–" : amountText(count, "B");
}

/** Formats peak bytes: those of the device, and of the host where it keeps anything. */
export function peaksText(peaks: Readonly<Record<string, number>>): string {
  const { device, host = 0 } = peaks;
  return host ? `${bytesText(device)}, host ${bytesText(host)}` : bytesText(device);
}

/** Formats the change of peaks: `÷ 42`, and that on the host where there is one. */
export function peaksChangeText(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>): string {
  const change = (space: string): string => changeText(before[space] ?? 0, after[space] ?? 0, bytesText);
  return after["host"] === before["host"] ? change("device") : `${change("device")}, host ${change("host")}`;
}

/** Formats the change of an amount that `text` formats: its ratio, or how much is new, or that none is left. */
export function changeText(before: number, after: number, text: (amount: number) => string): string {
  if (text(before) === text(after)) return SAME;
  if (before === 0) return `+${text(after)}`;
  return after === 0 ? "none" : ratioText(after / before);
}

/** Formats a share: `57 %`, `5.7 %`, `< 0.1 %`. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${fixed(100 * share, share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** What a ratio of about one is called. */
export const SAME = "same";

/** Formats an amount after over that before: `÷ 3.2` of what is less, `× 1.8` of what is more. */
export function ratioText(ratio: number): string {
  const size = ratio < 1 ? 1 / ratio : ratio;
  if (size < 1.005) return SAME;
  return `${ratio < 1 ? "÷" : "×"} ${digits(size)}`;
}

/** Tells whether a text about two amounts has their ratio. */
export const hasRatio = (text: string): boolean => /^[×÷]/.test(text);

/** Formats the interval of a ratio as the number beside it counts, from 1 upwards: `3.1–3.6`. */
export function ratiosText(low: number, high: number): string {
  return high < 1 ? `${digits(1 / high)}–${digits(1 / low)}` : `${digits(low)}–${digits(high)}`;
}

/** Formats a ratio that may have an interval: `time ÷ 3.4 (3.1–3.6)`. */
export function withInterval(text: string, low: number | null, high: number | null): string {
  return hasRatio(text) && low !== null && high !== null ? `${text} (${ratiosText(low, high)})` : text;
}

/** Formats a number with three digits, or all before the point of a larger one, without trailing zeros. */
export function digits(number: number): string {
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number) || 1)));
  const text = fixed(number, places);
  return places ? text.replace(/\.?0+$/, "") : text;
}

function fixed(number: number, places: number): string {
  return number.toFixed(places).replace("-", "−");
}

/** Counts things: `1 event`, `3 events`. */
export const countText = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** Formats sizes: `B=64, T=200`. */
export function sizesText(sizes: Readonly<Record<string, number>>): string {
  return Object.entries(sizes)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}

/** Formats at which sizes, ` at B=64, T=200`; nothing of a program without sizes. */
export function atSizes(sizes: Readonly<Record<string, number>>): string {
  const text = sizesText(sizes);
  return text && ` at ${text}`;
}

/** Goes on with a text behind a comma, if there is one. */
export const separated = (text: string): string => text && `, ${text}`;

/** Formats where it ran, `native, 2 threads`; the backend alone for one thread. */
export function onThreads({ backend, threads }: { readonly backend: string; readonly threads: number }): string {
  return threads === 1 ? backend : `${backend}, ${threads} threads`;
}
