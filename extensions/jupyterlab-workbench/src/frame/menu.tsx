// A button with a menu under it; used with the mouse or the keyboard.

import { useEffect, useId, useRef, useState } from "react";

export interface Item {
  readonly name: string;
  readonly label: string;
  /** The reason why it cannot be chosen; empty where it can. */
  readonly refused: string;
  run(): void;
}

type Groups = readonly (readonly Item[])[];

/** `title` explains a label that says little. */
export function Menu(props: { label: string; title?: string; items: () => Groups }): JSX.Element {
  const [groups, setGroups] = useState<Groups | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = groups !== null;

  const buttons = (): HTMLButtonElement[] => [
    ...(host.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? []),
  ];

  function shut(focus: boolean): void {
    setGroups(null);
    if (focus) host.current?.querySelector<HTMLButtonElement>(".wbk-menu-button")?.focus();
  }

  useEffect(() => {
    if (!open) return undefined;
    buttons()[0]?.focus();
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !host.current?.contains(event.target)) shut(false);
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [open]);

  function keys(event: React.KeyboardEvent): void {
    const all = buttons();
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
        {...(props.title ? { title: props.title, "aria-label": props.title } : {})}
        {...(open ? { "aria-controls": id } : {})}
        onClick={() => (open ? shut(false) : setGroups(props.items()))}
      >
        {props.label} <span aria-hidden="true">▾</span>
      </button>
      {open && (
        <div className="wbk-menu" id={id} role="menu" aria-label={props.title ?? props.label} onKeyDown={keys}>
          {groups.map((group, position) => (
            <div className="wbk-menu-group" role="group" key={position}>
              {group.map((item) => (
                <button
                  key={item.name}
                  className="wbk-menu-item"
                  role="menuitem"
                  type="button"
                  tabIndex={-1}
                  aria-disabled={item.refused !== ""}
                  title={item.refused}
                  onClick={() => {
                    if (item.refused) return;
                    shut(true);
                    item.run();
                  }}
                >
                  {item.label}
                  {item.refused && <span className="wbk-refused">{item.refused}</span>}
                </button>
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
