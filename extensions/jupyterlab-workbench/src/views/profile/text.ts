// Rows of a profile in words.

import { secondsText } from "../../model/numbers";
import type { ProfileRowView } from "../../protocol";

/** Formats the seconds of a row, marked where they were shared out by counted work. */
export const timeText = ({ seconds, approximate }: ProfileRowView): string =>
  `${approximate ? "≈ " : ""}${secondsText(seconds)}`;

/** Formats seconds with their sign. */
export function changeText(seconds: number): string {
  return seconds === 0 ? "±0" : `${seconds > 0 ? "+" : "−"}${secondsText(Math.abs(seconds))}`;
}

/** Tells whether a row computes one of the statements. */
export const holds = (row: ProfileRowView, statements: readonly string[]): boolean =>
  row.statements.some((one) => statements.includes(one));
