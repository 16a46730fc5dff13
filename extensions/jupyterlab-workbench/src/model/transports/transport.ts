// The transport between views and a workbench, in Python or saved. Shells bring their own.

import type { Message, Request } from "../../protocol";

/** `empty`: the Jupyter kernel has no workbench yet. `waiting`: it takes long to answer, as while it runs a cell.
 * `saved`: there is only the file's content. */
export type Status = "connecting" | "waiting" | "empty" | "connected" | "disconnected" | "saved";

/** The panel beside a notebook, as a workbench in the notebook's output knows it. */
export interface PanelBeside {
  /** Tells whether it is in sight and shows this workbench, live. */
  shows(workbench: string): boolean;
  /** Calls back when that may have changed; the result ends that. */
  onChange(changed: () => void): () => void;
}

/** A cell that was put into the notebook. */
export interface InsertedCell {
  /** Tells whether the notebook still has it. */
  isThere(): boolean;
  /** Runs it; resolves to whether it ran to its end. */
  run(): Promise<boolean>;
}

/** A program in a variable of the notebook, with the cell that shows its workbench once the arguments that are
 * missing there are filled in. */
export interface Offer {
  readonly name: string;
  readonly cell: string;
  readonly missing: readonly string[];
}

/** The programs in the notebook's variables. */
export interface Offers {
  /** Resolves once the Jupyter kernel is free; to nothing where it cannot tell. */
  find(): Promise<readonly Offer[]>;
  /** Calls back when a cell has run to its end; the result ends that. */
  onChange(changed: () => void): () => void;
}

/** A connection. Its maker greets, again after each `disconnected` or `empty`. */
export interface Transport {
  send(request: Request): void;
  /** Calls back with every message; the result ends that. */
  onMessage(heard: (message: Message) => void): () => void;
  status(): Status;
  onStatus(changed: () => void): () => void;
  /** Puts text into a new cell below the active one, or into that one where it is empty; absent without a notebook. */
  readonly insertCell?: (source: string) => InsertedCell;
  /** What the notebook could show; absent without one. */
  readonly offers?: Offers;
  /** Shows the cell that has the text at that line; absent without a notebook. */
  readonly showLine?: (line: number, text: string) => void;
  /** Runs the cell that shows the workbench, with `above` all cells before it first, and all there are where none shows
   * it; absent without a notebook. */
  readonly runCell?: (workbench: string, above: boolean) => Promise<boolean>;
  /** Opens the workbench's panel beside the notebook; absent without one, and in the panel itself. */
  readonly openPanel?: (workbench: string) => void;
  /** Returns the address under which a link opens; absent where nothing opens one. */
  readonly addressOf?: (link: string) => string;
  /** The panel beside the notebook; absent without one, and in the panel itself. */
  readonly panel?: PanelBeside;
  /** Saves the notebook; absent without one. */
  readonly saveNotebook?: () => void;
}
