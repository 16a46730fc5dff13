import { expect, test } from "vitest";
import { atSizes, bytesText, changeText, countText, digits, hasRatio, percent, ratioText, secondsText, separated } from "../../src/model/numbers";
import numbers from "../../../../tests/golden/session/numbers.json";

/** Python's functions are held to the same table (`test_units.py`). */
const SAME: Readonly<Record<string, (number: number) => string>> = { bytesText, digits, percent, ratioText, secondsText };
const TABLE = numbers as unknown as Readonly<Record<string, readonly (readonly [number, string])[]>>;

test.each(Object.entries(TABLE))("%s writes as in Python", (name, rows) => {
  for (const [number, text] of rows) expect(SAME[name]?.(number)).toBe(text);
});

test("a change is a ratio, unless there was nothing before or is nothing after", () => {
  expect(changeText(323e9, 5.46e6, bytesText)).toBe("÷ 59158");
  expect(changeText(20409, 251, secondsText)).toBe("÷ 81.3");
  expect(changeText(1000, 1000.4, bytesText)).toBe("same");
  expect(changeText(0, 300, bytesText)).toBe("+300 B");
  expect(changeText(300, 0, bytesText)).toBe("none");
});

test("words about two amounts are told from their ratio", () => {
  expect(["÷ 3.2", "× 1.8", "same", "no measurable difference"].map(hasRatio)).toEqual([true, true, false, false]);
});

test("a program without sizes leaves no gap where they would stand", () => {
  expect(`ran${atSizes({ B: 3, T: 5 })}`).toBe("ran at B=3, T=5");
  expect(`ran${atSizes({})}`).toBe("ran");
  expect(`seed 0${separated("B=3")}${separated("")}`).toBe("seed 0, B=3");
  expect([0, 1, 2].map((count) => countText(count, "event"))).toEqual(["0 events", "1 event", "2 events"]);
});
