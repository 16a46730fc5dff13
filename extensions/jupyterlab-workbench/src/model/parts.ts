// Parts of variants: a loaded one is kept under its content's name and never asked for again.

import type {
  CodeView,
  CostView,
  DomainView,
  ErrorView,
  KernelsView,
  MemoryView,
  MovesView,
  Part,
  PlayView,
  PreviewView,
  PriceView,
  ReasonView,
  RunsView,
  Snapshot,
  SweepView,
  TextView,
  ValueView,
  WhyView,
} from "../protocol";

export interface Parts {
  readonly snapshot: Snapshot;
  readonly moves: MovesView;
  readonly price: PriceView;
  readonly why: WhyView;
  readonly reason: ReasonView;
  readonly preview: PreviewView;
  readonly cost: CostView;
  readonly sweep: SweepView;
  readonly runs: RunsView;
  readonly memory: MemoryView;
  readonly code: CodeView;
  readonly kernels: KernelsView;
  readonly kernel: TextView;
  readonly domain: DomainView;
  readonly value: ValueView;
  readonly play: PlayView;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** `absent`: a saved workbench does not hold it. */
export interface Loaded<T> {
  readonly status: "waiting" | "streaming" | "done" | "failed" | "absent";
  readonly value: T | null;
  readonly error: ErrorView | null;
}

export const WAITING: Loaded<never> = { status: "waiting", value: null, error: null };
export const ABSENT: Loaded<never> = { status: "absent", value: null, error: null };

/** Returns the name under which a part is kept; arguments in any order give the same. */
export function partKey(part: Part, variant: string, given: Arguments): string {
  return `${part} ${variant} ${canonical(given)}`;
}

/** What was written of arguments: hundreds of parts are asked for with the same sizes, each again and again with its
 * own step, and what is asked for never changes. */
const written = new WeakMap<object, string>();

function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const known = written.get(value) ?? spelled(value);
  written.set(value, known);
  return known;
}

function spelled(value: object): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
}

/** Adds a batch to those before it: moves come some at a time. */
export function merged(part: Part, before: unknown, batch: unknown): unknown {
  if (part !== "moves" || before === null) return batch;
  const [old, more] = [before as MovesView, batch as MovesView];
  const moves = new Map(old.moves.map((move) => [move.step.source, move]));
  for (const move of more.moves) moves.set(move.step.source, move);
  const [transforms, names] = [[...old.transforms, ...more.transforms], { ...old.names, ...more.names }];
  return { transforms, names, moves: [...moves.values()] } satisfies MovesView;
}

/** Tells whether something is kept under the name of one of these parts. */
export const isPart = (key: string, parts: readonly Part[]): boolean => parts.some((part) => key.startsWith(`${part} `));
