import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { NotebookPanel, Packages } from "../../../src/shells/lab/jupyterlab";
import { beside } from "../../../src/shells/lab/notebook";

const NOTEBOOK = { NotebookActions: {} } as unknown as Packages["@jupyterlab/notebook"];
const APPUTILS = { Notification: { info: vi.fn() } } as unknown as Packages["@jupyterlab/apputils"];
const LINE = { top: 10, bottom: 24 };

const finished = Promise.resolve();
beforeEach(() => Object.assign(Element.prototype, { animate: () => ({ finished }) }));
afterEach(() => Reflect.deleteProperty(Element.prototype, "animate"));

/** A notebook of one cell. Its editor draws the lines some frames after it has come into sight, or never. */
function notebook(isVisible: boolean, frames: number) {
  const host = document.createElement("div");
  const marks: string[] = [];
  host.append = (mark) => void marks.push((mark as HTMLElement).style.top);
  const cell = {
    ready: Promise.resolve(),
    model: { sharedModel: { getSource: () => "x = 1\ny = 2" } },
    editor: {
      host,
      revealPosition: vi.fn(),
      getCoordinateForPosition: () => (panel.isVisible && --frames < 0 ? LINE : null),
    },
  };
  const scrolledTo = vi.fn(() => Promise.resolve());
  const content = { widgets: [cell], activeCellIndex: -1, scrollToCell: scrolledTo };
  const panel = { isVisible, content };
  const activate = vi.fn(() => void (panel.isVisible = true));
  const hands = beside(panel as unknown as NotebookPanel, NOTEBOOK, APPUTILS, activate);
  return { hands, activate, marks, scrolledTo, reveal: cell.editor.revealPosition };
}

test("a line in a notebook out of sight is shown once the notebook is in sight", async () => {
  const { hands, activate, marks, scrolledTo } = notebook(false, 3);
  hands.showLine?.(2, "y = 2");
  await vi.waitFor(() => expect(marks).toEqual(["10px"]));
  expect(activate).toHaveBeenCalledTimes(1);
  expect(scrolledTo).toHaveBeenCalledTimes(1);
});

test("a notebook in sight is left where it is", async () => {
  const { hands, activate, marks } = notebook(true, 0);
  hands.showLine?.(1, "x = 1");
  await vi.waitFor(() => expect(marks).toEqual(["10px"]));
  expect(activate).not.toHaveBeenCalled();
});

test("a line that is never drawn has no mark", async () => {
  const { hands, marks, reveal } = notebook(true, Infinity);
  hands.showLine?.(1, "x = 1");
  await vi.waitFor(() => expect(reveal).toHaveBeenCalled());
  await new Promise((done) => setTimeout(done, 800)); // as long as its place is looked for
  expect(marks).toEqual([]);
});
