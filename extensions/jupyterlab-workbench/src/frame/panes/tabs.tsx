// The tabs of the panes, in one row or one column. A row without room for all scrolls, and says where there are more.

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useStore } from "../../model/hooks";
import { VIEWS, type View } from "../../views";

export function Tabs(props: { id: string; shown: View | undefined; upright: boolean }): JSX.Element {
  const { id, shown, upright } = props;
  const store = useStore();
  const list = useRef<HTMLDivElement>(null);
  const [before, behind] = useHidden(list);
  const reachable = shown?.name ?? VIEWS[0]?.name;
  useChosenInSight(list, shown);

  function move(by: number): void {
    const tabs = [...(list.current?.querySelectorAll<HTMLButtonElement>("[role=tab]") ?? [])];
    const from = tabs.findIndex((tab) => tab === document.activeElement);
    tabs[(from + by + tabs.length) % tabs.length]?.focus();
  }

  return (
    <>
      {before && <More list={list} way={-1} />}
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
      {behind && <More list={list} way={1} />}
    </>
  );
}

/** A button for the mouse: the keyboard has the arrow keys. */
function More({ list, way }: { list: React.RefObject<HTMLElement>; way: 1 | -1 }): JSX.Element {
  return (
    <button
      className="wbk-icon wbk-more-tabs"
      type="button"
      tabIndex={-1}
      aria-hidden="true"
      title={way > 0 ? "More panes" : "Panes before"}
      onClick={() => list.current?.scrollBy({ left: way * 0.7 * list.current.clientWidth, behavior: "smooth" })}
    >
      {way > 0 ? "›" : "‹"}
    </button>
  );
}

/** Tells whether tabs of the row are out of sight, before and behind those that are seen. */
function useHidden(list: React.RefObject<HTMLElement>): readonly [boolean, boolean] {
  const [hidden, setHidden] = useState<readonly [boolean, boolean]>([false, false]);
  useLayoutEffect(() => {
    const row = list.current;
    if (!row) return undefined;
    const look = (): void => {
      const { scrollLeft, scrollWidth, clientWidth } = row;
      const now = [scrollLeft > 1, scrollLeft + clientWidth < scrollWidth - 1] as const;
      setHidden((known) => (known[0] === now[0] && known[1] === now[1] ? known : now));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(row);
    row.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      row.removeEventListener("scroll", look);
    };
  }, [list]);
  return hidden;
}

/** Scrolls the row to the chosen tab, and nothing around it. */
function useChosenInSight(list: React.RefObject<HTMLElement>, shown: View | undefined): void {
  useEffect(() => {
    const row = list.current;
    const tab = row?.querySelector<HTMLElement>("[aria-selected=true]");
    if (!row || !tab) return;
    const start = tab.offsetLeft - row.offsetLeft;
    if (start < row.scrollLeft) row.scrollLeft = start;
    else if (start + tab.offsetWidth > row.scrollLeft + row.clientWidth) row.scrollLeft = start + tab.offsetWidth - row.clientWidth;
  }, [list, shown]);
}
