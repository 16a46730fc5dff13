// The interface of the views' bundle to the shells that load it when they need it.

import type { Drawn, Options } from "../workbench";
import type { Store } from "../model/store";
import type { Beside } from "../model/transports/saved";
import type { Transport } from "../model/transports/transport";

export interface DrawnSaved {
  /** Goes on with a newer saved workbench. */
  renew(saved: unknown): void;
  takeDown(): void;
}

/** The actions of a notebook's output on the notebook. */
export type InNotebook = Pick<Transport, "openPanel" | "panel" | "saveNotebook" | "addressOf">;

export interface Views {
  follow(store: Store, link: string, calm?: () => boolean): () => void;
  draw(host: HTMLElement, transport: Transport, options?: Options): Drawn;
  drawSaved(host: HTMLElement, saved: unknown, options?: Options, more?: Beside): Drawn;
  renderSaved(element: HTMLElement, saved: unknown, more?: InNotebook): DrawnSaved;
}
