// The tabs of the panes, in one column, or in rows: a second one where the first has no room for all.

import { useRef } from "react";
import { useStore } from "../../model/hooks";
import { VIEWS, type View } from "../../views";

export function Tabs(props: { id: string; shown: View | undefined; upright: boolean }): JSX.Element {
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
