// Our part of a notebook's metadata.

import type { NotebookModel } from "./jupyterlab";

const KEY = "workbench";

export type Ours = Readonly<Record<string, unknown>>;

export function oursIn(model: NotebookModel): Ours {
  const found = model.getMetadata(KEY);
  return typeof found === "object" && found !== null ? (found as Ours) : {};
}

/** Sets some of it; the rest stays. */
export function setOurs(model: NotebookModel, more: Ours): void {
  model.setMetadata(KEY, { ...oursIn(model), ...more });
}
