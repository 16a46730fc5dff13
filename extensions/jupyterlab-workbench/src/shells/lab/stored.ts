// Notebooks whose outputs are stored, as ours are, with pictures in place of workbenches.

import type { NotebookPanel } from "./jupyterlab";
import { oursIn } from "./metadata";

/** What JupyterLab notes in a notebook of the Jupyter kernel that was started for it. */
const OF_KERNEL: ReadonlySet<string> = new Set(["kernelspec", "language_info"]);

/** Keeps a stored notebook that is opened from being marked as unsaved: that a Python of another version was started
 * for it is no change by its reader. Other changes count as ever. */
export function leaveUnmarked({ context }: NotebookPanel): void {
  void context.ready.then(() => {
    const { model } = context;
    if (oursIn(model)["cells"] === undefined) return; // a hash of them, made with the outputs
    model.metadataChanged.connect((_, { key }) => {
      if (model.dirty || !OF_KERNEL.has(key)) return;
      // JupyterLab marks it once all are told.
      queueMicrotask(() => {
        model.dirty = false;
      });
    });
  });
}
