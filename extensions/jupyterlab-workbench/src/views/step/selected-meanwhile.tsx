// What was selected since a step was opened, where the step names other statements: the pane still tells of the step.

import { useState } from "react";
import { useSelection, useStore } from "../../model/hooks";
import { openStep } from "./steps";

/** `about` are the statements that the open step names. */
export function SelectedMeanwhile({ about }: { about: readonly string[] }): JSX.Element | null {
  const store = useStore();
  const { statements } = useSelection();
  const [before] = useState(statements);
  const [other, ...more] = statements.filter((name) => !before.includes(name) && !about.includes(name));
  if (other === undefined) return null;
  return (
    <p className="wbk-meanwhile" role="status">
      Selected meanwhile: <code>{other}</code>
      {more.length > 0 && ` and ${more.length} more`}{" "}
      <button className="wbk-button wbk-link" type="button" onClick={() => openStep(store, null)}>
        Show {more.length ? "their" : "its"} moves
      </button>
    </p>
  );
}
