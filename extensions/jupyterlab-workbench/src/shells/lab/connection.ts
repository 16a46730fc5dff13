// The connection of one notebook's Jupyter kernel with its workbenches, through restarts and lost networks.

import { type Message, PROTOCOL, type Request } from "../../protocol";
import type { Status, Transport } from "../../model/transport";
import type { Comm, Kernel, SessionContext } from "./jupyterlab";

export const TARGET = "workbench";

export interface Connection {
  readonly transport: Transport;
  /** Asks the Jupyter kernel for its workbenches even where it seems to have none. */
  ask(): void;
  dispose(): void;
}

/** A Jupyter kernel that ends or restarts meanwhile does not answer; that it did is heard otherwise. */
async function hasComm(kernel: Kernel): Promise<boolean> {
  try {
    const { content } = await kernel.requestCommInfo({ target_name: TARGET });
    return Object.keys(content.comms ?? {}).length > 0;
  } catch {
    return false;
  }
}

/** `shown` is called when a cell shows a workbench. */
export function connect(
  session: SessionContext,
  more: Pick<Transport, "insertCell" | "showLine">,
  shown: () => void,
): Connection {
  const listeners = new Set<(message: Message) => void>();
  const watchers = new Set<() => void>();
  let status: Status = "connecting";
  let kernel: Kernel | null = null;
  let comm: Comm | null = null;
  let restarting = false;

  function become(next: Status): void {
    if (next === status) return;
    status = next;
    for (const watcher of [...watchers]) watcher();
  }

  /** Goes on with this comm, whoever opened it. */
  function adopt(opened: Comm): void {
    if (comm && comm !== opened && !comm.isDisposed) comm.close();
    comm = opened;
    opened.onMsg = ({ content }) => {
      if (comm !== opened) return;
      become("connected");
      const message = content.data as Message;
      for (const listener of [...listeners]) listener(message);
      if (message.type === "state" && message.open) shown();
    };
    opened.onClose = () => {
      if (comm !== opened) return;
      comm = null;
      become("empty");
    };
  }

  /** Python opened a comm: it waits for a view to greet it. */
  const opened = (one: Comm): void => {
    adopt(one);
    greet();
  };

  const greet = (): void => void comm?.send({ type: "hello", protocol: PROTOCOL } satisfies Request);

  /** A Jupyter kernel that never heard of the workbench closes the comm again. */
  function open(): void {
    if (!kernel || kernel.isDisposed || (comm && !comm.isDisposed)) return;
    const made = kernel.createComm(TARGET);
    adopt(made);
    made.open();
    greet();
  }

  /** After a reload of the page, Python still has the comm of the page before. */
  async function resume(): Promise<void> {
    const asked = kernel;
    if (!asked || comm) return;
    const there = await hasComm(asked);
    if (asked !== kernel || comm || asked.isDisposed) return;
    if (there) open();
    else become("empty");
  }

  function drop(next: Status): void {
    comm?.dispose();
    comm = null;
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
    if (from.connectionStatus === "disconnected") become("disconnected");
    else if (from.connectionStatus === "connected" && status === "disconnected") greet();
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
    transport: {
      ...more,
      send(request) {
        if (comm && !comm.isDisposed) comm.send(request);
      },
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
      attach(null);
      listeners.clear();
      watchers.clear();
    },
  };
}
