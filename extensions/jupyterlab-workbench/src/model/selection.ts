// The one selection that all views share.

import type { RunView, State, StepView } from "../protocol";
import type { Left } from "./lineage";
import type { Tour } from "../tour/place";

export type Path = readonly string[];
export type Sizes = Readonly<Record<string, number>>;

/** The quantity that colours the boxes of the graph. */
export type Overlay = "kind" | "seconds" | "profile" | "bytes" | "operations" | "measured";

/** The form in which code is shown. */
export type Level = "equations" | "order" | "loops" | "python" | Language;

/** The languages of compiled kernels. */
export type Language = "c" | "cuda";

/** A range from one line of a loop program to another, both included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A part of a variant's memory timeline; the arrays that live there are lit in the variant's graph. */
export interface Brushed {
  readonly variant: string;
  readonly space: string;
  readonly range: Range;
  readonly arrays: readonly string[];
}

/** What something in a list touches: statements and arrays by name, or dims. `transform` and `source` are a step's, else "". */
export type Touching = Pick<StepView, "transform" | "source" | "statements" | "arrays" | "dims">;

export interface Selection {
  /** Selected statements by id; details are shown of the first. */
  readonly statements: readonly string[];
  /** A closed scope that is selected instead. */
  readonly scope: Path | null;
  /** Coordinates of an instance of the first statement, where one is picked. */
  readonly instance: Sizes | null;
  readonly brushed: Brushed | null;
  /** What the move or the array under the pointer or the focus touches. */
  readonly pointed: Touching | null;
  /** The line of the loop program (from 0) that the code goes to. */
  readonly line: number | null;
  readonly level: Level;
  /** The compiled kernel that is shown, by name, unless a selected statement has another; "" for the longest. */
  readonly kernel: string;
  /** The step (its JSON as text) whose form, preview or refusal is open. */
  readonly move: string | null;
  /** The refused step that the open one is taken for: it comes next. */
  readonly next: { readonly move: string; readonly text: string } | null;
  /** The step whose answer stands beside that of the open one. */
  readonly contrast: string | null;
  /** The steps that were undone, to take them again. */
  readonly left: Left;
  /** Variants ticked for comparing. */
  readonly compared: readonly string[];
  /** What the automatic recipe is to save, and the most megabytes of the device that it may take; "" for any. */
  readonly objective: "time" | "memory";
  readonly capacity: string;
  /** The last variant of the automatic recipe that was just found, until its card is closed; "" for none. */
  readonly found: string;
  /** The variant that is played beside the shown one; "" for none. */
  readonly beside: string;
  /** Sizes that differ from the program's own, for predictions and runs. */
  readonly sizes: Sizes;
  /** The expected steps of episodes by the dim along which they end, where they are set, for predictions. */
  readonly lengths: Readonly<Record<string, number>>;
  /** The backend of predictions and runs; "" until a state tells the default one. */
  readonly backend: string;
  readonly dtype: "float32" | "float64";
  readonly overlay: Overlay;
  /** The id of the shown profile where its variant is shown; "" for the newest. */
  readonly profile: string;
  /** The id of the profile that it is compared with; "" for none. */
  readonly against: string;
  /** The open pane beside the graph; empty for none. */
  readonly pane: string;
  /** The tour, open or left; null where none was begun. */
  readonly tour: Tour | null;
}

/** Returns the ticked variants that are in the tree: a tick outlives its variant, which may come back. */
export function tickedIn({ variants }: State, compared: readonly string[]): readonly string[] {
  return variants.map(({ key }) => key).filter((key) => compared.includes(key));
}

export const INITIAL: Selection = {
  statements: [],
  scope: null,
  instance: null,
  brushed: null,
  pointed: null,
  line: null,
  // A change of the schedule first shows in the loops, one of the equations there too.
  level: "loops",
  kernel: "",
  move: null,
  next: null,
  contrast: null,
  left: {},
  compared: [],
  objective: "time",
  capacity: "",
  found: "",
  beside: "",
  sizes: {},
  lengths: {},
  backend: "",
  dtype: "float32",
  overlay: "kind",
  profile: "",
  against: "",
  pane: "",
  tour: null,
};

/** The settings of predictions. `lengths` has by dim the expected number of steps, or the id of the run that found
 * them; it is there only where episodes end. */
export type Predicting = Pick<Selection, "sizes" | "backend" | "dtype"> & {
  readonly lengths?: Readonly<Record<string, number | string>>;
};

/** Returns the run whose episodes a prediction takes for typical: the last that found lengths along a dim. */
export function lastLengths({ runs, variants }: Pick<State, "runs" | "variants">, dim: string): RunView | undefined {
  return runs.filter((run) => run.lengths[dim] !== undefined && variants.some(({ key }) => key === run.variant)).at(-1);
}

/** Returns the chosen settings. Lengths that are not set are those of the last run. */
export function predicting(state: Pick<State, "ends" | "runs" | "variants">, selection: Selection): Predicting {
  const { sizes, backend, dtype } = selection;
  const lengths = state.ends.flatMap(({ dim }) => {
    const length = selection.lengths[dim] ?? lastLengths(state, dim)?.id;
    return length === undefined ? [] : [[dim, length] as const];
  });
  return { sizes, backend, dtype, ...(lengths.length && { lengths: Object.fromEntries(lengths) }) };
}
