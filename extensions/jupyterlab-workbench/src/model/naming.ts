// What variants are called where they stand beside others: by the user's name, else by the path of steps that leads to
// them. In the tree, where the path is to be seen, the last step is enough.

import type { RunView, VariantView } from "../protocol";
import { lineageOf } from "./lineage";

/** The most steps that are written out. */
const MOST = 3;

/** Returns the name of a variant, or the steps since the nearest before it that has one: `Vectorize('b') · Contract`. */
export function pathName(variant: VariantView | undefined, variants: readonly VariantView[]): string {
  if (!variant) return "";
  if (variant.named || !variant.step) return variant.name;
  const way = lineageOf(variant, variants);
  const start = way.map((one) => one.named || !one.step).lastIndexOf(true);
  const steps = way.slice(start + 1).map(({ step }) => (step?.text ?? "").replace(/\(\)$/, ""));
  const [first, last] = [steps[0], steps.at(-1)];
  const short = steps.length > MOST ? [first, "…", `${last} (${steps.length} steps)`] : steps;
  const from = way[start];
  return [...(from?.named ? [from.name] : []), ...short].join(" · ");
}

/** Names what ran, where its program has been traced again since: none of the variants is it. */
export const formerName = ({ label }: RunView): string => `${label}, of the program before it was changed`;

/** Returns the same for a key; "" where no variant has it. */
export const nameOfKey = (key: string | undefined, variants: readonly VariantView[]): string =>
  pathName(variants.find((one) => one.key === key), variants);
