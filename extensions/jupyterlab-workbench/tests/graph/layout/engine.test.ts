import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "../../../src/graph/layout/engine";
import type { Placed } from "../../../src/graph/layout/placed";

const EMPTY: Placed = { width: 1, height: 1, boxes: [], grounds: [], lines: [] };

/** Every worker that was started; what it is asked is answered by hand. */
let workers: FakeWorker[];

class FakeWorker {
  readonly asked: string[] = [];
  onmessage: (event: { data: unknown }) => void = () => undefined;
  ended = false;
  constructor() {
    workers.push(this);
  }
  postMessage(dot: string): void {
    this.asked.push(dot);
  }
  terminate(): void {
    this.ended = true;
  }
  answer(width: number): void {
    this.onmessage({ data: { placed: { ...EMPTY, width } } });
  }
}

beforeEach(() => {
  workers = [];
  vi.stubGlobal("Worker", FakeWorker);
  vi.stubGlobal("URL", { createObjectURL: () => "blob:worker" });
});
afterEach(() => vi.unstubAllGlobals());

const asked = (): readonly string[] => workers.flatMap((worker) => worker.asked);

test("a picture is laid out once, also while it is under way", async () => {
  const engine = createEngine();
  const both = [engine.place("a", 1000), engine.place("a", 1000)];
  workers[0]?.answer(7);
  expect((await Promise.all(both)).map((placed) => placed.width)).toEqual([7, 7]);
  expect((await engine.place("a", 1000)).width).toBe(7);
  expect(asked()).toEqual(["a"]);
  engine.end();
});

test("a newer picture ends the one under way", async () => {
  const engine = createEngine();
  const older = engine.place("a", 1000);
  const newer = engine.place("b", 1000);
  await expect(older).rejects.toThrow("a newer picture was asked for");
  expect(workers.map((worker) => worker.ended)).toEqual([true, false]);
  workers[1]?.answer(3);
  expect((await newer).width).toBe(3);
  engine.end();
});

test("the oldest picture is forgotten", async () => {
  const engine = createEngine();
  for (let count = 0; count < 13; count++) {
    const placed = engine.place(`${count}`, 1000);
    workers[0]?.answer(count);
    await placed;
  }
  void engine.place("1", 1000);
  void engine.place("0", 1000).catch(() => undefined);
  expect(asked().slice(13)).toEqual(["0"]);
  engine.end();
});

test("a worker is started before it is needed, and one that cannot be is told with the picture", async () => {
  const engine = createEngine();
  engine.wake();
  expect(workers).toHaveLength(1);
  engine.end();
  vi.stubGlobal("Worker", class { constructor() { throw new Error("no workers here"); } });
  engine.wake();
  await expect(engine.place("a", 1000)).rejects.toThrow("no workers here");
  await expect(engine.place("a", 1000)).rejects.toThrow("no workers here");
});
