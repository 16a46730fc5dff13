import { expect, test } from "vitest";
import type { NotebookPanel } from "../../../src/shells/lab/jupyterlab";
import { leaveUnmarked } from "../../../src/shells/lab/stored";

type Slot = (sender: unknown, change: { key: string }) => void;

/** A notebook that is marked as JupyterLab does it: after all have heard of a change. */
function notebook(metadata: Readonly<Record<string, unknown>>) {
  const slots: Slot[] = [];
  const model = {
    dirty: false,
    getMetadata: (key: string) => metadata[key],
    metadataChanged: { connect: (slot: Slot) => slots.push(slot) },
  };
  leaveUnmarked({ context: { ready: Promise.resolve(), model } } as unknown as NotebookPanel);
  return {
    model,
    async change(key: string): Promise<void> {
      await Promise.resolve();
      for (const slot of slots) slot(model, { key });
      model.dirty = true;
      await Promise.resolve();
    },
  };
}

test("a stored notebook is not marked by the Jupyter kernel that starts for it", async () => {
  const { model, change } = notebook({ workbench: { cells: "1" } });
  await change("language_info");
  expect(model.dirty).toBe(false);
  await change("kernelspec");
  expect(model.dirty).toBe(false);
});

test("a stored notebook is marked by its reader, and stays so", async () => {
  const { model, change } = notebook({ workbench: { cells: "1" } });
  await change("tags");
  expect(model.dirty).toBe(true);
  await change("language_info");
  expect(model.dirty).toBe(true);
});

test("another notebook is JupyterLab's", async () => {
  const { model, change } = notebook({});
  await change("language_info");
  expect(model.dirty).toBe(true);
});
