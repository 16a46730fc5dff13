// Learning curves that leave the finite numbers, and values on their axes.

import { expect, test } from "vitest";
import { divergedAt, lastOf, tickText } from "../../../src/views/charts/outputs";
import type { CurveView } from "../../../src/protocol";

const curve = (...values: readonly (number | null)[]): CurveView => ({ name: "loss", dim: "i", every: 5, values });

test.each([
  [curve(1, 2, null, null), 10, 2],
  [curve(1, null, 3), null, 3],
  [curve(1, null, 3, null), 15, 3],
  [curve(null, null), 0, null],
  [curve(), null, null],
])("%# is not finite from a turn on, and has a last finite value", (one, from, last) => {
  expect(divergedAt(one)).toBe(from);
  expect(lastOf(one)).toBe(last);
});

test.each([
  [0, "0"],
  [2e-7, "2e-7"],
  [1.2e-7 + 1e-22, "1.2e-7"],
  [0.30000000000000004, "0.3"],
  [-250, "-250"],
  [6e21, "6e+21"],
])("%d is short on an axis", (value, text) => expect(tickText(value)).toBe(text));
