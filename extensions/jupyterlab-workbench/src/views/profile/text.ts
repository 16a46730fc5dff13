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

/** Returns a name in so many characters, cut in its middle: kernels differ at their begin, `gradient_actor_…`, and at
 * their end. Before, what all kernels have is left out. */
export function inRoom(name: string, room: number): string {
  if (name.length <= room) return name;
  const told = name.replace(/^kernel_/, "").replace(/_and_(\d+)_more$/, " +$1");
  if (told.length <= room) return told;
  const head = Math.ceil((room - 1) / 2);
  return `${told.slice(0, head)}…${told.slice(told.length - (room - 1 - head))}`;
}
