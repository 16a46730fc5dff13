// What all views of one workbench are functions of: its state, its parts, the selection. Immutable values that are
// replaced; whoever subscribes hears of it.

import type { Done, Message, Part, Request, Running, Saved, State } from "../protocol";
import { PROTOCOL } from "../protocol";
import { ABSENT, type Arguments, type Loaded, merged, partKey, type Parts, WAITING } from "./parts";
import { INITIAL, type Selection } from "./selection";
import type { Status, Transport } from "./transport";

export interface Values {
  readonly status: Status;
  /** Null until the first has come. */
  readonly state: State | null;
  readonly selection: Selection;
  /** Where the running program is; null while none runs. */
  readonly running: Running | null;
  /** Why nothing can be shown: another release, a message that cannot be read. */
  readonly problem: string;
  /** Grows with every part that comes. */
  readonly loaded: number;
}

/** A request without the number by which its answer is known. */
export type Asked<R = Request> = R extends { id: number } ? Omit<R, "id" | "workbench"> : never;

export interface Store {
  values(): Values;
  subscribe(changed: () => void): () => void;
  select(change: Partial<Selection>): void;
  /** A part, asked for where it is not there. The same object as long as nothing new came of it. */
  part<P extends Part>(part: P, variant: string, given: Arguments): Loaded<Parts[P]>;
  /** Ends in an Error with the sentence where the request cannot be met. */
  ask(request: Asked): Promise<Done | Saved>;
  readonly transport: Transport;
  destroy(): void;
}

interface Waiting {
  readonly resolve: (answer: Done | Saved) => void;
  readonly reject: (error: Error) => void;
}

/** `workbench` names the one to show; "" for the one that was shown last. */
export function createStore(transport: Transport, workbench = ""): Store {
  const listeners = new Set<() => void>();
  const parts = new Map<string, Loaded<unknown>>();
  const wanted = new Map<number, { key: string; part: Part }>();
  const waiting = new Map<number, Waiting>();
  let id = 0;
  let shown = workbench;
  let values: Values = {
    status: transport.status(),
    state: null,
    selection: INITIAL,
    running: null,
    problem: "",
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
        if (message.protocol !== PROTOCOL) change({ problem: otherRelease(message.protocol) });
        break;
      case "state":
        hearState(message.state);
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

  function hearState(state: State): void {
    if (!shown) shown = state.workbench;
    if (state.workbench !== shown) return;
    const before = values.state;
    if (before && state.revision <= before.revision) return;
    change({ state, problem: "" });
  }

  function hearPart(number: number, value: unknown, done: boolean): void {
    const want = wanted.get(number);
    if (!want) return;
    if (done) wanted.delete(number);
    const before = parts.get(want.key)?.value ?? null;
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
    } else change({ problem: error.sentence });
  }

  /** A new connection knows nothing of what was asked for on the old one. */
  function reconnect(): void {
    const status = transport.status();
    if (status === "connected" && values.status !== "connected") {
      for (const { key } of wanted.values()) parts.delete(key);
      wanted.clear();
      if (values.state) values = { ...values, state: { ...values.state, revision: -1 } };
      transport.send({ type: "hello", protocol: PROTOCOL });
    }
    if (status === "disconnected") {
      for (const { reject } of waiting.values()) reject(new Error("The Jupyter kernel is gone."));
      waiting.clear();
    }
    change({ status, running: status === "connected" ? values.running : null });
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
      if (values.status === "disconnected") return ABSENT;
      const first = values.status === "saved" ? ABSENT : WAITING;
      parts.set(key, first); // an answer that comes at once replaces it
      wanted.set(++id, { key, part });
      transport.send({ type: "want", id, workbench: shown, part, variant, arguments: given });
      return (parts.get(key) ?? first) as Loaded<Parts[P]>;
    },
    ask(request) {
      if (values.status === "saved") return Promise.reject(new Error(SAVED));
      const number = ++id;
      return new Promise((resolve, reject) => {
        waiting.set(number, { resolve, reject });
        transport.send({ ...request, id: number, workbench: shown } as Request);
      });
    },
    destroy() {
      for (const end of forget) end();
      listeners.clear();
    },
  };
}

const SAVED = "This is a saved workbench: run the notebook's cell to change something.";

function otherRelease(found: number): string {
  return (
    `This workbench speaks another release's language (protocol ${found}; these views speak ${PROTOCOL}). ` +
    "Reload the page after an update, and restart the Jupyter kernel."
  );
}
