// What a program has for the tour to speak of: a statement with its line, a legal and an illegal move, its largest
// array.

import { useEffect, useState } from "react";
import { useStore, useValues } from "../model/hooks";
import type { Loaded } from "../model/parts";
import type { Selection } from "../model/selection";
import type { Store } from "../model/store";
import type { Tour } from "./place";
import type { BufferView, CodeView, MovesView, MoveView, Node, PlayView, PreviewView, Snapshot, State } from "../protocol";

/** The kind of step whose drawing says most: it moves instances, and leaves equations and storage. */
const TELLING = "Vectorize";

/** The most recurrences, and the most refused moves of each, among which a violated dependence is looked for. */
const FEW = 6;

/** Milliseconds without a new part after which what a saved workbench has not told is not in it. */
const SETTLED = 60;

/** A subject: there, looked for, or missing for a reason that completes "is left out: ". */
export type Found<T> =
  | { readonly is: "there"; readonly value: T }
  | { readonly is: "looked for" }
  | { readonly is: "missing"; readonly why: string };

export interface Subjects {
  readonly box: Found<Node>;
  readonly line: Found<Node>;
  readonly code: Found<CodeView>;
  readonly legal: Found<Legal>;
  readonly illegal: Found<PreviewView>;
  readonly play: Found<PlayView>;
  readonly largest: Found<Largest>;
}

export interface Legal {
  readonly move: MoveView;
  readonly count: number;
  readonly summary: string;
}

export interface Largest {
  readonly array: BufferView;
  readonly peak: number;
  readonly sizes: Readonly<Record<string, number>>;
}

const there = <T>(value: T): Found<T> => ({ is: "there", value });
const missing = <T>(why: string): Found<T> => ({ is: "missing", why });
const LOOKED_FOR = { is: "looked for" } as const;

/** Looks for the subjects of a tour. Asks for what tells them. */
export function useSubjects(tour: Tour, state: State): Subjects {
  const store = useStore();
  const { sizes, dtype, backend } = useValues().selection;
  const found = subjectsOf(store, tour, state, { sizes, dtype, backend });
  const settled = useSettled();
  const late = <T>(one: Found<T>): Found<T> => (one.is === "missing" && !settled ? LOOKED_FOR : one);
  return {
    box: late(found.box),
    line: late(found.line),
    code: late(found.code),
    legal: late(found.legal),
    illegal: late(found.illegal),
    play: late(found.play),
    largest: late(found.largest),
  };
}

/** Tells whether no part has come of a saved workbench for a moment. */
function useSettled(): boolean {
  const { loaded, status } = useValues();
  const [last, setLast] = useState(-1);
  useEffect(() => {
    const timer = window.setTimeout(() => setLast(loaded), SETTLED);
    return () => window.clearTimeout(timer);
  }, [loaded]);
  return last === loaded || status !== "saved";
}

type Run = Pick<Selection, "sizes" | "dtype" | "backend">;

function subjectsOf(store: Store, tour: Tour, state: State, { sizes, dtype, backend }: Run): Subjects {
  const snapshot = store.part("snapshot", tour.variant, {});
  const moves = store.part("moves", tour.variant, {});
  const nodes = snapshot.value?.nodes ?? [];
  return {
    box: chain(snapshot, () => first(telling(nodes), "no statement is drawn")),
    line: chain(snapshot, () => first(telling(nodes).filter(({ line }) => line), "no statement has a line of yours")),
    code: chain(store.part("code", state.current, { backend }), there),
    legal: chain(moves, legalOf),
    illegal: chain(snapshot, (value) => illegalOf(store, tour.variant, value, backend)),
    play: chain(store.part("play", state.current, { statement: null, sizes: {} }), there),
    largest: chain(store.part("memory", state.current, { sizes, backend, dtype }), (view) => {
      const [array] = view.arrays.filter(({ array, bytes }) => array !== null && bytes > 0).sort((one, other) => other.bytes - one.bytes);
      const peak = Math.max(0, ...view.spaces.map(({ peak_bytes }) => peak_bytes));
      return array ? there({ array, peak, sizes: view.sizes }) : missing("it keeps nothing in memory");
    }),
  };
}

/** Goes on with a part that is there; else tells how it stands with it. */
function chain<T, U>(loaded: Loaded<T>, then: (value: T) => Found<U>): Found<U> {
  if (loaded.status === "done" && loaded.value) return then(loaded.value);
  if (loaded.status === "absent") return missing("what is loaded does not hold it");
  if (loaded.status === "failed") return missing(loaded.error?.sentence ?? "it cannot be told");
  return LOOKED_FOR;
}

function first<T>([found]: readonly T[], why: string): Found<T> {
  return found === undefined ? missing(why) : there(found);
}

/** Sorts statements: recurrences first, then those outside of scopes, then those in most loops. */
export function telling(nodes: readonly Node[]): readonly Node[] {
  const rank = ({ kind, scope, loops }: Node): readonly number[] => [-Number(kind === "recurrence"), scope.length, -loops.length];
  return [...nodes].sort((one, other) => compared(rank(one), rank(other)));
}

function compared([first = 0, ...more]: readonly number[], [other = 0, ...others]: readonly number[]): number {
  return first === other && more.length ? compared(more, others) : first - other;
}

/** Chooses the move that the tour takes: a change of the order before one of storage or equations. */
function legalOf({ moves, transforms }: MovesView): Found<Legal> {
  const legal = moves.filter(({ refused }) => refused === null);
  const [move] = [
    ...legal.filter(({ step }) => step.transform === TELLING),
    ...legal.filter(({ step }) => !step.equation_step),
    ...legal,
  ];
  if (!move) return missing("every move of it is refused");
  const summary = transforms.find(({ name }) => name === move.step.transform)?.summary ?? "";
  return there({ move, count: legal.length, summary });
}

/** Finds a refused move with two instances that show why, among the moves about recurrences first. */
function illegalOf(store: Store, variant: string, { nodes }: Snapshot, backend: string): Found<PreviewView> {
  const about = telling(nodes)
    .filter(({ kind, loops }) => kind === "recurrence" && loops.length > 0)
    .slice(0, FEW)
    .map(({ id }) => ({ statements: [id] }));
  let absent = true;
  for (const given of [...about, {}]) {
    const judged = store.part("moves", variant, given);
    if (judged.status === "waiting" || judged.status === "streaming") return LOOKED_FOR;
    const refused = (judged.value?.moves ?? []).filter((move) => move.refused !== null);
    const telling = refused.filter(({ step }) => step.transform === TELLING);
    for (const { step } of [...telling, ...refused].slice(0, FEW)) {
      const preview = store.part("preview", variant, { step: step.json, backend });
      if (preview.status === "waiting") return LOOKED_FOR;
      if (preview.value?.refusal?.witness) return there(preview.value);
      absent &&= preview.status === "absent";
    }
    absent &&= judged.status === "absent" || refused.length > 0;
  }
  return missing(absent ? "what is loaded does not hold it" : "none of its moves would violate a dependence");
}
