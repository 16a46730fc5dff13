// The pane beside the graph: detail, equations and schedule as tabs.

import { button, element } from "./dom";

export interface Tab {
  readonly name: string;
  readonly content: HTMLElement;
}

export interface Side {
  readonly element: HTMLElement;
  open(name: string): void;
}

export function createSide(tabs: readonly Tab[]): Side {
  const bar = element("div", "wbk-tabs");
  bar.setAttribute("role", "tablist");
  const body = element("div", "wbk-tab-body");
  body.setAttribute("role", "tabpanel");
  body.tabIndex = 0;
  const heads = tabs.map((tab) => {
    const head = button(tab.name, tab.name, () => open(tab.name));
    head.className = "wbk-tab";
    head.setAttribute("role", "tab");
    head.removeAttribute("title");
    return head;
  });
  bar.append(...heads);
  bar.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const here = heads.findIndex((head) => head === document.activeElement);
    const next = heads[(here + step + heads.length) % heads.length];
    if (!step || !next) return;
    next.focus();
    next.click();
  });

  function open(name: string): void {
    tabs.forEach((tab, position) => {
      const chosen = tab.name === name;
      heads[position]?.setAttribute("aria-selected", String(chosen));
      heads[position]?.setAttribute("tabindex", chosen ? "0" : "-1");
      if (chosen) body.replaceChildren(tab.content);
    });
    body.setAttribute("aria-label", name);
  }

  open(tabs[0]?.name ?? "");
  return { element: element("div", "wbk-side", bar, body), open };
}

export function textPane(text: string, absent: string): HTMLElement {
  return text
    ? element("pre", "wbk-code wbk-listing", text)
    : element("p", "wbk-hint", absent);
}
