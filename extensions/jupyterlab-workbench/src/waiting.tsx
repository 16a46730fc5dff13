// The placeholder of a part that is not there.

import { useValues } from "./model/hooks";
import type { Loaded } from "./model/parts";

/** `what` completes the sentence before "of this variant": "the graph", "the moves". */
export function Waiting({ loaded, what }: { loaded: Loaded<unknown>; what: string }): JSX.Element {
  const { status } = useValues();
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
    const [said, cell] =
      status === "saved" ? ["What was saved does not hold", "the notebook"] : ["The Jupyter kernel ended before it told", "the cell again"];
    return (
      <p className="wbk-hint">
        {said} {what}. Run {cell} to see more.
      </p>
    );
  }
  return (
    <p className="wbk-hint wbk-waiting" role="status">
      Loading {what} …
    </p>
  );
}
