import { expect, test } from "vitest";
import { nameOfKey, pathName } from "../../src/model/naming";
import type { VariantView } from "../../src/protocol";
import { GOLDEN } from "../drawing";

const [root, first] = GOLDEN.state.variants as readonly [VariantView, VariantView];

/** Variants in a row, each by a step of this text; of `name=step` the user has named the variant. */
function row(...steps: readonly string[]): readonly VariantView[] {
  const all: VariantView[] = [{ ...root, key: "0", parent: null, named: false, name: "as written", step: null }];
  for (const text of steps) {
    const [step = "", name] = text.split("=").reverse();
    const key = String(all.length);
    const made = first.step && { ...first.step, text: step };
    all.push({ ...first, key, parent: String(all.length - 1), named: name !== undefined, name: name ?? step, step: made });
  }
  return all;
}

const named = (...steps: readonly string[]): string => pathName(row(...steps).at(-1), row(...steps));

test("a variant without a name is called by its path", () => {
  expect(named()).toBe("as written");
  expect(named("Vectorize('b')", "Contract()")).toBe("Vectorize('b') · Contract");
});

test("the path begins at the nearest variant that has a name", () => {
  expect(named("Vectorize('b')", "fast=Contract()", "Donate()")).toBe("fast · Donate");
  expect(named("Vectorize('b')", "fast=Contract()")).toBe("fast");
});

test("a long path has its ends and its length", () => {
  expect(named("Vectorize('b')", "a", "b", "c", "Donate()")).toBe("Vectorize('b') · … · Donate (5 steps)");
});

test("what is not in the tree has no name", () => {
  expect(nameOfKey("gone", row("a"))).toBe("");
});
