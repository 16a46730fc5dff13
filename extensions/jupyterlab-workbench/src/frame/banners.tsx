// What the reader must know of, between header and graph: errors with the user's line, a Jupyter kernel that is gone,
// a measurement under way.

import { useLineInNotebook, useStore, useValues, useWorkbench } from "../model/hooks";
import type { ErrorView, ProgressView } from "../protocol";
import { perform } from "./actions";

export function Banners(): JSX.Element {
  const store = useStore();
  const { status, notice } = useValues();
  const { error, recipe_error, measuring } = useWorkbench();
  return (
    <div className="wbk-banners">
      {status === "disconnected" && (
        <Gone text="The Jupyter kernel is gone; what was loaded still shows. Start it and run the cell again to go on." />
      )}
      {status === "empty" && (
        <Gone text="The Jupyter kernel was restarted; what was loaded still shows. Run the cell again to go on." />
      )}
      {error && <Failure title="The last change of the program cannot be shown" error={error} />}
      {recipe_error && <Failure title="The steps no longer fit the program" error={recipe_error} />}
      {measuring && status === "connected" && <Progress measuring={measuring} />}
      {notice && (
        <div className={notice.failed ? "wbk-banner wbk-bad" : "wbk-banner"} role={notice.failed ? "alert" : "status"}>
          <p>{notice.text}</p>
          <button
            className="wbk-icon"
            type="button"
            aria-label="Close the message"
            title="Close"
            onClick={() => store.say(null)}
          >
            ×
          </button>
        </div>
      )}
    </div>
  );
}

function Gone({ text }: { text: string }): JSX.Element {
  return (
    <div className="wbk-banner wbk-warning" role="status">
      <p>{text}</p>
    </div>
  );
}

function Failure({ title, error }: { title: string; error: ErrorView }): JSX.Element {
  const { line } = error;
  const show = useLineInNotebook(line);
  return (
    <div className="wbk-banner wbk-bad" role="alert">
      <div>
        <p>
          <strong>{title}.</strong> {error.sentence}
        </p>
        {line && (
          <p className="wbk-error-line">
            <code>{line.text.trim()}</code>
            {show ? (
              <button className="wbk-button wbk-link" type="button" onClick={show}>
                {line.place}
              </button>
            ) : (
              <span>
                {line.place}
              </span>
            )}
          </p>
        )}
        {error.trace && (
          <details>
            <summary>What Python said</summary>
            <pre className="wbk-code">{error.trace}</pre>
          </details>
        )}
      </div>
    </div>
  );
}

/** What a stage of a measurement counts. */
const COUNTED: Readonly<Record<string, string>> = {
  "compiling and checking": "variants",
  "warming up": "rounds of all variants",
  measuring: "rounds of all variants",
};

function Progress({ measuring }: { measuring: ProgressView }): JSX.Element {
  const store = useStore();
  const { stage, done, total } = measuring;
  return (
    <div className="wbk-banner wbk-progress" role="status">
      <span className="wbk-stage" title={stage}>
        {stage}
      </span>
      <progress max={Math.max(total, 1)} value={done} aria-label="Progress of the measurement" />
      <span className="wbk-count">
        {done} of {total} {COUNTED[stage] ?? ""}
      </span>
      <button
        className="wbk-button"
        type="button"
        onClick={() => void perform(store, () => store.ask({ type: "cancel" }))}
      >
        Cancel
      </button>
    </div>
  );
}
