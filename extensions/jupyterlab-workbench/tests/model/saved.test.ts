// A saved workbench answers as one in Python would, as far as the file goes.

import { expect, test, vi } from "vitest";
import { savedTransport } from "../../src/model/transports/saved";
import { createStore, type Store } from "../../src/model/store";
import { type Capsule, PROTOCOL, type State, type VariantView } from "../../src/protocol";

function variant(key: string, parent: string | null): VariantView {
  return { key, number: 0, parent, name: key, named: false, step: null, notes: [], why: "", recipe: `# ${key}` };
}

const STATE: State = {
  workbench: "small", revision: 7, name: "small", root: "a", current: "b",
  variants: [variant("a", null), variant("b", "a")],
  sizes: [], ends: [], measurements: [], runs: [], result: "", profiles: [], backends: [], backend: "numpy", arguments: [],
  measuring: null, unrun: null, unprofiled: null, error: null, recipe_error: null, taken_over: "",
};

function capsule(more: Partial<Capsule> = {}): Capsule {
  const parts = [{ part: "code", variant: "b", arguments: { backend: "numpy" }, value: { lines: 3 } }] as const;
  return { protocol: PROTOCOL, release: "1.0", state: STATE, parts, ...more };
}

async function opened(saved: unknown): Promise<Store> {
  const store = createStore(savedTransport(saved));
  await vi.waitFor(() => expect(store.values().state ?? store.values().problem).toBeTruthy(), 10_000);
  return store;
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

test("a saved workbench is shown with its state", async () => {
  const { state, status } = (await opened(capsule())).values();
  expect(status).toBe("saved");
  expect(state?.current).toBe("b");
});

test("one that is compressed reads the same", async () => {
  const squeezed = new Response(JSON.stringify(capsule())).body?.pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(squeezed).arrayBuffer());
  const gzip = btoa(String.fromCharCode(...bytes));
  const store = await opened({ protocol: PROTOCOL, release: "1.0", workbench: "small", gzip });
  expect(store.values().state?.variants).toEqual(STATE.variants);
});

test("what was kept is given, what was not is absent", async () => {
  const store = await opened(capsule());
  expect(store.part("code", "b", { backend: "numpy" }).status).toBe("absent");
  await settled();
  expect(store.part("code", "b", { backend: "numpy" })).toMatchObject({ status: "done", value: { lines: 3 } });
  expect(store.part("code", "a", { backend: "numpy" }).status).toBe("absent");
});

test("its other variants are shown, nothing is changed", async () => {
  const store = await opened(capsule());
  await store.ask({ type: "show", variant: "a" });
  expect(store.values().state?.current).toBe("a");
  await expect(store.ask({ type: "remove", variant: "a" })).rejects.toThrow("saved workbench");
});

test("it is saved again with the variant that is shown", async () => {
  const store = await opened(capsule());
  await store.ask({ type: "show", variant: "a" });
  const saved = await store.ask({ type: "save", format: "state" });
  expect(saved.type === "saved" && (JSON.parse(saved.text) as Capsule).state.current).toBe("a");
});

test("another release is said and not drawn", async () => {
  const { state, problem } = (await opened(capsule({ protocol: PROTOCOL + 1, release: "9.9" }))).values();
  expect(state).toBeNull();
  expect(problem).toContain("another release of the workbench (9.9");
});

test.each([null, 3, "text", {}, { protocol: PROTOCOL, release: "1.0" }, { protocol: PROTOCOL, release: "", gzip: "?" }])(
  "%j is told not to be a saved workbench",
  async (saved) => {
    expect((await opened(saved)).values().problem).toContain("not a workbench that was saved");
  },
);

test("it goes on with what was saved since, and gives what was asked for before", async () => {
  const transport = savedTransport(capsule({ parts: [] }));
  const store = createStore(transport);
  await settled();
  store.part("code", "b", { backend: "numpy" });
  store.select({ pane: "code" });
  transport.renew(capsule({ state: { ...STATE, revision: 1, current: "a" } }));
  await settled();
  expect(store.values().state?.current).toBe("a");
  expect(store.part("code", "b", { backend: "numpy" }).status).toBe("done");
  expect(store.values().selection.pane).toBe("code");
});
