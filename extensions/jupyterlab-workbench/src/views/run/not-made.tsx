// The reason why a run or a profile was not made, and a way to make it all the same where there is one.

import { useCurrent, useValues, useWorkbench } from "../../model/hooks";
import type { NotMadeView } from "../../protocol";
import { settingsOf, useRun } from "./ask";

export function NotMade({ view, what }: { view: NotMadeView | null; what: "run" | "profile" }): JSX.Element | null {
  const { measuring } = useWorkbench();
  const current = useCurrent();
  const { status } = useValues();
  const { start } = useRun(what);
  if (!view || view.variant !== current.key || status !== "connected") return null;
  const { error, too_long, not_sent } = view;
  if (!too_long && !not_sent) {
    return (
      <p className="wbk-answer" role="alert">
        {error.sentence}
      </p>
    );
  }
  const doing = what === "run" ? "Run" : "Profile";
  return (
    <div className="wbk-answer wbk-question" role="alert">
      <span>
        {error.sentence}
        {not_sent && " The Jupyter kernel can do it, beside your cells, which are slower meanwhile."}
      </span>
      <button
        className="wbk-button"
        type="button"
        disabled={measuring !== null}
        onClick={() => start(current.key, { ...settingsOf(view), ...(not_sent ? { here: true } : { force: true }) })}
      >
        {not_sent ? `${doing} in the Jupyter kernel` : `${doing} all the same`}
      </button>
    </div>
  );
}
