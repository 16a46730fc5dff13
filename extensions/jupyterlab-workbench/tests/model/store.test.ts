import { expect, test, vi } from "vitest";
import golden from "../../../../tests/golden/session/measure.json";
import { next } from "../../src/model/lineage";
import { createStore, type Store } from "../../src/model/store";
import type { Status, Transport } from "../../src/model/transports/transport";
import { PROTOCOL, type Capsule, type Message, type Request, type Snapshot, type State, type StepView, type VariantView } from "../../src/protocol";

const { state: STATE } = golden as unknown as Capsule;
const STEP: StepView = {
  transform: "Vectorize", text: "Vectorize('b')", source: "wb.transforms.Vectorize('b')", json: {}, statements: [],
  arrays: [], dims: [], equation_step: false,
};

/** A workbench in Python, played by hand. */
function live(views = 1, create = createStore) {
  const sent: Request[] = [];
  const heard = new Set<(message: Message) => void>();
  const watched = new Set<() => void>();
  let status: Status = "connected";
  const transport: Transport = {
    status: () => status,
    onStatus(watcher) {
      watched.add(watcher);
      return () => watched.delete(watcher);
    },
    send: (request) => sent.push(request),
    onMessage(listener) {
      heard.add(listener);
      return () => heard.delete(listener);
    },
  };
  const stores = Array.from({ length: views }, () => create(transport));
  const store = stores.at(-1) as Store;
  const say = (message: Message): void => heard.forEach((listener) => listener(message));
  const shows = (change: Partial<State>, open = false): void =>
    say({ type: "state", state: { ...STATE, ...change }, open });
  const answer = (value: unknown): void => {
    const last = sent.at(-1);
    if (last && "id" in last) say({ type: "part", id: last.id, value, done: true });
  };
  const become = (next: Status): void => {
    status = next;
    watched.forEach((watcher) => watcher());
  };
  return { stores, store, sent, shows, answer, become, say };
}

test("the program that a preview showed is the picture of the variant that the step makes", () => {
  const { store, sent, shows, answer } = live();
  const { current } = STATE;
  const after = { name: "after" } as unknown as Snapshot;
  shows({ revision: 1 });
  expect(store.foreseen(current)).toBeNull();
  store.part("preview", current, { step: {} });
  answer({ step: STEP, snapshot: after });
  expect(store.foreseen(current)).toBe(after);
  const made = (key: string, source: string): VariantView => ({
    key, number: 1, parent: current, name: "", named: false, step: { ...STEP, source }, notes: [], why: "", recipe: "",
  });
  const variants = [...STATE.variants, made("same", STEP.source), made("other", "wb.transforms.Vectorize('t')")];
  shows({ revision: 2, current: "same", variants });
  const before = sent.length;
  expect(store.part("snapshot", "same", {}).value).toBe(after);
  expect(sent.length).toBe(before);
  expect(store.part("snapshot", "other", {}).value).toBeNull();
  expect(sent.at(-1)).toMatchObject({ type: "want", part: "snapshot", variant: "other" });
});

test("the open pane stays open when another workbench is shown", () => {
  const { store, shows } = live();
  shows({ revision: 1 });
  store.select({ pane: "memory", statements: ["x"] });
  shows({ workbench: "another", revision: 1 }, true);
  expect(store.values().state?.workbench).toBe("another");
  expect(store.values().selection).toMatchObject({ pane: "memory", statements: [] });
  store.select({ pane: "code" });
  store.choose(STATE.workbench);
  expect(store.values().selection).toMatchObject({ pane: "code", statements: ["x"] });
});

test("what is run is so on the default backend of the workbench until another is chosen", () => {
  const { store, shows } = live();
  const backend = (): string => store.values().selection.backend;
  expect(backend()).toBe("");
  shows({ revision: 1, backend: "native" });
  expect(backend()).toBe("native");
  store.select({ backend: "cuda" });
  shows({ revision: 2, backend: "native" });
  expect(backend()).toBe("cuda");
  shows({ workbench: "another", revision: 1, backend: "numpy" }, true);
  expect(backend()).toBe("numpy");
});

test("what one view asked for is not taken for what another asks for", () => {
  const { stores, sent, shows, say } = live(2);
  shows({ revision: 1 });
  const ids = stores.map((store) => {
    store.part("moves", STATE.current, {});
    const last = sent.at(-1);
    return last && "id" in last ? last.id : null;
  });
  say({ type: "part", id: ids[0] ?? 0, value: "of the first", done: true });
  const found = stores.map((store) => store.part("moves", STATE.current, {}).value as unknown);
  expect(found).toEqual(["of the first", null]);
});

test("what a view in another page asked for on the same connection is not taken for what is asked for here", async () => {
  const loaded = async () => {
    vi.resetModules(); // every page has loaded the modules anew
    return live(1, (await import("../../src/model/store")).createStore);
  };
  const pages = [await loaded(), await loaded()];
  const asked = pages.map(({ store, sent, shows }, at) => {
    shows({ revision: 1 });
    store.part(at ? "cost" : "moves", STATE.current, {});
    const done = store.ask({ type: "show", variant: STATE.root });
    const settled = vi.fn();
    void done.then(settled, settled);
    return { ids: sent.flatMap((request) => ("id" in request ? request.id : [])), settled };
  });
  const [part = 0, show = 0] = asked[0]?.ids ?? [];
  for (const { say } of pages) { // Jupyter gives what is said on a connection to every page that has it
    say({ type: "part", id: part, value: "of the first", done: true });
    say({ type: "done", id: show, variant: null });
  }
  await Promise.resolve();
  expect(pages[0]?.store.part("moves", STATE.current, {}).value).toBe("of the first");
  expect(pages[1]?.store.part("cost", STATE.current, {}).value).toBeNull();
  expect(asked.map(({ settled }) => settled.mock.calls.length)).toEqual([1, 0]);
});

test("a workbench that is shown again comes to the front, changed or not", () => {
  const { store, shows } = live();
  const shown = (): string | undefined => store.values().state?.workbench;
  shows({ revision: 1 });
  shows({ workbench: "another", revision: 1 }, true);
  shows({ revision: 1 });
  expect(shown()).toBe("another");
  shows({ revision: 1 }, true);
  expect(shown()).toBe(STATE.workbench);
  shows({ workbench: "another", revision: 0 }, true); // of before
  expect(shown()).toBe(STATE.workbench);
});

test("what was chosen before the Jupyter kernel told what it has is shown where it has it", () => {
  const welcome = { type: "welcome", protocol: PROTOCOL, release: "1.2", workbenches: ["another", STATE.workbench] } as const;
  for (const [chosen, expected] of [[STATE.workbench, STATE.workbench], ["unknown", "another"]] as const) {
    const { store, shows, say } = live();
    store.choose(chosen);
    say(welcome);
    shows({ workbench: "another", revision: 1 });
    shows({ revision: 1 });
    expect(store.values().state?.workbench).toBe(expected);
  }
});

test("without its Jupyter kernel what is loaded can still be looked at, and nothing else be done", async () => {
  const { store, sent, shows, become } = live();
  shows({ revision: 7 });
  become("empty");
  const before = sent.length;
  await store.ask({ type: "show", variant: STATE.root });
  expect(store.values().state?.current).toBe(STATE.root);
  await expect(store.ask({ type: "rename", variant: STATE.root, name: "x" })).rejects.toThrow("was restarted");
  become("disconnected");
  await expect(store.ask({ type: "rename", variant: STATE.root, name: "x" })).rejects.toThrow("start it");
  expect(sent.length).toBe(before);
});

const ROOT = STATE.variants.filter(({ parent }) => parent === null);

test("after a restart of the Jupyter kernel the tree that was shown is taken up", async () => {
  const { store, sent, shows, become, say } = live();
  shows({ revision: 7 });
  become("empty");
  become("connected");
  say({ type: "welcome", protocol: PROTOCOL, release: "1.2", workbenches: [STATE.workbench] });
  shows({ revision: 1, variants: ROOT, current: STATE.root, measurements: [] });
  const asked = sent.at(-1);
  if (asked?.type !== "load") throw new Error("nothing is taken up");
  expect(asked).toMatchObject({ workbench: STATE.workbench, show: false });
  const file = JSON.parse(asked.text) as Capsule;
  expect(file).toMatchObject({ protocol: PROTOCOL, release: "1.2", state: { root: STATE.root, current: STATE.current } });
  expect(file.state.variants).toEqual(STATE.variants);
  say({ type: "done", id: asked.id, variant: null });
  await Promise.resolve();
  expect(store.values().notice?.text).toContain("in the tree again");
  shows({ revision: 2, variants: ROOT });
  expect(sent.at(-1)).toBe(asked); // once
});

test("an answer that is waited for is neither lost nor asked for again", async () => {
  const { store, sent, shows, become, say } = live();
  shows({ revision: 1 });
  store.part("moves", STATE.current, {});
  const want = sent.at(-1);
  const done = store.ask({ type: "show", variant: STATE.root });
  const asked = sent.at(-1);
  become("waiting");
  become("connected");
  if (!asked || !("id" in asked) || !want || !("id" in want)) throw new Error("nothing was asked");
  expect(sent.at(-1)).toBe(asked);
  say({ type: "done", id: asked.id, variant: null });
  await done;
  say({ type: "part", id: want.id, value: [], done: true });
  expect(store.part("moves", STATE.current, {}).status).toBe("done");
});

test("what cannot be taken up is told", async () => {
  const { store, sent, shows, become, say } = live();
  shows({ revision: 7 });
  become("empty");
  become("connected");
  shows({ revision: 1, variants: ROOT });
  const asked = sent.at(-1);
  if (asked?.type !== "load") throw new Error("nothing is taken up");
  say({ type: "failed", id: asked.id, error: { sentence: "it is another program", line: null, trace: "", cycle: null, arguments: {} } });
  await new Promise((resolve) => setTimeout(resolve));
  expect(store.values().notice).toEqual({
    text: "The variants that were shown could not be taken up: it is another program", failed: true,
  });
});

test("nothing is taken up where the network was away or the tree is all there", () => {
  const { store, sent, shows, become } = live();
  shows({ revision: 7 });
  become("disconnected");
  become("connected");
  shows({ revision: 8, variants: ROOT });
  expect(sent.some(({ type }) => type === "load")).toBe(false);
  become("empty");
  become("connected");
  shows({ revision: 1, variants: STATE.variants });
  store.goOn({ ...STATE, variants: ROOT });
  expect(sent.some(({ type }) => type === "load")).toBe(false);
  store.goOn({ ...STATE, variants: [...STATE.variants, { ...STATE.variants[0], key: "more" } as VariantView] });
  expect(sent.at(-1)).toMatchObject({ type: "load", workbench: STATE.workbench });
});

test("what is brushed in a variant's memory is let go with the variant", () => {
  const { store, shows } = live();
  const brushed = { variant: STATE.current, space: "device", range: { from: 0, to: 3 }, arrays: ["x"] };
  shows({ revision: 1 });
  store.select({ brushed });
  shows({ revision: 2 });
  expect(store.values().selection.brushed).toBe(brushed);
  shows({ revision: 3, current: STATE.root });
  expect(store.values().selection.brushed).toBeNull();
});

test("steps that were undone can be taken again, until others are taken", () => {
  const { store, shows } = live();
  const step = (key: string, parent: string | null): VariantView => ({ ...STATE.variants[0], key, parent }) as VariantView;
  const variants = [step("a", null), step("b", "a"), step("c", "b"), step("d", "b")];
  const again = (): string | undefined => next(store.values().selection.left, { ...STATE, ...store.values().state })?.key;
  shows({ revision: 1, variants, current: "c" });
  expect(again()).toBeUndefined();
  shows({ revision: 2, variants, current: "a" });
  expect(again()).toBe("b");
  shows({ revision: 3, variants, current: "b" });
  expect(again()).toBe("c");
  shows({ revision: 4, variants, current: "d" });
  expect(again()).toBeUndefined();
  shows({ revision: 5, variants, current: "b" });
  expect(again()).toBe("d");
  shows({ revision: 6, variants: variants.slice(0, 3), current: "b" });
  expect(again()).toBeUndefined();
});

test("what fails after nobody wants it any more is told to nobody", () => {
  const { store, sent, shows, say } = live();
  shows({ revision: 1 });
  store.part("moves", STATE.current, {});
  const asked = sent.at(-1);
  expect(asked && "id" in asked).toBe(true);
  store.forget("moves", STATE.current, {});
  const error = { sentence: "too late", line: null, hints: [] } as unknown as Extract<Message, { type: "failed" }>["error"];
  if (asked && "id" in asked) say({ type: "failed", id: asked.id, error });
  expect(store.values().problem).toBe("");
});
