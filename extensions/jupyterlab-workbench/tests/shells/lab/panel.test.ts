import { afterEach, beforeEach, expect, test, vi } from "vitest";
import golden from "../../../../../tests/golden/session/measure.json";
import { createStore, type Store } from "../../../src/model/store";
import { savedTransport } from "../../../src/model/transports/saved";
import type { Transport } from "../../../src/model/transports/transport";
import { type Capsule, type Message, PROTOCOL } from "../../../src/protocol";
import type { Connection } from "../../../src/shells/lab/connection";
import type { NotebookPanel, Packages } from "../../../src/shells/lab/jupyterlab";
import { createPanel, type Kept, type Panel } from "../../../src/shells/lab/panel";
import { MIME } from "../../../src/shells/mime";
import type { Views } from "../../../src/shells/views";

const { state: STATE } = golden as unknown as Capsule;
const SIGNAL = { connect: () => true, disconnect: () => true };

class Widget {
  readonly node = document.createElement("div");
  readonly title = { label: "", caption: "", closable: false, icon: null, changed: SIGNAL };
  readonly disposed = SIGNAL;
  id = "";
  isVisible = true;
  readonly content?: Widget;
  constructor(given: { content?: Widget } = {}) {
    if (given.content) this.content = given.content;
  }
  addClass(): void {}
}
const PACKAGES = {
  "@lumino/widgets": { Widget },
  "@jupyterlab/apputils": { MainAreaWidget: Widget },
} as unknown as Packages;

let metadata: Record<string, unknown> = {};
let saves = new Set<(sender: unknown, happens: string) => void>();
const saveState = { connect: (slot: (sender: unknown, happens: string) => void) => saves.add(slot), disconnect: () => true };
const model = {
  getMetadata: (key: string) => metadata[key],
  setMetadata: (key: string, value: unknown) => void (metadata[key] = value),
};

/** A cell with a workbench in its output. */
const cell = (workbench: string): unknown => {
  const capsule = { ...(golden as unknown as Capsule), state: { ...STATE, workbench, name: workbench } };
  return { node: document.createElement("div"), model: { outputs: { length: 1, get: () => ({ data: { [MIME]: capsule } }) } } };
};
let cells: unknown[] = [];
const notebook = Object.assign(new Widget(), {
  content: { get widgets() { return cells; } }, context: { model, saveState },
}) as unknown as NotebookPanel;
let say: (message: Message) => void;
let focused = 0;
let drawnSaved: { readonly store: Store } | null = null;
let status: ReturnType<Transport["status"]>;

/** A panel whose notebook's Jupyter kernel is played by hand. */
function panel(kept: Partial<Kept> = {}): Panel {
  const heard = new Set<(message: Message) => void>();
  const transport: Transport = {
    status: () => status,
    onStatus: () => () => undefined,
    send: () => undefined,
    onMessage(listener) {
      heard.add(listener);
      return () => heard.delete(listener);
    },
  };
  say = (message) => heard.forEach((listener) => listener(message));
  const face = (own: Transport) => ({ actions: () => [], store: createStore(own), focus: () => void focused++, takeDown: () => undefined });
  const views = { draw: (_: unknown, own: Transport) => face(own), drawSaved: (_: unknown, found: unknown) => (drawnSaved = face(savedTransport(found))) };
  const made = createPanel({
    packages: PACKAGES,
    views: views as unknown as Views,
    connection: () => ({ transport, hands: {}, ask: () => undefined, dispose: () => undefined }) as unknown as Connection,
    kept: { pane: "", compared: [], programs: [], ...kept },
    icon: null, begin: () => Promise.resolve(),
    changed: () => undefined,
  });
  made.follow(notebook);
  return made;
}

/** Says what a Jupyter kernel with three workbenches says to a page, the last shown first. */
function greets(): void {
  const workbenches = ["newest", "middle", "oldest"];
  say({ type: "welcome", protocol: PROTOCOL, release: "0", workbenches });
  for (const workbench of workbenches) say({ type: "state", state: { ...STATE, workbench, name: workbench }, open: false });
}

const ResizeObserverBefore = globalThis.ResizeObserver;
beforeEach(() => {
  status = "connected";
  [metadata, saves, cells, drawnSaved] = [{}, new Set(), [], null];
  globalThis.ResizeObserver = class {
    observe(): void {}
    unobserve(): void {}
    disconnect(): void {}
  };
});
afterEach(() => {
  globalThis.ResizeObserver = ResizeObserverBefore;
});

test("the program that was shown before the page was loaded anew is shown again", () => {
  const made = panel({ programs: ["middle"] });
  expect(made.shown()).toBeNull();
  greets();
  expect(made.shown()).toEqual({ notebook, workbench: "middle" });
  expect(made.kept().programs).toEqual(["middle"]);
});

test("a program that is gone gives way to the newest, and to one that a cell shows", () => {
  const made = panel({ programs: ["gone"] });
  greets();
  expect(made.shown()?.workbench).toBe("newest");
  say({ type: "state", state: { ...STATE, workbench: "oldest", revision: STATE.revision + 1 }, open: true });
  expect(made.shown()?.workbench).toBe("oldest");
});

test("what is shown is noted with each save, where an output holds it", () => {
  metadata = { workbench: { cells: "1" } };
  panel();
  greets();
  const save = (): void => saves.forEach((slot) => slot(null, "started"));
  save();
  expect(metadata).toEqual({ workbench: { cells: "1" } });
  cells = [cell("newest")];
  saves.forEach((slot) => slot(null, "completed"));
  expect(metadata).toEqual({ workbench: { cells: "1" } });
  save();
  expect(metadata).toEqual({ workbench: { cells: "1", shown: { workbench: "newest", variant: STATE.current } } });
});

test("the program that was shown when the notebook was saved is shown again by a Jupyter kernel that has it", () => {
  metadata = { workbench: { shown: { workbench: "oldest", variant: STATE.current } } };
  const made = panel();
  greets();
  expect(made.shown()?.workbench).toBe("oldest");
});

test("a saved notebook shows the program and the variant that were shown when it was saved", async () => {
  status = "empty";
  cells = ["one", "two", "three"].map(cell);
  metadata = { workbench: { shown: { workbench: "two", variant: STATE.root } } };
  panel();
  expect(STATE.root).not.toBe(STATE.current);
  await vi.waitFor(() => expect(drawnSaved?.store.values().state).toMatchObject({ workbench: "two", current: STATE.root }));
});

test("a saved notebook shows the last program where the noted one is gone", async () => {
  status = "empty";
  cells = ["one", "two", "three"].map(cell);
  metadata = { workbench: { shown: { workbench: "four", variant: STATE.root } } };
  panel();
  await vi.waitFor(() => expect(drawnSaved?.store.values().state).toMatchObject({ workbench: "three", current: STATE.current }));
});

test("what cannot be seen, or is not live, is not shown", () => {
  const made = panel();
  greets();
  (made.widget as { isVisible: boolean }).isVisible = false;
  expect(made.shown()).toBeNull();
  (made.widget as { isVisible: boolean }).isVisible = true;
  expect(made.shown()?.workbench).toBe("newest");
  made.follow(null);
  expect(made.shown()).toBeNull();
});

test("the focus that JupyterLab gives with the tab goes on to the workbench", () => {
  const made = panel();
  greets();
  const { content } = made.widget as unknown as { content: Widget };
  content.node.dispatchEvent(new FocusEvent("focus"));
  expect(focused).toBe(1);
});
