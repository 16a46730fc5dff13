// Links are opened: in a saved workbench, in a live one once its program is there, and with what does not fit told.

import { expect, test, vi } from "vitest";
import golden from "../../../../tests/golden/session/measure.json";
import { follow } from "../../src/frame/follow";
import { type Link, linkTo, written } from "../../src/model/link";
import { savedTransport } from "../../src/model/transports/saved";
import { createStore, type Store } from "../../src/model/store";
import type { Transport } from "../../src/model/transports/transport";
import { type Capsule, type Message, PROTOCOL, type Request } from "../../src/protocol";

const GOLDEN = golden as unknown as Capsule;
const { state: STATE } = GOLDEN;
const PICTURE = { nodes: [{ id: "s[t]", scope: [] }, { id: "hidden", scope: ["policy", "first"] }] };
const CAPSULE: Capsule = {
  ...GOLDEN,
  parts: STATE.variants.map(({ key }) => ({ part: "snapshot", variant: key, arguments: {}, value: PICTURE })),
};
const OTHER = STATE.variants.find(({ key }) => key !== STATE.current)?.key ?? "";

/** Waits until it holds; drawing beside other tests may take its time. */
const soon = (holds: () => void): Promise<void> => vi.waitFor(holds, 10_000);

async function saved(beside: Partial<Transport> = {}): Promise<Store> {
  const store = createStore(savedTransport(CAPSULE, beside));
  await soon(() => expect(store.values().state).toBeTruthy());
  return store;
}

/** A link to the other variant's picture, as a saved workbench makes it. */
async function link(change: Partial<Link> = {}): Promise<string> {
  const store = await saved();
  await store.ask({ type: "show", variant: OTHER });
  store.select({ pane: "code", level: "order" });
  return written({ ...linkTo(store.values()), ...change });
}

const notice = (store: Store): string => store.values().notice?.text ?? "";

test("a saved workbench shows the link's variant and pane", async () => {
  const store = await saved();
  const before = store.values().state?.current;
  follow(store, await link());
  await soon(() => expect(store.values().selection).toMatchObject({ pane: "code", level: "order" }));
  expect(store.values().state?.current).not.toBe(before);
  await soon(() => expect(store.values().notice).toBeNull());
});

test("the statements of a link are selected; what is not there is told", async () => {
  const store = await saved();
  const statements = ["s[t]", "nothing"];
  follow(store, await link({ variant: STATE.current, statements, pane: "kitchen", sizes: { Q: 3 } }));
  await soon(() => expect(store.values().selection.statements).toEqual(["s[t]"]));
  await soon(() => expect(notice(store)).toContain("no pane “kitchen” here. nothing, Q of the link are not in"));
  expect(store.values().selection).toMatchObject({ pane: "", sizes: {} });
});

test("a scope of a link is selected where there is one", async () => {
  const store = await saved();
  follow(store, await link({ scope: ["policy"] }));
  await soon(() => expect(store.values().selection.scope).toEqual(["policy"]));
  follow(store, await link({ scope: ["critic", "first"] }));
  await soon(() => expect(notice(store)).toBe("critic.first of the link is not in this variant."));
  expect(store.values().selection.scope).toBeNull();
});

test("a link of another program, or to a variant that was not saved, is told to be so", async () => {
  const store = await saved();
  follow(store, await link({ program: "ppo" }));
  await soon(() => expect(notice(store)).toBe(`The link is of ppo, and this is ${STATE.name}.`));
  follow(store, await link({ variant: "0", name: "far" }));
  await soon(() => expect(notice(store)).toContain("does not hold"));
  expect(store.values().notice).toMatchObject({ failed: true });
  expect(store.values().notice?.missing).toBeUndefined();
  const inNotebook = await saved({ runCell: () => Promise.resolve(true) });
  follow(inNotebook, await link({ variant: "0" }));
  await soon(() => expect(inNotebook.values().notice?.missing).toBe(STATE.name));
});

test("what is no link is told, and changes nothing", async () => {
  const store = await saved();
  const before = store.values().selection;
  follow(store, "<img src=x onerror=alert(1)>");
  await soon(() => expect(notice(store)).toContain("not one of the workbench"));
  expect(store.values().selection).toBe(before);
});

/** A Jupyter kernel, played by hand. */
function live() {
  const sent: Request[] = [];
  const heard = new Set<(message: Message) => void>();
  const store = createStore({
    status: () => "connected",
    onStatus: () => () => undefined,
    send(request) {
      sent.push(request);
      if (request.type === "want") queueMicrotask(() => say({ type: "part", id: request.id, value: PICTURE, done: true }));
    },
    onMessage(listener) {
      heard.add(listener);
      return () => heard.delete(listener);
    },
  });
  const say = (message: Message): void => heard.forEach((listener) => listener(message));
  const asked = (): Request[] => sent.filter(({ type }) => type === "follow" || type === "show");
  const last = (): number => (asked().at(-1) as { id: number }).id;
  say({ type: "welcome", protocol: PROTOCOL, release: "1.0", workbenches: [] });
  return { store, say, asked, last };
}

const LATER = { release: "1.0", variant: "later", name: "later", steps: [{ transform: "Contract", arguments: { array: "x" } }] };

test("a link waits for its program and for cells that run, and its steps are taken once", async () => {
  const { store, say, asked, last } = live();
  let calm = false;
  follow(store, await link(LATER), () => calm);
  await soon(() => expect(store.values().notice).toMatchObject({ failed: false, missing: STATE.name, unseen: true }));
  expect(notice(store)).toContain(`A link to “later” of ${STATE.name} is open`);
  say({ type: "state", state: { ...STATE, workbench: "other", name: "other" }, open: true });
  say({ type: "state", state: STATE, open: true });
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(asked()).toEqual([]);
  calm = true;
  await soon(() => expect(asked()).toHaveLength(1));
  expect(asked()[0]).toMatchObject({ type: "follow", steps: LATER.steps, workbench: STATE.workbench });
  say({ type: "done", id: last(), variant: "later" });
  await soon(() => expect(store.values().selection.pane).toBe("code"));
  await soon(() => expect(store.values().notice).toBeNull());
  expect(asked()).toHaveLength(1);
});

test("a program that is traced otherwise is told to be so, where the steps fit all the same", async () => {
  const { store, say, asked, last } = live();
  say({ type: "state", state: STATE, open: true });
  follow(store, await link(LATER));
  await soon(() => expect(asked()).toHaveLength(1));
  say({ type: "done", id: last(), variant: "another" });
  await soon(() => expect(notice(store)).toContain("has other equations or arguments here"));
  expect(notice(store)).toContain("Its steps fit all the same.");
});

test("steps that do not fit are told with the reason, and nothing else changes", async () => {
  const { store, say, asked, last } = live();
  say({ type: "state", state: STATE, open: true });
  follow(store, await link(LATER));
  await soon(() => expect(asked()).toHaveLength(1));
  const error = { sentence: "step 1 of 1 does not fit: x is read later", line: null, trace: "", cycle: null, arguments: {} };
  say({ type: "failed", id: last(), error });
  await soon(() => expect(notice(store)).toContain("do not fit"));
  expect(notice(store)).toContain("step 1 of 1 does not fit: x is read later");
  expect(store.values().selection.pane).toBe("");
});
