import { expect, test } from "vitest";
import type { CostView, PriceView } from "../../../src/protocol";
import { parts } from "../../../src/views/moves/price";

const share = (statement: string, seconds: number) => ({ statement, seconds, operations: 1, bytes: 1, launches: 1 });
const cost = (seconds: number, shares: Record<string, number>): CostView =>
  ({ seconds, shares: Object.entries(shares).map(([name, one]) => share(name, one)) }) as unknown as CostView;
const price = (seconds: number, told: Record<string, number>): PriceView =>
  ({ seconds, parts: told }) as unknown as PriceView;
const told = (before: CostView, after: PriceView): readonly string[] =>
  parts(before, after).map(({ name, before, after }) => `${name} ${before} ${after}`);

test("the statements with which the time changes most are told, the largest change first", () => {
  const before = cost(7, { gain: 1, to_go: 1, loss: 2, state: 3 });
  expect(told(before, price(9, { gain: 1, to_go: 2.6, loss: 2.4, state: 3 }))).toEqual(["to_go 1 2.6", "loss 2 2.4"]);
});

test("a statement that is new or no more took and takes no time", () => {
  const before = cost(4, { mean: 3, state: 1 });
  expect(told(before, price(1.5, { carried: 0.5, state: 1 }))).toEqual(["mean 3 0", "carried 0 0.5"]);
});

test("little changes are not told, nor parts of a time that stays the same", () => {
  expect(told(cost(4, { a: 2, b: 2 }), price(5, { a: 3, b: 2.04 }))).toEqual(["a 2 3"]);
  expect(told(cost(4, { a: 2, b: 2 }), price(4.001, { a: 1, b: 3 }))).toEqual([]);
});
