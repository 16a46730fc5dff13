// How views speak with a workbench in Python, or with a saved one. Shells bring their own.

import type { Message, Request } from "../protocol";

/** `saved`: nothing can be asked for but what the file holds. */
export type Status = "connecting" | "connected" | "disconnected" | "saved";

export interface Transport {
  send(request: Request): void;
  /** Calls back with every message; the result ends that. */
  onMessage(heard: (message: Message) => void): () => void;
  status(): Status;
  onStatus(changed: () => void): () => void;
  /** Puts text into a new cell below the active one; absent where there is no notebook. */
  readonly insertCell?: (source: string) => void;
  /** Shows a line of the notebook or of a file; absent where that cannot be done. */
  readonly showLine?: (file: string, line: number, text: string) => void;
}
