// Banners between header and graph: programs that could not be traced, a Jupyter kernel that is gone or does not know
// the program.

import { useEffect, useState } from "react";
import { useLineInNotebook, useStore, useValues, useWorkbench } from "../../model/hooks";
import type { ErrorView, LineView, UntracedView } from "../../protocol";
import { perform } from "../actions";
import { ENDED_EARLY } from "./cell-run";
import { Cycle } from "./cycle";

export function Banners(): JSX.Element {
  const { status, kernel, untraced } = useValues();
  const { name, workbench, error, recipe_error, taken_over } = useWorkbench();
  return (
    <div className="wbk-banners">
      {status === "disconnected" && (
        <Hint text="The Jupyter kernel is gone; what was loaded still shows. Start it and run the cell again to go on." warns />
      )}
      {status === "empty" && (
        <Hint text="The Jupyter kernel was restarted and has not run the program; what was loaded still shows." warns>
          <RunIt workbench={workbench} />
        </Hint>
      )}
      {kernel === "empty" && (
        <Hint text={`This Jupyter kernel has not run ${name} yet: this is what was saved.`}>
          <RunIt workbench={workbench} />
        </Hint>
      )}
      {kernel === "waiting" && (
        <Hint text="The Jupyter kernel does not answer yet, as while it starts or a cell runs: this is what was saved." />
      )}
      <Failures own={error} others={untraced} />
      {recipe_error && (
        <Failure error={recipe_error}>
          <strong>The steps no longer fit the program.</strong> {recipe_error.sentence}
        </Failure>
      )}
      {taken_over && <TakenOver key={taken_over} text={taken_over} />}
      <Told />
    </div>
  );
}

/** The result of a request, or what is waited for, until it is put away. */
export function Told(): JSX.Element | null {
  const store = useStore();
  const { notice } = useValues();
  if (!notice) return null;
  return (
    <div className={notice.failed ? "wbk-banner wbk-bad" : "wbk-banner wbk-told"} role={notice.failed ? "alert" : "status"}>
      <p className="wbk-sentences">{notice.text}</p>
      {notice.missing && <RunIt workbench={notice.missing} unseen={notice.unseen ?? false} />}
      <Close close={() => store.say(null)} />
    </div>
  );
}

/** Says whose steps a new program has, with a way to be rid of them. */
function TakenOver({ text }: { text: string }): JSX.Element | null {
  const store = useStore();
  const { root, current } = useWorkbench();
  const { status } = useValues();
  const [away, setAway] = useState(false);
  if (away) return null;
  return (
    <div className="wbk-banner wbk-warning wbk-told" role="status">
      <p>{text}</p>
      {status === "connected" && current !== root && (
        <button
          className="wbk-button"
          type="button"
          onClick={() => void perform(store, () => store.ask({ type: "show", variant: root }))}
        >
          Show as written
        </button>
      )}
      <Close close={() => setAway(true)} />
    </div>
  );
}

function Hint({ text, warns, children }: { text: string; warns?: boolean; children?: React.ReactNode }): JSX.Element {
  return (
    <div className={warns ? "wbk-banner wbk-warning wbk-told" : "wbk-banner wbk-told"} role="status">
      <p>{text}</p>
      {children}
    </div>
  );
}

/** An offer to run the cell. A Jupyter kernel that was just started mostly needs the cells before it too. */
function RunIt({ workbench, unseen = false }: { workbench: string; unseen?: boolean }): JSX.Element | null {
  const store = useStore();
  const [runs, setRuns] = useState(false);
  const [failed, setFailed] = useState(false);
  const { runCell } = store.transport;
  if (!runCell) return null;
  const run = (above: boolean): void => {
    setRuns(true);
    setFailed(false);
    void perform(store, async () => {
      try {
        setFailed(!(await runCell(workbench, above)));
      } finally {
        setRuns(false);
      }
    });
  };
  return (
    <div className="wbk-banner-buttons">
      {!unseen && (
        <button className="wbk-button" type="button" disabled={runs} onClick={() => run(false)}>
          Run its cell
        </button>
      )}
      <button className="wbk-button" type="button" disabled={runs} onClick={() => run(true)}>
        {unseen ? "Run the cells" : "Run all cells up to it"}
      </button>
      {failed && <span role="alert">{ENDED_EARLY}</span>}
    </div>
  );
}

function Close({ close }: { close: () => void }): JSX.Element {
  return (
    <button className="wbk-icon" type="button" aria-label="Close the message" title="Close" onClick={close}>
      ×
    </button>
  );
}

/** The error of the shown program, then those of others. One that nobody will trace again can be put away. */
function Failures({ own, others }: { own: UntracedView | null; others: readonly UntracedView[] }): JSX.Element {
  const [away, setAway] = useState<readonly string[]>([]);
  const all = [...(own ? [own] : []), ...others].map((view) => ({ view, key: JSON.stringify(view) }));
  const keys = all.map(({ key }) => key).join();
  // A program that fails again in the same way is reported again.
  useEffect(() => setAway((old) => old.filter((key) => keys.includes(key))), [keys]);
  return (
    <>
      {all
        .filter(({ key }) => !away.includes(key))
        .map(({ view, key }) => (
          <Failure key={key} error={view.error} close={() => setAway([...away, key])}>
            <strong>{view.program}</strong>
            {view.place && ` of ${view.place}`} could not be traced: {reason(view.error)}
            {view === own && <span className="wbk-faint"> Shown is how it was before.</span>}
          </Failure>
        ))}
    </>
  );
}

/** Returns the error's sentence; of a cycle one without its instances, since these are drawn. */
function reason({ sentence, cycle }: ErrorView): string {
  if (!cycle) return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  const sizes = Object.entries(cycle.sizes).map(([name, value]) => `${name}=${value}`);
  return `each of these needs the next with no delay${sizes.length ? `, at ${sizes.join(", ")} already` : ""}.`;
}

function Failure(props: { error: ErrorView; close?: () => void; children: React.ReactNode }): JSX.Element {
  const { error, close, children } = props;
  return (
    <div className="wbk-banner wbk-bad" role="alert">
      <div>
        <p className="wbk-sentences">{children}</p>
        {error.cycle ? (
          <Cycle cycle={error.cycle} line={(line) => <Line line={line} />} />
        ) : (
          error.line && <Line line={error.line} />
        )}
        {error.trace && (
          <details>
            <summary>What Python said</summary>
            <pre className="wbk-code">{error.trace}</pre>
          </details>
        )}
      </div>
      {close && <Close close={close} />}
    </div>
  );
}

/** The user's line, with a way to it where it stands in the notebook. */
function Line({ line }: { line: LineView }): JSX.Element {
  const show = useLineInNotebook(line);
  return (
    <p className="wbk-error-line">
      <code>{line.text.trim()}</code>
      <span>{line.place}</span>
      {show && (
        <button className="wbk-button wbk-link" type="button" onClick={show}>
          Show line
        </button>
      )}
    </p>
  );
}
