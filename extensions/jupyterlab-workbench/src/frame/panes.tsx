// The panes beside or under the graph: a tab each. Without an open one the tabs alone stay.

import { useEffect, useId, useRef } from "react";
import { useSelection, useStore } from "../model/hooks";
import { VIEWS, type View } from "../views";

export function Panes({ wide, share }: { wide: boolean; share: number }): JSX.Element {
  const { pane } = useSelection();
  const store = useStore();
  const id = useId();
  useDetailsOfSelection();
  const shown = VIEWS.find((view) => view.name === pane);
  const Shown = shown?.component;
  return (
    <section
      className={shown ? "wbk-panes" : "wbk-panes wbk-shut"}
      style={shown ? { flexGrow: share } : {}}
      aria-label="Panes"
    >
      <div className="wbk-tab-row">
        <Tabs id={id} shown={shown} upright={wide && !shown} />
        {shown && (
          <button
            className="wbk-icon"
            type="button"
            aria-label="Close the pane"
            title="Close the pane"
            onClick={() => store.select({ pane: "" })}
          >
            ×
          </button>
        )}
      </div>
      {shown && Shown && (
        <div
          className="wbk-side"
          id={`${id}panel`}
          role="tabpanel"
          aria-labelledby={`${id}${shown.name}`}
          tabIndex={0}
          key={shown.name}
        >
          <Shown />
        </div>
      )}
    </section>
  );
}

function Tabs(props: { id: string; shown: View | undefined; upright: boolean }): JSX.Element {
  const { id, shown, upright } = props;
  const store = useStore();
  const list = useRef<HTMLDivElement>(null);
  const reachable = shown?.name ?? VIEWS[0]?.name;

  function move(by: number): void {
    const tabs = [...(list.current?.querySelectorAll<HTMLButtonElement>("[role=tab]") ?? [])];
    const from = tabs.findIndex((tab) => tab === document.activeElement);
    tabs[(from + by + tabs.length) % tabs.length]?.focus();
  }

  return (
    <div
      className="wbk-tabs"
      role="tablist"
      aria-label="Panes"
      aria-orientation={upright ? "vertical" : "horizontal"}
      ref={list}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight" || event.key === "ArrowDown") move(1);
        else if (event.key === "ArrowLeft" || event.key === "ArrowUp") move(-1);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      {VIEWS.map((view) => (
        <button
          key={view.name}
          id={`${id}${view.name}`}
          className="wbk-tab"
          role="tab"
          type="button"
          tabIndex={view.name === reachable ? 0 : -1}
          aria-selected={view === shown}
          {...(view === shown ? { "aria-controls": `${id}panel` } : {})}
          onClick={() => store.select({ pane: view.name })}
        >
          {view.title}
        </button>
      ))}
    </div>
  );
}

/** Opens the details of a statement that is selected while no pane is open. A scope opens none: the graph would move
 * under the pointer, and could not be double clicked. */
function useDetailsOfSelection(): void {
  const store = useStore();
  const { statements } = useSelection();
  useEffect(() => {
    if (statements.length && !store.values().selection.pane) store.select({ pane: "details" });
  }, [statements, store]);
}
