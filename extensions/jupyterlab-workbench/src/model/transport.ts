// How views speak with a workbench in Python, or with a saved one. Shells bring their own.

import type { Message, Request } from "../protocol";

/** `empty`: the Jupyter kernel has no workbench yet. `waiting`: it takes long to answer, as while it runs a cell.
 * `saved`: there is no more than what the file holds. */
export type Status = "connecting" | "waiting" | "empty" | "connected" | "disconnected" | "saved";

/** Who makes a connection greets, again after each `disconnected` or `empty`. */
export interface Transport {
  send(request: Request): void;
  /** Calls back with every message; the result ends that. */
  onMessage(heard: (message: Message) => void): () => void;
  status(): Status;
  onStatus(changed: () => void): () => void;
  /** Puts text into a new cell below the active one; absent where there is no notebook. */
  readonly insertCell?: (source: string) => void;
  /** Shows the cell that has the text at that line; absent where there is no notebook. */
  readonly showLine?: (line: number, text: string) => void;
  /** Runs the cell that shows the workbench, with `above` all cells before it first; absent where there is no
   * notebook. */
  readonly runCell?: (workbench: string, above: boolean) => Promise<void>;
  /** Opens the workbench's panel beside the notebook; absent where there is none or this is in it. */
  readonly openPanel?: (workbench: string) => void;
  /** Saves the notebook; absent where there is none. */
  readonly saveNotebook?: () => void;
}
