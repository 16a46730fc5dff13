// What the panel showed of a notebook when that was saved, for when it is opened again.

import type { NotebookPanel } from "./jupyterlab";
import { oursIn, setOurs } from "./metadata";

export interface LastShown {
  readonly workbench: string;
  readonly variant: string;
}

export function lastShown({ context }: NotebookPanel): LastShown | null {
  const { workbench, variant } = (oursIn(context.model)["shown"] ?? {}) as Readonly<Record<string, unknown>>;
  return typeof workbench === "string" && typeof variant === "string" ? { workbench, variant } : null;
}

/** Notes what is `shown` in the notebook each time that it is saved; the result ends that. */
export function noteShown(notebook: NotebookPanel, shown: () => LastShown | null): () => void {
  const { model, saveState } = notebook.context;
  const note = (_: unknown, happens: string): void => {
    const now = happens === "started" ? shown() : null;
    const before = lastShown(notebook);
    if (now && (now.workbench !== before?.workbench || now.variant !== before.variant)) setOurs(model, { shown: now });
  };
  saveState.connect(note);
  return () => void saveState.disconnect(note);
}
