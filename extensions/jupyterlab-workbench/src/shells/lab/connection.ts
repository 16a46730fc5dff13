// The connection of one notebook's Jupyter kernel with its workbenches, through restarts and lost networks.

import { type Message, PROTOCOL, type Request } from "../../protocol";
import type { Status, Transport } from "../../model/transports/transport";
import type { Comm, Kernel, SessionContext } from "./jupyterlab";
import type { Hands } from "./notebook";

export const TARGET = "workbench";

/** Milliseconds that a Jupyter kernel may take to answer before a saved workbench is shown in its place. */
const PROMPT = 1000;

export interface Connection {
  readonly transport: Transport;
  readonly hands: Hands;
  /** Asks the Jupyter kernel for its workbenches even where it seems to have none. */
  ask(): void;
  dispose(): void;
}

/** Tells whether Python has the comm. A Jupyter kernel that ends or restarts meanwhile does not answer; that is heard
 * otherwise. */
async function hasComm(kernel: Kernel): Promise<boolean> {
  try {
    const { content } = await kernel.requestCommInfo({ target_name: TARGET });
    return Object.keys(content.comms ?? {}).length > 0;
  } catch {
    return false;
  }
}

/** Connects a notebook. `shown` is called when a cell shows a workbench. */
export function connect(
  session: SessionContext,
  hands: Hands,
  shown: () => void,
): Connection {
  const listeners = new Set<(message: Message) => void>();
  const watchers = new Set<() => void>();
  let status: Status = "connecting";
  let kernel: Kernel | null = null;
  let comm: Comm | null = null;
  let restarting = false;
  let [unanswered, timer] = [0, 0];

  function become(next: Status): void {
    if (next === status) return;
    status = next;
    for (const watcher of [...watchers]) watcher();
  }

  /** Waits for an answer that all else waits for. Where messages go to the thread of the cells, a running cell keeps
   * the answer back. The kernel's status does not tell: the work of other threads makes it idle meanwhile. */
  function awaitAnswer(): void {
    unanswered += 1;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (unanswered) become("waiting");
    }, PROMPT);
  }

  /** Goes on with this comm, whoever opened it. */
  function adopt(opened: Comm): void {
    if (comm && comm !== opened && !comm.isDisposed) comm.close();
    comm = opened;
    unanswered = 0;
    opened.onMsg = ({ content }) => {
      if (comm !== opened) return;
      const message = content.data as Message;
      // Each greeting has its own: a late one answers an earlier. Greetings from before a lost network may come after
      // it.
      if (message.type === "welcome" && unanswered) unanswered -= 1;
      if (!unanswered || status !== "waiting") become("connected"); // what a cell says on its way is no answer
      for (const listener of [...listeners]) listener(message);
      if (message.type === "state" && message.open) shown();
    };
    opened.onClose = () => {
      if (comm === opened) drop("empty"); // what was asked for on it is not answered any more
    };
  }

  /** Takes a comm that Python opened: it waits for a view to greet it. */
  const opened = (one: Comm): void => {
    adopt(one);
    greet();
  };

  const greet = (): void => send({ type: "hello", protocol: PROTOCOL });

  function send(request: Request): void {
    if (!comm || comm.isDisposed) return;
    if (request.type === "hello") awaitAnswer();
    comm.send(request);
  }

  /** Opens a comm. A Jupyter kernel that never heard of the workbench closes it again. */
  function open(): void {
    if (!kernel || kernel.isDisposed || (comm && !comm.isDisposed)) return;
    const made = kernel.createComm(TARGET);
    adopt(made);
    made.open();
    greet();
  }

  /** Takes up the comm of the page before a reload: Python still has it. */
  async function resume(): Promise<void> {
    const asked = kernel;
    if (!asked || comm) return;
    awaitAnswer();
    const there = await hasComm(asked);
    if (asked !== kernel || comm || asked.isDisposed) return;
    if (there) open();
    else drop("empty");
  }

  function drop(next: Status): void {
    comm?.dispose();
    comm = null;
    unanswered = 0;
    become(next);
  }

  function heardStatus(from: Kernel): void {
    if (from !== kernel) return;
    switch (from.status) {
      case "restarting":
      case "autorestarting":
        restarting = true;
        drop("empty");
        break;
      case "idle":
        if (restarting) {
          restarting = false;
          void resume();
        }
        break;
      case "dead":
      case "terminating":
        drop("disconnected");
    }
  }

  function heardConnection(from: Kernel): void {
    if (from !== kernel || !comm) return;
    if (from.connectionStatus === "disconnected") {
      unanswered = 0;
      become("disconnected");
    } else if (from.connectionStatus === "connected" && status === "disconnected") greet();
  }

  const gone = (from: Kernel): void => {
    if (from === kernel) attach(null);
  };

  function attach(next: Kernel | null): void {
    if (kernel && !kernel.isDisposed) {
      kernel.removeCommTarget(TARGET, opened);
      kernel.statusChanged.disconnect(heardStatus);
      kernel.connectionStatusChanged.disconnect(heardConnection);
      kernel.disposed.disconnect(gone);
    }
    kernel = next;
    drop(next ? "connecting" : "disconnected");
    if (!next) return;
    next.registerCommTarget(TARGET, opened);
    next.statusChanged.connect(heardStatus);
    next.connectionStatusChanged.connect(heardConnection);
    next.disposed.connect(gone);
    void resume();
  }

  const changed = (_: SessionContext, { newValue }: { newValue: Kernel | null }): void => attach(newValue);
  session.kernelChanged.connect(changed);
  void session.ready.then(() => {
    if (kernel === null) attach(session.session?.kernel ?? null);
  });
  if (session.session?.kernel) attach(session.session.kernel);

  return {
    hands,
    transport: {
      ...hands,
      send,
      onMessage(heard) {
        listeners.add(heard);
        return () => listeners.delete(heard);
      },
      status: () => status,
      onStatus(watcher) {
        watchers.add(watcher);
        return () => watchers.delete(watcher);
      },
    },
    ask: open,
    dispose() {
      session.kernelChanged.disconnect(changed);
      window.clearTimeout(timer);
      attach(null);
      listeners.clear();
      watchers.clear();
    },
  };
}
