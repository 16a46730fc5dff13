// A button with a menu under it; used with the mouse or the keyboard.

import { useEffect, useId, useRef, useState } from "react";

export interface Item {
  readonly name: string;
  readonly label: string;
  /** The reason why it cannot be chosen; empty where it can. */
  readonly refused: string;
  /** Of what cannot be taken back: what more goes with it, to be pressed before it runs; empty where nothing does. */
  readonly warning?: string;
  run(): void;
}

type Groups = readonly (readonly Item[])[];

interface Open {
  readonly groups: Groups;
  /** True if it begins at its end. */
  readonly atEnd: boolean;
}

/** `title` explains a label that says little; `isIcon`: the label is a sign. */
export function Menu(props: { label: string; title?: string; isIcon?: boolean; items: () => Groups }): JSX.Element {
  const [open, setOpen] = useState<Open | null>(null);
  const [warned, setWarned] = useState("");
  const host = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const isOpen = open !== null;

  const entries = (): HTMLButtonElement[] => [
    ...(host.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? []),
  ];

  function unfold(atEnd: boolean): void {
    setWarned("");
    setOpen({ groups: props.items(), atEnd });
  }

  function shut(focus: boolean): void {
    setOpen(null);
    if (focus) button.current?.focus();
  }

  function choose(item: Item): void {
    if (item.refused) return;
    if (item.warning && warned !== item.name) return setWarned(item.name);
    shut(true);
    item.run();
  }

  useEffect(() => {
    if (!open) return undefined;
    host.current?.lastElementChild?.scrollIntoView?.({ block: "nearest" }); // in a list, all of it
    entries().at(open.atEnd ? -1 : 0)?.focus();
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !host.current?.contains(event.target)) shut(false);
    };
    // Once the press has met its goal: a list that the menu made longer goes back to its place without it.
    document.addEventListener("click", outside, true);
    return () => document.removeEventListener("click", outside, true);
  }, [open]);

  function keys(event: React.KeyboardEvent): void {
    const all = entries();
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

  function keysOfButton(event: React.KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    event.stopPropagation();
    unfold(event.key === "ArrowUp");
  }

  return (
    <div className="wbk-menu-place" ref={host}>
      <button
        className={props.isIcon ? "wbk-icon" : "wbk-button wbk-menu-button"}
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        {...(props.title ? { title: props.title, "aria-label": props.title } : {})}
        {...(isOpen ? { "aria-controls": id } : {})}
        onClick={() => (isOpen ? shut(false) : unfold(false))}
        onKeyDown={keysOfButton}
      >
        {props.label}
        {!props.isIcon && <span aria-hidden="true"> ▾</span>}
      </button>
      {open && (
        <div className="wbk-menu" id={id} role="menu" aria-label={props.title ?? props.label} onKeyDown={keys}>
          {open.groups.map((group, position) => (
            <div className="wbk-menu-group" role="group" key={position}>
              {group.map((item) => (
                <button
                  key={item.name}
                  className={item.warning === undefined ? "wbk-menu-item" : "wbk-menu-item wbk-danger"}
                  role="menuitem"
                  type="button"
                  tabIndex={-1}
                  aria-disabled={item.refused !== ""}
                  title={item.refused}
                  onClick={() => choose(item)}
                >
                  {warned === item.name ? item.warning : item.label}
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
