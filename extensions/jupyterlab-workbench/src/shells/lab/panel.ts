// The panel in the main area: the workbench of the notebook in use, each as it was left.

import type { Action } from "../../frame/actions";
import type { Store } from "../../model/store";
import type { Status } from "../../model/transports/transport";
import type { State } from "../../protocol";
import type { Drawn } from "../../workbench";
import type { Views } from "../views";
import { calm } from "./address";
import { type Connection, connect } from "./connection";
import type { NotebookPanel, Packages, Widget } from "./jupyterlab";
import { lastShown, type LastShown, noteShown } from "./last-shown";
import { beside, savedIn } from "./notebook";

/** The id of the panel in JupyterLab. */
export const PANEL = "workbench";

export interface Panel {
  readonly widget: Widget;
  /** Shows the workbench of this notebook; null: there is no notebook. */
  follow(notebook: NotebookPanel | null): void;
  /** Shows one of the notebook's workbenches, drawn in that output. */
  choose(workbench: string, output: HTMLElement): void;
  /** Opens a link in the workbench of the notebook that is followed. */
  open(link: string): void;
  actions(): readonly Action[];
  /** Returns what is in sight, live; null where there is nothing. */
  shown(): Shown | null;
  /** Returns the state to restore after a reload. */
  kept(): Kept;
}

/** A workbench of a notebook. */
export interface Shown {
  readonly notebook: NotebookPanel;
  readonly workbench: string;
}

/** The open pane, the ticked variants of all notebooks, which their keys tell apart, and the shown workbenches. */
export interface Kept {
  readonly pane: string;
  readonly compared: readonly string[];
  readonly programs: readonly string[];
}

/** Holds the connections. A notebook's lives as long as the notebook, whether a panel shows it or not. */
export function connections(
  packages: Packages,
  activate: (notebook: NotebookPanel) => void,
  shown: (notebook: NotebookPanel) => void,
) {
  const known = new Map<NotebookPanel, Connection>();
  return (notebook: NotebookPanel): Connection => {
    const there = known.get(notebook);
    if (there) return there;
    const hands = beside(notebook, packages["@jupyterlab/notebook"], packages["@jupyterlab/apputils"], activate);
    const made = connect(notebook.sessionContext, hands, () => shown(notebook));
    known.set(notebook, made);
    notebook.disposed.connect(() => {
      known.delete(notebook);
      made.dispose();
    });
    return made;
  };
}

export function createPanel(options: {
  packages: Packages;
  views: Views;
  connection: (notebook: NotebookPanel) => Connection;
  kept: Kept;
  icon: unknown;
  /** Opens a notebook with a first program and runs it. */
  begin: () => Promise<void>;
  /** Called when the possible actions, or what is in sight, may have changed. */
  changed: () => void;
}): Panel {
  const { packages, views, connection, kept, icon, begin, changed } = options;
  const content = new packages["@lumino/widgets"].Widget();
  content.addClass("wbk-panel");
  content.node.style.cssText = "height: 100%; overflow: hidden; outline: none";
  content.node.addEventListener("focus", () => face?.focus()); // JupyterLab gives it the focus with its tab
  const widget = new packages["@jupyterlab/apputils"].MainAreaWidget({ content });
  widget.id = PANEL;
  widget.title.closable = true;
  widget.title.icon = icon;
  const sight = new ResizeObserver(changed); // what is not in sight has no size
  sight.observe(content.node);
  const faces = new Map<NotebookPanel, Face>();
  const nothing = absent(begin);
  content.node.append(nothing);
  let face: Face | null = null;
  called();

  const pane = (): string => face?.kept().pane ?? kept.pane;
  const together = (of: (face: Face) => readonly string[]): readonly string[] => [...new Set([...faces.values()].flatMap(of))];

  function faceOf(notebook: NotebookPanel): Face {
    const there = faces.get(notebook);
    if (there) return there;
    const made = createFace(views, notebook, connection(notebook), { ...kept, pane: pane() }, changed);
    faces.set(notebook, made);
    content.node.append(made.host);
    notebook.title.changed.connect(called);
    notebook.disposed.connect(() => {
      made.takeDown();
      faces.delete(notebook);
      if (face === made) show(null);
    });
    return made;
  }

  /** Names the workbench on the tab. */
  function called(): void {
    const name = face?.notebook.title.label.replace(/\.ipynb$/, "");
    widget.title.label = name ? `Workbench: ${name}` : "Workbench";
    widget.title.caption = name ? `The workbench of ${face?.notebook.title.label}` : "The workbench of the notebook in use";
  }

  function show(next: Face | null): void {
    face = next;
    called();
    nothing.style.display = next === null ? "grid" : "none";
    for (const one of faces.values()) one.host.hidden = one !== next;
    changed();
  }

  widget.disposed.connect(() => {
    sight.disconnect();
    for (const one of faces.values()) {
      one.notebook.title.changed.disconnect(called);
      one.takeDown();
    }
  });
  return {
    widget,
    follow: (notebook) => show(notebook && !notebook.isDisposed ? faceOf(notebook) : null),
    choose: (workbench, output) => face?.choose(workbench, output),
    open: (link) => face?.open(link),
    actions: () => face?.actions() ?? [],
    shown: () => (face && widget.isVisible ? face.shown() : null),
    kept: () => ({
      pane: pane(),
      compared: faces.size ? together((one) => one.kept().compared) : kept.compared,
      programs: faces.size ? together((one) => one.kept().programs) : kept.programs,
    }),
  };
}

interface Face {
  readonly host: HTMLElement;
  readonly notebook: NotebookPanel;
  choose(workbench: string, output: HTMLElement): void;
  open(link: string): void;
  actions(): readonly Action[];
  focus(): void;
  shown(): Shown | null;
  kept(): Kept;
  takeDown(): void;
}

/** The statuses without a live state, in which the saved workbench is shown. */
const ABSENT: readonly Status[] = ["empty", "disconnected", "waiting"];

/** Makes one notebook's side of the panel: its live workbench, or the one saved in its outputs until there is one. */
function createFace(
  views: Views,
  notebook: NotebookPanel,
  { transport, hands, ask }: Connection,
  kept: Kept,
  changed: () => void,
): Face {
  const host = block();
  const [liveHost, savedHost] = [block(), block()];
  host.append(liveHost, savedHost);
  const live = views.draw(liveHost, transport, kept);
  let restored = false;
  let saved: Drawn | null = null;
  let from: HTMLElement | null = null;
  /** A link for the saved workbench, while there is none. */
  let link = "";
  let shut = (): void => undefined;

  function look(): void {
    const { state, problem, status, welcomed, workbenches } = live.store.values();
    if (welcomed && workbenches.length && !restored) {
      restored = true;
      const known = workbenches.find((name) => kept.programs.includes(name));
      const left = known ?? workbenches.find((name) => name === lastShown(notebook)?.workbench);
      if (left !== undefined) return live.store.choose(left);
    }
    // A running cell may tell the fate of a workbench, but answers no request.
    const wanted = !(state && welcomed) && !problem && ABSENT.includes(status);
    if (wanted && !saved) {
      const left = lastShown(notebook);
      const found = savedIn(notebook, from, left?.workbench);
      if (found) saved = views.drawSaved(savedHost, found, kept, hands);
      if (saved && !from && !link) showAsLeft(saved.store, left);
      if (saved && link) views.follow(saved.store, link);
      if (saved) link = "";
    } else if (!wanted && saved && state) {
      const { selection, state: left } = saved.store.values();
      saved.takeDown();
      saved = null;
      live.store.select(selection); // the reader goes on where they were
      if (left) live.store.goOn(left);
    }
    saved?.store.standFor(status);
    liveHost.hidden = saved !== null;
    savedHost.hidden = saved === null;
    changed();
  }

  const shown = (): State | null => (saved ?? live).store.values().state;
  const forget = live.store.subscribe(look);
  const end = noteShown(notebook, () => {
    const state = savedIn(notebook, null, undefined) ? shown() : null;
    return state && { workbench: state.workbench, variant: state.current };
  });
  ask();
  look();
  return {
    host,
    notebook,
    choose(workbench, output) {
      from = output;
      saved?.takeDown();
      saved = null;
      const { welcomed, workbenches } = live.store.values();
      if (!welcomed || workbenches.includes(workbench)) live.store.choose(workbench);
      else live.store.say({ text: `This Jupyter kernel has not run ${workbench} yet.`, failed: false, missing: workbench });
      look();
    },
    open(text) {
      shut();
      shut = views.follow(live.store, text, () => calm(notebook));
      if (saved) views.follow(saved.store, text);
      else link = text;
    },
    actions: () => (saved ?? live).actions(),
    focus: () => (saved ?? live).focus(),
    shown() {
      const { state, status } = live.store.values();
      return saved === null && state && status === "connected" ? { notebook, workbench: state.workbench } : null;
    },
    kept() {
      const { selection, state } = (saved ?? live).store.values();
      const { pane, compared } = selection;
      return { pane, compared, programs: state ? [state.workbench] : [] };
    },
    takeDown() {
      forget();
      end();
      shut();
      saved?.takeDown();
      live.takeDown();
      host.remove();
    },
  };
}

/** Shows the variant of a saved workbench that was left, as soon as it is read: its output may be older. */
function showAsLeft(store: Store, left: LastShown | null): void {
  const forget = store.subscribe(() => {
    const { state } = store.values();
    if (!state) return;
    forget();
    const isThere = state.workbench === left?.workbench && state.variants.some(({ key }) => key === left.variant);
    if (isThere && left.variant !== state.current) void store.ask({ type: "show", variant: left.variant });
  });
}

function block(): HTMLElement {
  const made = document.createElement("div");
  made.style.height = "100%";
  return made;
}

/** Makes what is shown without a notebook: an offer of one. */
function absent(begin: () => Promise<void>): HTMLElement {
  const made = block();
  made.style.cssText +=
    "; display: grid; place-content: center; justify-items: center; gap: 10px; padding: 16px; text-align: center; color: var(--jp-ui-font-color2)";
  const text = document.createElement("div");
  const told = "Open a notebook to see its workbench here, or begin with a small program.";
  text.textContent = told;
  const button = document.createElement("button");
  button.className = "jp-mod-styled jp-mod-accept";
  button.type = "button";
  button.textContent = "New notebook with a first program";
  button.addEventListener("click", () => {
    button.disabled = true;
    text.textContent = told;
    begin()
      .catch((problem: unknown) => (text.textContent = problem instanceof Error ? problem.message : String(problem)))
      .finally(() => (button.disabled = false));
  });
  made.append(text, button);
  return made;
}
