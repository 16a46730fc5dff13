import { expect, test } from "vitest";
import type { VariantView } from "../../../src/protocol";
import { folded } from "../../../src/views/variants/folding";
import { GOLDEN } from "../../drawing";

const [root] = GOLDEN.state.variants as readonly [VariantView];
const variant = (key: string, parent: string | null, why = "since it pays", named = false): VariantView => ({
  ...root, key, parent, why, named,
});

/** A program, a step by hand, a recipe of four steps from there, and another of three from its second. */
const ALL = [
  variant("written", null, ""),
  variant("by hand", "written", ""),
  variant("a", "by hand"),
  variant("b", "a"),
  variant("c", "b"),
  variant("d", "c"),
  variant("e", "b"),
  variant("f", "e"),
];

function shown(kept: readonly string[] = [], open: readonly string[] = [], all = ALL): readonly string[] {
  const { variants, recipes } = folded(all, new Set(kept), new Set(open));
  return variants.map(({ key, parent }) => {
    const steps = recipes.get(key)?.steps.map((one) => one.key).join("");
    return `${key} < ${parent}${steps ? `: ${steps}` : ""}`;
  });
}

test("the steps of a recipe are one row, up to where it branches", () => {
  expect(shown()).toEqual([
    "written < null", "by hand < written", "b < by hand: ab", "d < b: cd", "f < b: ef",
  ]);
});

test("an opened recipe shows its steps, and can be folded again", () => {
  expect(shown([], ["d"])).toEqual([
    "written < null", "by hand < written", "b < by hand: ab", "c < b", "d < c: cd", "f < b: ef",
  ]);
});

test("what is named, shown or ticked stays in sight", () => {
  expect(shown(["c"])).toContain("c < b");
  expect(shown(["c"])).toContain("d < c");
  const named = ALL.map((one) => (one.key === "a" ? { ...one, named: true } : one));
  expect(shown([], [], named).slice(2, 4)).toEqual(["a < by hand", "b < a"]);
});

test("a single automatic step is no recipe", () => {
  expect(shown([], [], ALL.slice(0, 3))).toEqual(["written < null", "by hand < written", "a < by hand"]);
});
