// The keys of the workbench, in a dialog that `?` opens, and those that work wherever the focus is.

import { useCallback, useRef } from "react";
import { useTool } from "../model/hooks";
import type { Store } from "../model/store";
import { type ActionName, actions } from "./actions";

/** The name of the key that goes with letters: Control, on a Mac Command. */
const control = (): string => (navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl");

type Entry = readonly [keys: string, does: string];

const groups = (): readonly { readonly title: string; readonly entries: readonly Entry[] }[] => [
  {
    title: "Everywhere",
    entries: [
      ["?", "shows these keys"],
      ["/", "searches statements"],
      ["P", "goes from the graph to the open pane"],
      [`${control()} Z`, "undoes the last step"],
      [`${control()} Shift Z`, "takes the step again that was undone"],
      [`${control()} S`, "saves the notebook"],
      ["Esc", "leaves a menu, an open step, a search"],
    ],
  },
  {
    title: "Graph",
    entries: [
      ["← ↑ ↓ →", "go from box to box"],
      ["Enter", "selects a box, opens a closed scope"],
      ["Shift Enter", "selects one more"],
      ["C", "closes the scope around a box"],
      ["E", "reads the arrows of a box, one after the other; Shift E goes back"],
      ["Enter", "goes to the other end of the arrow that was read"],
      ["+ −", "zoom"],
      ["F", "shows the whole graph"],
      ["Esc", "selects nothing"],
    ],
  },
  {
    title: "Search",
    entries: [
      ["Enter", "goes to the next hit"],
      ["Shift Enter", "goes to the one before"],
      ["Esc", "clears the text, and without one goes to the graph"],
    ],
  },
  {
    title: "Panes",
    entries: [
      ["← ↑ ↓ →", "go from tab to tab, and from move to move"],
      ["← ↑ ↓ →", "move the bar between graph and pane"],
      ["Esc", "goes back from an open step to the moves"],
    ],
  },
  {
    title: "Play",
    entries: [
      ["Space", "plays and stops"],
      ["← →", "go to the event before, to the next"],
      ["Home End", "go to the first event, to the last"],
    ],
  },
  {
    title: "Tour",
    entries: [
      ["← →", "go to the stop before, to the next"],
      ["Esc", "leaves it, to go on later"],
    ],
  },
];

/** A dialog that is shut at first. */
export function Keys(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useTool("keys", useCallback(() => dialog.current?.showModal(), []));
  const shut = (): void => dialog.current?.close();
  return (
    <dialog
      className="wbk-dialog"
      aria-label="Keys"
      ref={dialog}
      onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => {
        if (event.target === dialog.current) shut(); // beside what it holds
      }}
    >
      <div className="wbk-dialog-content">
        <div className="wbk-dialog-head">
          <h3>Keys</h3>
          <button className="wbk-icon" type="button" aria-label="Close" title="Close (Esc)" onClick={shut}>
            ×
          </button>
        </div>
        <div className="wbk-key-groups">
          {groups().map(({ title, entries }) => (
            <section key={title}>
              <h4>{title}</h4>
              <dl>
                {entries.map(([keys, does]) => (
                  <div key={`${keys} ${does}`}>
                    <dt>
                      {keys.split(" ").map((key) => (
                        <kbd key={key}>{key}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
    </dialog>
  );
}

const TYPED = "input, textarea, select, dialog, [contenteditable='true']";

/** Does what a key means wherever the focus is in `root`, unless it is typed into a field. */
export function pressed(event: KeyboardEvent, store: Store, root: HTMLElement): void {
  if (event.target instanceof Element && event.target.closest(TYPED)) return;
  const name = meaning(event);
  const action = name && actions(store, root).find((one) => one.name === name);
  if (!action || action.refused) return;
  event.preventDefault();
  action.run();
}

/** What keys mean without Control. */
const PLAIN: Readonly<Record<string, ActionName>> = { "?": "keys", "/": "search", p: "pane" };

function meaning({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): ActionName | null {
  if (altKey) return null;
  if (!ctrlKey && !metaKey) return PLAIN[key] ?? null;
  if (key.toLowerCase() === "z") return shiftKey ? "redo" : "undo";
  return key === "y" ? "redo" : null;
}
