// The panes beside or under the graph: a tab each. Beside it the tabs are a list at the edge, open or shut, under it a
// row. Without an open pane the tabs alone stay.

import { useEffect, useId } from "react";
import { useSelection, useStore } from "../../model/hooks";
import { VIEWS } from "../../views";
import { OfVariant } from "../notices/error-boundary";
import { Tabs } from "./tabs";

export function Panes({ wide, share }: { wide: boolean; share: number }): JSX.Element {
  const { pane } = useSelection();
  const store = useStore();
  const id = useId();
  useDetailsOfSelection();
  const shown = VIEWS.find((view) => view.name === pane);
  const Shown = shown?.component;
  return (
    <section
      className={`wbk-panes ${wide ? "wbk-tabs-beside" : "wbk-tabs-above"}${shown ? "" : " wbk-shut"}`}
      style={shown ? { flexGrow: share } : {}}
      aria-label="Panes"
    >
      <div className="wbk-tab-row">
        <Tabs id={id} shown={shown} upright={wide} />
      </div>
      {shown && Shown && (
        <div
          className="wbk-side"
          id={`${id}panel`}
          role="tabpanel"
          aria-labelledby={`${id}${shown.name}`}
          tabIndex={-1}
          key={shown.name}
        >
          <OfVariant what="This pane">
            <Shown />
          </OfVariant>
        </div>
      )}
      {shown && (
        <button
          className="wbk-icon wbk-close-pane"
          type="button"
          aria-label="Close the pane"
          title="Close the pane"
          onClick={() => store.select({ pane: "" })}
        >
          ×
        </button>
      )}
    </section>
  );
}

/** Opens the details of a statement that is selected while no pane is open. A scope opens none: the graph would move
 * under the pointer, and could not be double clicked. */
function useDetailsOfSelection(): void {
  const store = useStore();
  const { statements } = useSelection();
  useEffect(() => {
    if (!statements.length || store.values().selection.pane) return undefined;
    // The click is seen first: a pane beside hundreds of boxes has all of them laid out again.
    const timer = window.setTimeout(() => {
      if (!store.values().selection.pane) store.select({ pane: "details" });
    });
    return () => window.clearTimeout(timer);
  }, [statements, store]);
}
