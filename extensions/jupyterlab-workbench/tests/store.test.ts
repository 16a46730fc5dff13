import { expect, test } from "vitest";
import golden from "../../../tests/golden/session/measure.json";
import { createStore } from "../src/model/store";
import type { Transport } from "../src/model/transport";
import type { Capsule, Message, Request, Snapshot, State, StepView, VariantView } from "../src/protocol";

const { state: STATE } = golden as unknown as Capsule;
const STEP: StepView = {
  transform: "Vectorize", text: "Vectorize('b')", source: "wb.transforms.Vectorize('b')", json: {}, statements: [],
  arrays: [], dims: [], equation_step: false,
};

/** A workbench in Python, played by hand. */
function live() {
  const sent: Request[] = [];
  const heard = new Set<(message: Message) => void>();
  const transport: Transport = {
    status: () => "connected",
    onStatus: () => () => undefined,
    send: (request) => sent.push(request),
    onMessage(listener) {
      heard.add(listener);
      return () => heard.delete(listener);
    },
  };
  const store = createStore(transport);
  const say = (message: Message): void => heard.forEach((listener) => listener(message));
  const shows = (change: Partial<State>, open = false): void =>
    say({ type: "state", state: { ...STATE, ...change }, open });
  const answer = (value: unknown): void => {
    const last = sent.at(-1);
    if (last && "id" in last) say({ type: "part", id: last.id, value, done: true });
  };
  return { store, sent, shows, answer };
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
    key, parent: current, name: "", named: false, step: { ...STEP, source }, notes: [], why: "", recipe: "",
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
