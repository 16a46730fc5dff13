// The way from the program as written to a variant, and ways back.

import type { State, VariantView } from "../protocol";

/** Returns the variants from the program as written to one, both included. */
export function lineageOf(current: VariantView | undefined, variants: readonly VariantView[]): readonly VariantView[] {
  const found: VariantView[] = [];
  for (let one = current; one; ) {
    found.unshift(one);
    const parent: string | null = one.parent;
    one = variants.find((variant) => variant.key === parent);
  }
  return found;
}

/** The variant that the reader went back from, by the variant that came before it. */
export type Left = Readonly<Record<string, string>>;

/** Adds a way back from one state's variant to an earlier one, if that is what the reader did. */
export function withWayBack(left: Left, before: State | null, { current, variants }: State): Left {
  const from = variants.find(({ key }) => key === before?.current);
  const way = lineageOf(from, variants).map(({ key }) => key);
  const start = way.indexOf(current);
  const known = way.slice(start, -1).every((key, at) => left[key] === way[start + at + 1]);
  if (start < 0 || known) return left;
  return { ...left, ...Object.fromEntries(way.slice(start, -1).map((key, at) => [key, way[start + at + 1] ?? ""])) };
}

/** Returns the variant to go on to again; undefined where the reader came back from none that is still there. */
export const next = (left: Left, { current, variants }: State): VariantView | undefined =>
  variants.find(({ key, parent }) => key === left[current] && parent === current);
