// The actions of views on the notebook beside them.

import { workbenchOf } from "../../model/transports/packed";
import type { InsertedCell, Transport } from "../../model/transports/transport";
import { MIME } from "../mime";
import { addressOf } from "./address";
import type { Cell, CodeEditor, NotebookPanel, Packages } from "./jupyterlab";
import { offersOf } from "./offers";

/** The abilities that a notebook gives to the panel beside it. */
export type Hands = Pick<Transport, "insertCell" | "offers" | "showLine" | "runCell" | "saveNotebook" | "addressOf">;

/** Frames within which an editor that has come into sight draws its lines. */
const PATIENCE = 30;

export function beside(
  panel: NotebookPanel,
  { NotebookActions }: Packages["@jupyterlab/notebook"],
  { Notification }: Packages["@jupyterlab/apputils"],
  activate: (panel: NotebookPanel) => void,
): Hands {
  /** Cells run from here: one that fails has its error in place of the workbench. */
  const known = new Map<string, Cell>();
  return {
    saveNotebook: () => save(panel),
    addressOf: (link) => addressOf(panel, link),
    insertCell: (source) => insert(panel, NotebookActions, source),
    offers: offersOf(panel, NotebookActions),
    showLine(line, text) {
      const cell = cellWith(panel, line, text);
      if (!cell) {
        Notification.info(`No cell has this any more at line ${line}: ${text.trim()}`, { autoClose: 5000 });
        return;
      }
      if (!panel.isVisible) activate(panel); // the workbench may lie over it
      void reveal(panel, cell, line - 1);
    },
    async runCell(workbench, above) {
      const cell = cellShowing(panel, workbench) ?? known.get(workbench);
      if (!cell || !panel.content.widgets.includes(cell)) {
        if (above) return NotebookActions.runAll(panel.content, panel.sessionContext);
        Notification.info(`No cell has ${workbench} in its output: run the one that shows it.`, { autoClose: 5000 });
        return true;
      }
      known.set(workbench, cell);
      const { content, sessionContext } = panel;
      const go = (): void => {
        content.deselectAll();
        content.activeCellIndex = content.widgets.indexOf(cell);
      };
      go();
      void content.scrollToCell(cell, "smart");
      if (above && content.activeCellIndex > 0 && !(await NotebookActions.runAllAbove(content, sessionContext))) return false;
      go();
      return NotebookActions.run(content, sessionContext);
    },
  };
}

/** Puts text into a cell of its own, and can run it. */
export function insert(
  { content, sessionContext }: NotebookPanel,
  NotebookActions: Packages["@jupyterlab/notebook"]["NotebookActions"],
  source: string,
): InsertedCell {
  const active = content.activeCell;
  const isEmpty = active?.model.type === "code" && active.model.sharedModel.getSource().trim() === "";
  if (!isEmpty) NotebookActions.insertBelow(content);
  const cell = content.activeCell;
  cell?.model.sharedModel.setSource(source.trimEnd());
  void content.scrollToItem(content.activeCellIndex, "center"); // `scrollToCell` takes the focus from who asks for it
  const isThere = (): boolean => cell !== null && content.widgets.includes(cell);
  return {
    isThere,
    async run() {
      if (!cell || !isThere()) return false;
      content.deselectAll();
      content.activeCellIndex = content.widgets.indexOf(cell);
      await sessionContext.ready; // a notebook that was just made starts its Jupyter kernel
      return NotebookActions.run(content, sessionContext);
    },
  };
}

const saving = new WeakSet<NotebookPanel>();

/** Saves the notebook, but not during a save: JupyterLab would take its own file for one that another changed. */
export function save(panel: NotebookPanel): void {
  if (saving.has(panel)) return;
  saving.add(panel);
  void panel.context.save().finally(() => saving.delete(panel));
}

/** Finds the cell that has the text at that line; of several, the one nearest to the active cell. */
function cellWith(panel: NotebookPanel, line: number, text: string): Cell | undefined {
  const { widgets, activeCellIndex } = panel.content;
  const far = (cell: Cell): number => Math.abs(widgets.indexOf(cell) - activeCellIndex);
  return widgets
    .filter((cell) => cell.model.sharedModel.getSource().split("\n")[line - 1]?.trim() === text.trim())
    .sort((one, other) => far(one) - far(other))[0];
}

/** Finds the last cell that has the workbench in its output. */
const cellShowing = (panel: NotebookPanel, workbench: string): Cell | undefined =>
  [...panel.content.widgets].reverse().find((cell) => savedBy(cell).some((saved) => workbenchOf(saved) === workbench));

/** Lists the workbenches in a cell's output, the last first. */
function savedBy({ model: { outputs } }: Cell): readonly unknown[] {
  const all = Array.from({ length: outputs?.length ?? 0 }, (_, position) => outputs?.get(position).data[MIME]);
  return all.filter((saved) => saved !== undefined).reverse();
}

async function reveal(panel: NotebookPanel, cell: Cell, line: number): Promise<void> {
  const notebook = panel.content;
  await nextFrame(); // a notebook that has just come into sight has its size then
  notebook.activeCellIndex = notebook.widgets.indexOf(cell);
  await notebook.scrollToCell(cell, "center");
  await cell.ready;
  const { editor } = cell;
  if (!editor) return;
  editor.revealPosition({ line, column: 0 });
  const place = await placeOf(editor, line);
  if (!place) return;
  const outer = editor.host.getBoundingClientRect();
  // The editor's own lines are CodeMirror's: the mark lies over them until it has been seen.
  const mark = document.createElement("div");
  mark.className = "wbk-line-mark";
  mark.style.cssText =
    `position: absolute; left: 0; right: 0; top: ${place.top - outer.top}px; ` +
    `height: ${place.bottom - place.top}px; pointer-events: none; z-index: 5; ` +
    "background: var(--jp-brand-color1); opacity: 0.35";
  if (getComputedStyle(editor.host).position === "static") editor.host.style.position = "relative";
  editor.host.append(mark);
  await mark.animate([{ opacity: 0.45 }, { opacity: 0.35, offset: 0.5 }, { opacity: 0 }], 2200).finished;
  mark.remove();
}

const nextFrame = (): Promise<unknown> => new Promise(requestAnimationFrame);

/** Returns the place of a line as soon as its editor has drawn it; null where it does not within some frames. */
async function placeOf(editor: CodeEditor, line: number): Promise<DOMRect | null> {
  for (let frame = 0; frame < PATIENCE; frame++) {
    const place = editor.getCoordinateForPosition({ line, column: 0 });
    if (place) return place;
    await nextFrame();
  }
  return null;
}

/** Returns a workbench in the notebook's outputs: one in the cell of `output` before others, then the last of that
 * name, then the last; null where there is none. */
export function savedIn(panel: NotebookPanel, output: HTMLElement | null, name: string | undefined): unknown {
  const last = [...panel.content.widgets].reverse();
  const [own] = last.filter((cell) => output !== null && cell.node.contains(output)).flatMap(savedBy);
  const all = last.flatMap(savedBy);
  return own ?? all.find((saved) => workbenchOf(saved) === name) ?? all[0] ?? null;
}
