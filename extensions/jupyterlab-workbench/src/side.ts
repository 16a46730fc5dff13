// The pane beside the graph: detail, equations and schedule as tabs. Closed, it leaves its room to the graph.

import { button, element } from "./dom";

export interface Tab {
  readonly name: string;
  readonly content: HTMLElement;
}

export interface Side {
  /** The heads of the tabs; pressing the open one closes the pane. */
  readonly bar: HTMLElement;
  readonly body: HTMLElement;
  open(name: string): void;
}

export function createSide(tabs: readonly Tab[]): Side {
  const bar = element("div", "wbk-tabs");
  bar.setAttribute("role", "tablist");
  const body = element("div", "wbk-side");
  body.setAttribute("role", "tabpanel");
  body.tabIndex = 0;
  body.hidden = true;
  let current = "";
  const heads = tabs.map((tab) => {
    const head = button(tab.name, tab.name, () => {
      if (current === tab.name) show("");
      else show(tab.name);
    });
    head.className = "wbk-tab";
    head.setAttribute("role", "tab");
    head.removeAttribute("title");
    return head;
  });
  bar.append(...heads);
  bar.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const here = heads.findIndex((head) => head === document.activeElement);
    const next = (here + step + heads.length) % heads.length;
    if (!step || here < 0) return;
    heads[next]?.focus();
    show(tabs[next]?.name ?? "");
  });

  /** Opens the named tab; without a name, closes the pane. */
  function show(name: string): void {
    current = name;
    body.hidden = name === "";
    body.setAttribute("aria-label", name);
    tabs.forEach((tab, position) => {
      heads[position]?.setAttribute("aria-selected", String(tab.name === name));
      if (tab.name === name) body.replaceChildren(tab.content);
    });
  }

  show("");
  return { bar, body, open: show };
}

/** Text line by line; what does not fit goes on below, further to the right than its line began. */
export function textPane(text: string, absent: string): HTMLElement {
  if (!text) return element("p", "wbk-hint", absent);
  const lines = text.split("\n").map((line) => {
    const parts = line.split(/(?<=[A-Za-z_]\.|\()/).flatMap((part) => [part, element("wbr", "")]);
    const made = element("div", "wbk-line", ...parts);
    made.style.setProperty("--wbk-hang", `${line.length - line.trimStart().length + 4}ch`);
    return made;
  });
  return element("pre", "wbk-code wbk-listing", ...lines);
}
