// The variants as lines of a subway map: a row each, below its parent. The first child goes on in its parent's lane;
// the others branch off to the right before it, so that no lines cross.

import type { VariantView } from "../../protocol";

export interface Station {
  readonly variant: VariantView;
  readonly lane: number;
  /** The lane of the parent, where the line begins; null for the root. */
  readonly from: number | null;
  /** Lanes of other lines that pass by. */
  readonly passing: readonly number[];
  /** True if the line goes on below. */
  readonly goesOn: boolean;
}

/** Tells whether a line leaves its parent's lane there. */
export const isBranch = ({ lane, from }: Station): boolean => from !== null && from !== lane;

interface Row {
  readonly variant: VariantView;
  readonly lane: number;
  readonly from: number | null;
  /** The child that goes on in this lane. */
  readonly next: string | null;
}

/** Returns the rows from top to bottom. */
export function stations(variants: readonly VariantView[]): readonly Station[] {
  const keys = new Set(variants.map((variant) => variant.key));
  const children = new Map<string | null, VariantView[]>();
  for (const variant of variants) {
    const parent = variant.parent !== null && keys.has(variant.parent) ? variant.parent : null;
    const others = children.get(parent);
    if (others) others.push(variant);
    else children.set(parent, [variant]);
  }
  const rows: Row[] = [];
  // a stack, no recursion: a history may be long
  const open = (children.get(null) ?? []).map((variant) => ({ variant, lane: 0, from: null as number | null })).reverse();
  for (let top = open.pop(); top; top = open.pop()) {
    const [next, ...branches] = children.get(top.variant.key) ?? [];
    const { lane } = top;
    rows.push({ ...top, next: next?.key ?? null });
    if (next) open.push({ variant: next, lane, from: lane });
    for (const branch of branches.reverse()) open.push({ variant: branch, lane: lane + 1, from: lane });
  }
  const waiting = new Map<string, number>(); // lanes by the child that they lead to
  return rows.map(({ variant, lane, from, next }) => {
    waiting.delete(variant.key);
    const passing = [...new Set(waiting.values())].filter((other) => other !== lane);
    if (next !== null) waiting.set(next, lane);
    return { variant, lane, from, passing, goesOn: next !== null };
  });
}
