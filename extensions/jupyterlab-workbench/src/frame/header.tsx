// The header: the shown variant, its steps, and the actions on the whole workbench.

import { useRef } from "react";
import { useCurrent, useSelection, useStore, useValues, useWorkbench } from "../model/hooks";
import { next } from "../model/lineage";
import type { Status } from "../model/transports/transport";
import type { Running } from "../protocol";
import { type Action, type ActionName, actions, perform } from "./actions";
import { StartTour } from "../tour/start";
import { Menu } from "./menu";
import { ReportForm } from "./report";
import { Steps } from "./step-trail";

export function Header(): JSX.Element {
  const store = useStore();
  const { status, running } = useValues();
  const header = useRef<HTMLElement>(null);
  const { openPanel } = store.transport;
  const { workbench, error } = useWorkbench();
  const all = (): readonly Action[] => {
    const root = header.current?.closest<HTMLElement>(".wbk-root");
    return root ? actions(store, root) : [];
  };
  return (
    <header className="wbk-header" ref={header}>
      <Name />
      <Steps />
      {running && <Now running={running} />}
      <StatusMark status={status} inNotebook={openPanel !== undefined} older={error !== null} />
      <div className="wbk-head-buttons">
        {openPanel && (
          <button className="wbk-button" type="button" onClick={() => openPanel(workbench)} title="Open the workbench beside the notebook">
            Open
          </button>
        )}
        <Undo />
        <Redo />
        <StartTour />
        <Menu label="Save" items={() => grouped(all())} />
        <KeysButton />
      </div>
      <ReportForm />
    </header>
  );
}

function KeysButton(): JSX.Element {
  const { tools } = useStore();
  return (
    <button className="wbk-button wbk-keys-button" type="button" title="Keys (?)" aria-label="Keys ?" onClick={() => tools.keys?.()}>
      ?
    </button>
  );
}

const MENU: readonly (readonly ActionName[])[] = [
  ["report", "copy-link"],
  ["save-page", "save-state", "load-state"],
  ["save-svg", "print"],
  ["insert-recipe", "copy-recipe"],
];

function grouped(all: readonly Action[]): readonly (readonly Action[])[] {
  return MENU.map((names) => all.filter((action) => names.includes(action.name)));
}

function Name(): JSX.Element {
  const store = useStore();
  const { workbenches } = useValues();
  const { name, workbench } = useWorkbench();
  if (workbenches.length < 2) return <h2 className="wbk-title" title={name}>{name}</h2>;
  return (
    <select
      className="wbk-title wbk-choice"
      aria-label="Program"
      value={workbench}
      onChange={(event) => store.choose(event.target.value)}
    >
      {[...workbenches].sort().map((one) => (
        <option key={one} value={one}>
          {one === workbench ? name : one}
        </option>
      ))}
    </select>
  );
}

function Undo(): JSX.Element {
  const store = useStore();
  const { status } = useValues();
  const { parent, name } = useCurrent();
  const answers = status !== "connecting" && status !== "waiting";
  return (
    <button
      className="wbk-button"
      type="button"
      disabled={parent === null || !answers}
      title={parent === null ? "This is the program as written" : `Undo: ${name}`}
      onClick={() => void perform(store, () => store.ask({ type: "show", variant: parent ?? "" }))}
    >
      Undo
    </button>
  );
}

function Redo(): JSX.Element {
  const store = useStore();
  const { status } = useValues();
  const again = next(useSelection().left, useWorkbench());
  const answers = status !== "connecting" && status !== "waiting";
  return (
    <button
      className="wbk-button"
      type="button"
      disabled={!again || !answers}
      title={again ? `Redo: ${again.name}` : "No step was undone here"}
      onClick={() => void perform(store, () => store.ask({ type: "show", variant: again?.key ?? "" }))}
    >
      Redo
    </button>
  );
}

/** The running variant and its progress, with a way to show it. */
function Now({ running }: { running: Running }): JSX.Element {
  const store = useStore();
  const { variants, current } = useWorkbench();
  const found = variants.find(({ key }) => key === running.variant);
  const loops = running.loops.map(([name, value, count]) => `${name} ${value} of ${count}`).join(", ");
  return (
    <span className="wbk-run" title={running.now.join(", ")}>
      <span className="wbk-blink" aria-hidden="true" />
      running{" "}
      {!found ? (
        "none of these variants"
      ) : found.key === current ? (
        <b>{found.name}</b>
      ) : (
        <button
          className="wbk-button wbk-link"
          type="button"
          title={`Show ${found.name}, the variant that runs`}
          onClick={() => void perform(store, () => store.ask({ type: "show", variant: found.key }))}
        >
          {found.name}
        </button>
      )}
      {loops && ` · ${loops}`} · {running.seconds.toFixed(1)} s
    </span>
  );
}

const MARKS: Readonly<Record<Status, readonly [string, string]>> = {
  connecting: ["connecting …", "The Jupyter kernel has not answered yet"],
  waiting: ["waiting …", "The Jupyter kernel answers once it has started, or when the cell that runs has ended"],
  connected: ["live", "Connected to the notebook's Jupyter kernel"],
  empty: ["kernel restarted", "Run the cell again to go on"],
  disconnected: ["no kernel", "The Jupyter kernel is gone"],
  saved: ["saved picture", "Drawn from what was saved, without a Jupyter kernel"],
};

const IN_NOTEBOOK = ["saved in notebook", "What is saved with the notebook; the panel beside it shows the present state"] as const;

const OLDER = ["out of date", "The program could not be traced since; this is how it was before"] as const;

/** A mark for a workbench that is not live: a saved file or a cell's output. `older`: the program is written
 * differently by now. */
function StatusMark({ status, inNotebook, older }: { status: Status; inNotebook: boolean; older: boolean }): JSX.Element {
  const here = status === "saved" && inNotebook ? IN_NOTEBOOK : MARKS[status];
  const stale = status === "connected" && older;
  const [text, meaning] = stale ? OLDER : here;
  return (
    <span className="wbk-connection" data-status={status} data-older={stale} title={meaning} role="status">
      {text}
    </span>
  );
}
