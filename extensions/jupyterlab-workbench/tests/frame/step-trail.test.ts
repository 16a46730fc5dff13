import { expect, test } from "vitest";
import { inRoom } from "../../src/frame/step-trail";

test("the last steps are named, as many as there is room for", () => {
  const names = ["as written", "Vectorize('b')", "Incrementalize('to_go', 't')", "Swap('place')"];
  expect(inRoom(names, 0)).toBe(4); // not laid out yet
  expect(inRoom(names, 2000)).toBe(4);
  const counts = [600, 500, 400, 300, 200, 100, 10].map((width) => inRoom(names, width));
  expect(counts).toEqual([...counts].sort((one, other) => other - one));
  expect(counts[0]).toBe(4);
  expect(counts.at(-1)).toBe(1); // the one that is shown always
  expect(new Set(counts).size).toBeGreaterThan(2);
  expect(inRoom(Array.from({ length: 15 }, () => "x".repeat(200)), 500)).toBe(2); // of each only so much is shown
});
