// A button with a menu under it; used with the mouse or the keyboard.

import { useEffect, useId, useRef, useState } from "react";
import type { Action } from "./actions";

export function Menu(props: { label: string; items: () => readonly (readonly Action[])[] }): JSX.Element {
  const [groups, setGroups] = useState<readonly (readonly Action[])[] | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = groups !== null;

  const items = (): HTMLButtonElement[] => [
    ...(host.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? []),
  ];

  function shut(focus: boolean): void {
    setGroups(null);
    if (focus) host.current?.querySelector<HTMLButtonElement>(".wbk-menu-button")?.focus();
  }

  useEffect(() => {
    if (!open) return undefined;
    items()[0]?.focus();
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !host.current?.contains(event.target)) shut(false);
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [open]);

  function keys(event: React.KeyboardEvent): void {
    const all = items();
    const from = all.findIndex((item) => item === document.activeElement);
    if (event.key === "Escape") shut(true);
    else if (event.key === "Tab") return shut(false);
    else if (event.key === "ArrowDown") all[(from + 1) % all.length]?.focus();
    else if (event.key === "ArrowUp") all[(from - 1 + all.length) % all.length]?.focus();
    else if (event.key === "Home") all[0]?.focus();
    else if (event.key === "End") all.at(-1)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="wbk-menu-place" ref={host}>
      <button
        className="wbk-button wbk-menu-button"
        type="button"
        aria-haspopup="menu"
        aria-expanded={open}
        {...(open ? { "aria-controls": id } : {})}
        onClick={() => (open ? shut(false) : setGroups(props.items()))}
      >
        {props.label} <span aria-hidden="true">▾</span>
      </button>
      {open && (
        <div className="wbk-menu" id={id} role="menu" aria-label={props.label} onKeyDown={keys}>
          {groups.map((group, position) => (
            <div className="wbk-menu-group" role="group" key={position}>
              {group.map((action) => (
                <button
                  key={action.name}
                  className="wbk-menu-item"
                  role="menuitem"
                  type="button"
                  tabIndex={-1}
                  aria-disabled={action.refused !== ""}
                  title={action.refused}
                  onClick={() => {
                    if (action.refused) return;
                    shut(true);
                    action.run();
                  }}
                >
                  {action.label}
                  {action.refused && <span className="wbk-refused">{action.refused}</span>}
                </button>
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
