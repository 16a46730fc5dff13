// Links: written, read again, and refused where they are none.

import { expect, test } from "vitest";
import { type Link, linkIn, read, written } from "../../src/model/link";

const LINK: Link = {
  form: 1, release: "1.0", program: "walk", root: "a", variant: "b", name: "b · ünter", pane: "code", level: "loops",
  steps: [{ transform: "Vectorize", arguments: { dim: "b" } }], statements: ["x"], scope: ["policy"], sizes: { B: 3 },
};

async function packed(value: unknown): Promise<string> {
  return written(value as Link);
}

test("a link is read as it was written, of letters that addresses leave as they are", async () => {
  const text = await written(LINK);
  expect(text).toMatch(/^[\w-]+$/);
  expect(encodeURIComponent(text)).toBe(text);
  expect(await read(text)).toEqual(LINK);
});

test("it stands in an address's query or behind its #", () => {
  expect(linkIn({ search: "?reset&workbench=abc", hash: "" })).toBe("abc");
  expect(linkIn({ search: "", hash: "#workbench=abc" })).toBe("abc");
  expect(linkIn({ search: "?token=1", hash: "#cell-3" })).toBe("");
});

test.each([
  "", "?", "abc", "H4sIAAAAAAAA", "javascript:alert(1)", "<script>", "a".repeat(20_000),
])("%s is no link", async (text) => {
  await expect(read(text)).rejects.toThrow("not one of the workbench, or not all of it");
});

test.each([
  null, 3, [], {}, { form: 1 }, { ...LINK, steps: "x" }, { ...LINK, steps: [null] }, { ...LINK, steps: [[]] },
  { ...LINK, statements: [3] }, { ...LINK, scope: {} }, { ...LINK, level: "assembly" }, { ...LINK, sizes: { B: -1 } },
  { ...LINK, sizes: { B: "3" } }, { ...LINK, pane: null }, { ...LINK, name: { toString: "x" } },
])("%j is no link", async (value) => {
  await expect(read(await packed(value))).rejects.toThrow("not one of the workbench");
});

test("one that was cut is no link", async () => {
  const text = await written(LINK);
  await expect(read(text.slice(0, -9))).rejects.toThrow("not all of it");
});

test("one that holds more than it may is no link", async () => {
  await expect(read(await packed({ ...LINK, name: "x".repeat(2_000_000) }))).rejects.toThrow("not one of");
});

test("one of another release's form is told to be so", async () => {
  const text = await packed({ ...LINK, form: 2, release: "9.9" });
  await expect(read(text)).rejects.toThrow("made by another release of the workbench (9.9)");
});
