import { afterEach, expect, test, vi } from "vitest";
import { Empty } from "../../../src/frame/notices/empty";
import type { Offer } from "../../../src/model/transports/transport";
import { act, byText, type Drawn, drawn, GOLDEN, texts } from "../../drawing";

let shown: Drawn;
afterEach(() => shown?.takeDown());

function notebook(ends: boolean, isThere = true) {
  const run = vi.fn(async () => ends);
  const insertCell = vi.fn((_: string) => ({ isThere: () => isThere, run }));
  return { run, insertCell };
}

test("a first cell is put into the notebook, and run with a second press", async () => {
  const { run, insertCell } = notebook(true);
  shown = await drawn(Empty, GOLDEN, true, { insertCell });
  await shown.press(byText(shown.host, "button", "Insert this cell"));
  expect(insertCell.mock.calls[0]?.[0]).toBe(texts(shown.host, "pre")[0]);
  expect(run).not.toHaveBeenCalled();
  await shown.press(byText(shown.host, "button", "Run this cell"));
  expect([insertCell.mock.calls.length, run.mock.calls.length]).toEqual([1, 1]);
});

test("one that was deleted meanwhile is put in again", async () => {
  const { run, insertCell } = notebook(true, false);
  shown = await drawn(Empty, GOLDEN, true, { insertCell });
  await shown.press(byText(shown.host, "button", "Insert this cell"));
  await shown.press(byText(shown.host, "button", "Run this cell"));
  expect([insertCell.mock.calls.length, run.mock.calls.length]).toEqual([2, 0]);
});

test("one press inserts it, runs it and begins the tour, which waits for the program", async () => {
  const { run, insertCell } = notebook(true);
  shown = await drawn(Empty, GOLDEN, true, { insertCell });
  await shown.press(byText(shown.host, "button", "Run it and take the tour"));
  expect([insertCell.mock.calls.length, run.mock.calls.length]).toEqual([1, 1]);
  expect(shown.store.values().selection.tour).toMatchObject({ open: true, stop: "graph" });
  expect(texts(shown.host, "[role=status] [role=status]")).toEqual(["The tour begins when the program is drawn."]);
});

test("a cell that fails is told", async () => {
  const { insertCell } = notebook(false);
  shown = await drawn(Empty, GOLDEN, true, { insertCell });
  await shown.press(byText(shown.host, "button", "Insert this cell"));
  await shown.press(byText(shown.host, "button", "Run this cell"));
  expect(texts(shown.host, "[role=alert]")[0]).toContain("did not run to its end");
});

test("without a notebook the cell is there to be read", async () => {
  shown = await drawn(Empty, GOLDEN, true);
  expect(texts(shown.host, "pre")[0]).toContain("wb.Workbench(walk())");
  expect(shown.host.querySelector("button")).toBeNull();
});

function offering(...answers: Offer[][]) {
  let changed = (): void => undefined;
  const offers = {
    find: vi.fn(async () => answers.shift() ?? []),
    onChange: (listener: () => void) => {
      changed = listener;
      return () => (changed = () => undefined);
    },
  };
  return { offers, ran: () => changed() };
}

test("a program that the notebook has is shown with one press", async () => {
  const { run, insertCell } = notebook(true);
  const { offers } = offering([{ name: "ppo", cell: "wb.watch(ppo)\n", missing: [] }, { name: "small", cell: "wb.Workbench(small)\n", missing: [] }]);
  shown = await drawn(Empty, GOLDEN, true, { insertCell, offers });
  expect(texts(shown.host, "h3")).toEqual(["No workbench yet"]);
  expect(texts(shown.host, ".wbk-offers button")).toEqual(["Show ppo", "Show small"]);
  await shown.press(byText(shown.host, "button", "Show small"));
  expect(insertCell.mock.calls).toEqual([["wb.Workbench(small)\n"]]);
  expect(run).toHaveBeenCalledOnce();
});

test("a cell that defines one is heard, and one that fails to show it is told", async () => {
  const { insertCell } = notebook(false);
  const { offers, ran } = offering([], [{ name: "ppo", cell: "wb.watch(ppo)\n", missing: [] }]);
  shown = await drawn(Empty, GOLDEN, true, { insertCell, offers });
  expect(texts(shown.host, "h3")).toEqual(["No program yet"]);
  await act(async () => ran());
  await shown.press(byText(shown.host, "button", "Show ppo"));
  expect(texts(shown.host, "[role=alert]")[0]).toContain("did not run to its end");
});

test("a cell that failed is run again, and its failure forgotten when another has run", async () => {
  const { run, insertCell } = notebook(false);
  const ppo = { name: "ppo", cell: "wb.watch(ppo)\n", missing: [] };
  const { offers, ran } = offering([ppo], [ppo]);
  shown = await drawn(Empty, GOLDEN, true, { insertCell, offers });
  await shown.press(byText(shown.host, "button", "Show ppo"));
  await shown.press(byText(shown.host, "button", "Show ppo"));
  expect([insertCell.mock.calls.length, run.mock.calls.length]).toEqual([1, 2]);
  await act(async () => ran());
  expect(texts(shown.host, "[role=alert]")).toEqual([]);
});

test("a cell that misses arguments is left to be filled in, and run with a second press", async () => {
  const { run, insertCell } = notebook(true);
  const asked = { name: "asked", cell: "wb.watch(asked, B=, T=)\n", missing: ["B", "T"] };
  const { offers, ran } = offering([asked], [asked]);
  shown = await drawn(Empty, GOLDEN, true, { insertCell, offers });
  await shown.press(byText(shown.host, "button", "Show asked (needs B, T) …"));
  expect([insertCell.mock.calls.length, run.mock.calls.length]).toEqual([1, 0]);
  expect(texts(shown.host, "[role=status] [role=status]")).toEqual([
    "asked has no default for B, T: fill in the cell, then run it.",
  ]);
  await shown.press(byText(shown.host, "button", "Show asked (needs B, T) …"));
  expect([insertCell.mock.calls.length, run.mock.calls.length]).toEqual([1, 1]);
  expect(texts(shown.host, "[role=status] [role=status]")).toEqual([]);
  await act(async () => ran());
  expect(texts(shown.host, ".wbk-offers button")).toEqual(["Show asked (needs B, T) …"]);
});
