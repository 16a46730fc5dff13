// The tour's place: the stop that it is at, and the program that it speaks of.

import type { State } from "../protocol";

/** The stops in their order. A program without the subject of one has the others. */
export const STOPS = [
  "graph", "statement", "levels", "legal", "illegal", "play", "apply", "memory", "measure", "share",
] as const;

export type StopName = (typeof STOPS)[number];

export interface Tour {
  readonly stop: StopName;
  /** False once it was left: it goes on at its stop. */
  readonly open: boolean;
  /** The program as written that it speaks of, and its name; null until there is one. */
  readonly root: string | null;
  readonly program: string;
  /** The variant whose moves it speaks of. */
  readonly variant: string;
  /** True once the reader went on without the Jupyter kernel that it began with. */
  readonly alone: boolean;
}

/** Returns a tour of the shown program; one that waits for a program where none is shown. */
export const tourOf = (state: State | null, stop: StopName = "graph"): Tour => ({
  stop,
  open: true,
  root: state?.root ?? null,
  program: state?.name ?? "",
  variant: state?.current ?? "",
  alone: false,
});
