import { afterEach, beforeEach, expect, test } from "vitest";
import golden from "../../../../../tests/golden/session/measure.json";
import { createStore } from "../../../src/model/store";
import type { Transport } from "../../../src/model/transports/transport";
import { type Capsule, type Message, PROTOCOL } from "../../../src/protocol";
import type { Connection } from "../../../src/shells/lab/connection";
import type { NotebookPanel, Packages } from "../../../src/shells/lab/jupyterlab";
import { createPanel, type Kept, type Panel } from "../../../src/shells/lab/panel";
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

const notebook = new Widget() as unknown as NotebookPanel;
let say: (message: Message) => void;
let focused = 0;
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
  const views = { draw: (_: unknown, own: Transport) => ({ actions: () => [], store: createStore(own), focus: () => void focused++, takeDown: () => undefined }) };
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
