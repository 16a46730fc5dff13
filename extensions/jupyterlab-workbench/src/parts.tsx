// What views show in place of a part that is not there.

import type { Loaded } from "./model/parts";

/** `what` goes on with "of this variant": "the graph", "the moves". */
export function Waiting({ loaded, what }: { loaded: Loaded<unknown>; what: string }): JSX.Element {
  if (loaded.status === "failed") {
    return (
      <div className="wbk-problem" role="alert">
        <p>{loaded.error?.sentence}</p>
        {loaded.error?.line && (
          <pre className="wbk-code">
            {loaded.error.line.text.trim()} ({loaded.error.line.place})
          </pre>
        )}
      </div>
    );
  }
  if (loaded.status === "absent") {
    return <p className="wbk-hint">What was saved does not hold {what}. Run the notebook to see more.</p>;
  }
  return (
    <p className="wbk-hint wbk-waiting" role="status">
      Loading {what} …
    </p>
  );
}
