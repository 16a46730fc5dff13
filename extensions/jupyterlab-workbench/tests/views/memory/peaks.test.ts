import { describe, expect, test } from "vitest";
import { otherPeaksText, type Peak, peakOfProfile, peakOfRun } from "../../../src/views/memory/peaks";
import type { ProfileView, RunView } from "../../../src/protocol";
import { GOLDEN } from "../../drawing";

const MEMORY: Peak = { pane: "Memory", bytes: 1000, backend: "native", threads: 1, dtype: "float32", sizes: { B: 3, T: 7 } };
const RUN: Peak = { ...MEMORY, pane: "Run", bytes: 1800, threads: 2 };

describe("peaks that differ", () => {
  test("by threads are told, with the reason", () => {
    expect(otherPeaksText(MEMORY, [MEMORY, RUN, null])).toBe(
      "The peak is 1 kB here, on native with 1 thread; Run tells 1.8 kB, on native with 2 threads. " +
        "Each thread has a block's arrays of its own.",
    );
  });

  test("by backend are told without it", () => {
    expect(otherPeaksText(MEMORY, [{ ...RUN, threads: 1, backend: "numpy" }])).toBe(
      "The peak is 1 kB here, on native with 1 thread; Run tells 1.8 kB, on numpy with 1 thread.",
    );
  });

  test("on the same threads are told: a run keeps more", () => {
    expect(otherPeaksText(MEMORY, [{ ...RUN, threads: 1 }])).toBe(
      "The peak is 1 kB here, on native with 1 thread; Run tells 1.8 kB, on native with 1 thread. " +
        "A run keeps what another one goes on from.",
    );
  });

  test("by sizes or numbers, or not at all, are not told", () => {
    for (const other of [{ ...RUN, sizes: { B: 4, T: 7 } }, { ...RUN, dtype: "float64" }, { ...RUN, bytes: 1000 }]) {
      expect(otherPeaksText(MEMORY, [other])).toBe("");
    }
  });
});

test("a profile's peak is the most that its course holds; without one, or while it runs, there is none", () => {
  const [profile] = GOLDEN.state.profiles as readonly [ProfileView];
  const course = { seconds: 1, tick: 1, whole: true, lanes: [], held: [0, 100, 5, 900, 7, 300] };
  expect(peakOfProfile({ ...profile, course })?.bytes).toBe(900);
  expect(peakOfProfile({ ...profile, course: null })).toBeNull();
  const [run] = GOLDEN.state.runs as readonly [RunView];
  expect(peakOfRun({ ...run, threads: null, peak_bytes: {} })).toBeNull();
});
