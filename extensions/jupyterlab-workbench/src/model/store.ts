// The data of one workbench's views: its state, its parts, the selection. Immutable values are replaced; subscribers
// hear of it.

import type {
  Capsule, Done, Message, Part, PreviewView, Request, Running, Saved, Snapshot, State, UntracedView, VariantView, Welcome,
} from "../protocol";
import { PROTOCOL } from "../protocol";
import { ABSENT, type Arguments, isPart, type Loaded, merged, partKey, type Parts, WAITING } from "./parts";
import { INITIAL, type Selection } from "./selection";
import { withWayBack } from "./lineage";
import type { Status, Transport } from "./transports/transport";

export interface Notice {
  readonly text: string;
  readonly failed: boolean;
  /** A workbench that the Jupyter kernel does not have: running its cell helps. */
  readonly missing?: string;
  /** No cell needs to have it in its output: only running all cells is sure to help. */
  readonly unseen?: boolean;
}

export interface Values {
  readonly status: Status;
  /** The status of the notebook's Jupyter kernel, where a saved workbench is shown in its place; null where it is
   * not. */
  readonly kernel: Status | null;
  /** The state; null until the first has come. */
  readonly state: State | null;
  /** True if Python has answered. */
  readonly welcomed: boolean;
  /** The release of the other side, "" before it has answered. */
  readonly release: string;
  /** The names of all workbenches to choose from. */
  readonly workbenches: readonly string[];
  readonly selection: Selection;
  /** The programs that could not be traced, besides the shown one. */
  readonly untraced: readonly UntracedView[];
  /** The position of the running program; null while none runs. */
  readonly running: Running | null;
  /** The reason why nothing can be shown: another release, a message that cannot be read. */
  readonly problem: string;
  /** The result of a request, until it is put away. */
  readonly notice: Notice | null;
  /** Grows with every part that comes. */
  readonly loaded: number;
}

/** A request without the number by which its answer is known. */
export type Asked<R = Request> = R extends { id: number } ? Omit<R, "id" | "workbench"> : never;

export interface Store {
  values(): Values;
  subscribe(changed: () => void): () => void;
  select(change: Partial<Selection>): void;
  /** Returns a part, asked for where it is not there. The same object as long as nothing new came of it. */
  part<P extends Part>(part: P, variant: string, given: Arguments): Loaded<Parts[P]>;
  /** Returns a part as far as it is there or on its way; asks for nothing. */
  known<P extends Part>(part: P, variant: string, given: Arguments): Loaded<Parts[P]> | undefined;
  /** Withdraws a request for a part that has not come; whoever wants it asks again. */
  forget(part: Part, variant: string, given: Arguments): void;
  /** Returns the program that a preview of a step on this variant showed last; null where none did. */
  foreseen(variant: string): Snapshot | null;
  /** Asks; ends in an Error with the sentence where the request cannot be met. */
  ask(request: Asked): Promise<Done | Saved>;
  /** Goes on from this state: when Python has a workbench of this name again, it takes up its variants, names and
   * measurements. */
  goOn(from: State): void;
  /** Shows a notice; null puts it away. */
  say(notice: Notice | null): void;
  /** Tells the status of the Jupyter kernel in whose place this is shown. */
  standFor(kernel: Status | null): void;
  /** Shows another workbench of the same Jupyter kernel, as it was left. */
  choose(workbench: string): void;
  /** The tools that views offer to menus and to JupyterLab's commands, by name. */
  readonly tools: Partial<Tools>;
  readonly transport: Transport;
  destroy(): void;
}

export interface Tools {
  /** Brings the whole graph into view. */
  fit: () => void;
  /** Opens the scopes around a statement and brings it into view. */
  seek: (id: string) => void;
  /** Returns the whole graph as elements for an `svg`, in view or not; null before it is laid out. */
  sheet: () => JSX.Element | null;
  /** Opens the form of a report. */
  report: () => void;
  /** Shows the keys. */
  keys: () => void;
}

interface Waiting {
  readonly resolve: (answer: Done | Saved) => void;
  readonly reject: (error: Error) => void;
}

/** The number of this page's last request. A view knows the answers to its own requests by their numbers. Other views
 * may have the same connection, and other pages too, as Jupyter gives a comm that Python opened to all of them; so
 * every page counts from somewhere else. */
let id = Math.floor(Math.random() * 2 ** 52);

/** Makes a store. `workbench` names the one to show; "" for the one that was shown last. */
export function createStore(
  transport: Transport,
  workbench = "",
  selection: Selection = INITIAL,
): Store {
  const listeners = new Set<() => void>();
  const parts = new Map<string, Loaded<unknown>>();
  const wanted = new Map<number, { key: string; part: Part; variant: string }>();
  const previews = new Map<string, Map<string, Snapshot>>();
  const waiting = new Map<number, Waiting>();
  const states = new Map<string, State>();
  const lost = new Map<string, State>();
  const selections = new Map<string, Selection>();
  let release = "";
  let strangers: readonly UntracedView[] = [];
  let shown = workbench;
  let cut = false;
  let values: Values = {
    status: transport.status(),
    kernel: null,
    state: null,
    welcomed: false,
    release: "",
    workbenches: [],
    selection,
    untraced: [],
    running: null,
    problem: "",
    notice: null,
    loaded: 0,
  };

  function change(more: Partial<Values>): void {
    values = { ...values, ...more };
    for (const listener of [...listeners]) listener();
  }

  function keep(key: string, loaded: Loaded<unknown>): void {
    parts.set(key, loaded);
    change({ loaded: values.loaded + 1 });
  }

  function hear(message: Message): void {
    switch (message.type) {
      case "welcome":
        hearWelcome(message);
        break;
      case "state":
        hearState(message.state, message.open);
        break;
      case "untraced":
        if (workbench) break; // it is one of several, which are told of elsewhere
        strangers = message.programs;
        change({ untraced: untraced() });
        break;
      case "predicted-anew":
        for (const key of [...parts.keys()]) if (isPart(key, message.parts)) parts.delete(key);
        change({ loaded: values.loaded + 1 }); // who shows them asks again
        break;
      case "part":
        hearPart(message.id, message.value, message.done);
        break;
      case "saved":
      case "done":
        waiting.get(message.id)?.resolve(message);
        waiting.delete(message.id);
        break;
      case "failed":
        hearFailure(message.id, message);
        break;
      case "running":
        if (message.workbench === shown) change({ running: message.over ? null : message });
        break;
    }
  }

  function hearWelcome({ protocol, release: signed, workbenches }: Welcome): void {
    release = signed;
    strangers = []; // those that there are follow
    change({ welcomed: true, release, untraced: untraced() });
    if (protocol !== PROTOCOL) {
      const told = values.status === "saved" ? savedByAnother(signed) : otherRelease(protocol, signed);
      change({ problem: told });
    } else if (!workbench) {
      if (!workbenches.includes(shown)) shown = workbenches[0] ?? "";
      change({ workbenches });
    }
  }

  function hearState(state: State, open: boolean): void {
    const name = state.workbench;
    if (workbench && name !== workbench) return;
    const known = states.get(name)?.revision ?? -1;
    if (state.revision < known || (state.revision === known && !open)) return;
    states.set(name, state);
    state.variants.forEach(takePreviewed);
    if (!values.workbenches.includes(name)) change({ workbenches: [...values.workbenches, name] });
    change({ untraced: untraced() });
    if (!shown || open) show(name);
    else if (name === shown) change({ state, selection: fitted(values.selection, state, values.state), problem: "" });
    void takeUp(state);
  }

  /** Returns the untraced programs; of a Jupyter kernel that is gone only the shown one. */
  function untraced(): readonly UntracedView[] {
    if (transport.status() !== "connected") return [];
    const others = [...states.values()].filter((state) => state.workbench !== shown);
    return [...others.flatMap(({ error }) => error ?? []), ...strangers];
  }

  /** Takes the shown tree up in a restarted Jupyter kernel, which knows nothing of it: every step is checked anew. */
  async function takeUp({ workbench: name, variants }: State): Promise<void> {
    const state = lost.get(name);
    lost.delete(name);
    const known = new Set(variants.map(({ key }) => key));
    if (!state || state.variants.every(({ key }) => known.has(key))) return;
    const file: Capsule = { protocol: PROTOCOL, release, state, parts: [] };
    try {
      // Cells that run now act on the shown variant: that stays theirs.
      await request({ type: "load", text: JSON.stringify(file), show: false }, name);
      const shown = state.variants.find(({ key }) => key === state.current);
      change({ notice: { text: `The variants from before are in the tree again; shown was ${shown?.name}.`, failed: false } });
    } catch (problem) {
      const told = problem instanceof Error ? problem.message : String(problem);
      change({ notice: { text: `The variants that were shown could not be taken up: ${told}`, failed: true } });
    }
  }

  function request(asked: Asked, workbench: string): Promise<Done | Saved> {
    const number = ++id;
    if (values.status !== "connected" && values.status !== "saved") {
      if (!cut || asked.type !== "show" || !values.state) return Promise.reject(new Unanswered(values.status));
      const state = { ...values.state, current: asked.variant }; // what is loaded is there to be looked at
      change({ state, selection: fitted(values.selection, state, values.state) });
      return Promise.resolve({ type: "done", id: number, variant: null });
    }
    return new Promise((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      transport.send({ ...asked, id: number, workbench } as Request);
    });
  }

  function show(name: string): void {
    if (name !== shown) selections.set(shown, values.selection);
    const before = name === shown || !shown ? values.selection : (selections.get(name) ?? selection);
    shown = name;
    // The open pane and the tour are the reader's, whatever is shown.
    const { pane, tour } = values.selection;
    const next = { ...before, pane, tour };
    const state = states.get(name) ?? null;
    change({ state, selection: state ? fitted(next, state, null) : next, untraced: untraced(), running: null, problem: "" });
  }

  /** Takes the snapshot of a previewed step for its variant, so that it is not asked for again. */
  function takePreviewed({ key, parent, step }: VariantView): void {
    const name = partKey("snapshot", key, {});
    const value = step && parent !== null && !parts.has(name) && previews.get(parent)?.get(step.source);
    if (value) parts.set(name, { status: "done", value, error: null });
  }

  function keepPreview(variant: string, { step, snapshot }: PreviewView): void {
    const known = previews.get(variant) ?? new Map<string, Snapshot>();
    known.delete(step.source); // the newest last
    if (snapshot) previews.set(variant, known.set(step.source, snapshot));
  }

  function hearPart(number: number, value: unknown, done: boolean): void {
    const want = wanted.get(number);
    if (!want) return;
    if (done) wanted.delete(number);
    const before = parts.get(want.key)?.value ?? null;
    if (want.part === "preview") keepPreview(want.variant, value as PreviewView);
    const status = done ? "done" : "streaming";
    keep(want.key, { status, value: merged(want.part, before, value), error: null });
  }

  function hearFailure(number: number | null, { error }: Extract<Message, { type: "failed" }>): void {
    const want = number === null ? undefined : wanted.get(number);
    if (number !== null && want) {
      wanted.delete(number);
      keep(want.key, { status: "failed", value: null, error });
    } else if (number !== null && waiting.has(number)) {
      waiting.get(number)?.reject(new Error(error.sentence));
      waiting.delete(number);
    } else if (number === null) change({ problem: error.sentence }); // else nobody wants it any more
  }

  /** Asks again on a new connection, greeted by its maker: it knows nothing of earlier requests. */
  function reconnect(): void {
    const status = transport.status();
    if (status === "empty") for (const [name, state] of states) lost.set(name, state);
    if (status === "connected" && cut) {
      for (const { key } of wanted.values()) parts.delete(key);
      wanted.clear();
      states.clear(); // of a Jupyter kernel that was restarted, revisions begin anew
    }
    if (status !== "waiting") cut = status !== "connected"; // what waits is not lost
    if (cut) {
      for (const { reject } of waiting.values()) reject(new Unanswered("disconnected"));
      waiting.clear();
    }
    change({ status, untraced: untraced(), running: status === "connected" ? values.running : null });
  }

  const forget = [transport.onMessage(hear), transport.onStatus(reconnect)];
  if (transport.status() !== "disconnected") transport.send({ type: "hello", protocol: PROTOCOL });

  return {
    transport,
    values: () => values,
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    select(more) {
      change({ selection: { ...values.selection, ...more } });
    },
    part<P extends Part>(part: P, variant: string, given: Arguments): Loaded<Parts[P]> {
      const key = partKey(part, variant, given);
      const there = parts.get(key);
      if (there) return there as Loaded<Parts[P]>;
      if (values.status === "disconnected" || values.status === "empty") return ABSENT;
      const first = values.status === "saved" ? ABSENT : WAITING;
      parts.set(key, first); // an answer that comes at once replaces it
      wanted.set(++id, { key, part, variant });
      transport.send({ type: "want", id, workbench: shown, part, variant, arguments: given });
      return (parts.get(key) ?? first) as Loaded<Parts[P]>;
    },
    known<P extends Part>(part: P, variant: string, given: Arguments): Loaded<Parts[P]> | undefined {
      return parts.get(partKey(part, variant, given)) as Loaded<Parts[P]> | undefined;
    },
    forget(part, variant, given) {
      const key = partKey(part, variant, given);
      for (const [number, want] of wanted) {
        if (want.key !== key || values.status !== "connected") continue;
        wanted.delete(number);
        parts.delete(key);
        transport.send({ type: "forget", id: number });
      }
    },
    foreseen: (variant) => [...(previews.get(variant)?.values() ?? [])].at(-1) ?? null,
    ask: (asked) => request(asked, shown),
    goOn(from) {
      lost.set(from.workbench, from);
      const now = states.get(from.workbench);
      if (now) void takeUp(now);
    },
    say(notice) {
      change({ notice });
    },
    standFor(kernel) {
      if (kernel !== values.kernel) change({ kernel });
    },
    choose: show,
    tools: {},
    destroy() {
      for (const end of forget) end();
      listeners.clear();
    },
  };
}

/** Fits a selection to a state: what is run is so on the default backend until another is chosen, what is undone can be
 * done again, and brushing ends with another variant, as it is of one only. */
function fitted(selection: Selection, state: State, before: State | null): Selection {
  const { current, backend } = state;
  const left = withWayBack(selection.left, before, state);
  const same = selection.backend && left === selection.left;
  const chosen = same ? selection : { ...selection, backend: selection.backend || backend, left };
  const { brushed } = chosen;
  return brushed && brushed.variant !== current ? { ...chosen, brushed: null } : chosen;
}

/** A request that the Jupyter kernel did not answer. */
export class Unanswered extends Error {
  constructor(status: Status) {
    super(UNANSWERED[status]);
  }
}

/** The reason why there is no answer, by status. */
export const UNANSWERED: Readonly<Record<Status, string>> = {
  connected: "",
  saved: "",
  connecting: "The Jupyter kernel does not answer yet.",
  waiting: "The Jupyter kernel does not answer yet, as while a cell runs: try again when it is done.",
  empty: "The Jupyter kernel was restarted: run the notebook's cell again.",
  disconnected: "The Jupyter kernel does not answer: start it and run the notebook's cell again.",
};

function otherRelease(found: number, release: string): string {
  return (
    `The Jupyter kernel runs another release of the workbench (${release}, protocol ${found}; these views ` +
    `speak protocol ${PROTOCOL}). After an update, reload the page and restart the Jupyter kernel.`
  );
}

function savedByAnother(release: string): string {
  return (
    `This was saved by another release of the workbench (${release}), and these views could draw it wrong. ` +
    "Run the cell again to see it."
  );
}
