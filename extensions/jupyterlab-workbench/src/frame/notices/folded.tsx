// A workbench in a notebook's output that the panel beside it shows live: a line, as long as it does.

import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { useStore, useValues, useWorkbench } from "../../model/hooks";

const never = (): (() => void) => () => undefined;

/** Tells whether the panel shows the same, and gives a way to show it here too until it no longer does. */
export function useFolded(): readonly [boolean, () => void] {
  const { panel } = useStore().transport;
  const workbench = useValues().state?.workbench ?? "";
  const [here, setHere] = useState(false);
  const shows = useSyncExternalStore(panel?.onChange ?? never, () => panel?.shows(workbench) ?? false);
  useEffect(() => {
    if (!shows) setHere(false);
  }, [shows]);
  return [shows && !here, useCallback(() => setHere(true), [])];
}

export function Folded({ unfold }: { unfold: () => void }): JSX.Element {
  const { name } = useWorkbench();
  return (
    <div className="wbk-folded">
      <h2 className="wbk-title" title={name}>
        {name}
      </h2>
      <span className="wbk-faint">is shown in the panel</span>
      <button className="wbk-button wbk-link" type="button" onClick={unfold}>
        Show here too
      </button>
    </div>
  );
}
