// Automatic recipes in the tree of variants: the steps of one are a row, until the reader opens it.

import type { VariantView } from "../../protocol";

/** A row that stands for several steps: its last variant, with the first step's parent as its own. */
export interface Recipe {
  readonly last: VariantView;
  readonly steps: readonly VariantView[];
}

export interface Folded {
  /** What is shown, in the order of all variants. */
  readonly variants: readonly VariantView[];
  /** The recipes in the tree by the key of their last variant, whether folded or opened. */
  readonly recipes: ReadonlyMap<string, Recipe>;
}

/** Folds the steps of automatic recipes that are not `open`. A variant that is named, is one of those `kept` or has
 * several branches stays in sight, as the end of a recipe. */
export function folded(
  variants: readonly VariantView[],
  kept: ReadonlySet<string>,
  open: ReadonlySet<string>,
): Folded {
  const children = new Map<string, VariantView[]>();
  for (const variant of variants) {
    if (variant.parent !== null) children.set(variant.parent, [...(children.get(variant.parent) ?? []), variant]);
  }
  const isInside = (variant: VariantView): boolean => {
    const [next, ...others] = children.get(variant.key) ?? [];
    return isAutomatic(variant) && !variant.named && !kept.has(variant.key) && next !== undefined &&
      isAutomatic(next) && !others.length;
  };
  const byKey = new Map(variants.map((variant) => [variant.key, variant]));
  const recipes = new Map<string, Recipe>();
  for (const last of variants) {
    if (!isAutomatic(last) || isInside(last)) continue;
    const steps = [last];
    for (let one = byKey.get(last.parent ?? ""); one && isInside(one); one = byKey.get(one.parent ?? "")) steps.unshift(one);
    if (steps.length > 1) recipes.set(last.key, { last, steps });
  }
  const shut = [...recipes.values()].filter(({ last }) => !open.has(last.key));
  const hidden = new Set(shut.flatMap(({ steps }) => steps.slice(0, -1).map(({ key }) => key)));
  const parents = new Map(shut.map(({ last, steps }) => [last.key, steps[0]?.parent ?? null]));
  const shown = variants.filter(({ key }) => !hidden.has(key));
  return {
    variants: shown.map((variant) => {
      const parent = parents.get(variant.key);
      return parent === undefined ? variant : { ...variant, parent };
    }),
    recipes,
  };
}

const isAutomatic = ({ why }: VariantView): boolean => why !== "";
