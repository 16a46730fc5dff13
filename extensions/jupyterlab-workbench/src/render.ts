// The whole view of a program, drawn into an element; a plain library that knows no notebook.

import { detail } from "./detail";
import { button, element } from "./dom";
import { createGraph, type Graph } from "./graph";
import { legend } from "./legend";
import { type Model, parse } from "./model";
import { createSearch } from "./search";
import { createSelection } from "./selection";
import { createSide, textPane } from "./side";
import type { Snapshot } from "./snapshot";
import css from "./style.css";

/** Draws the model's program into `host`, again after every change. Returns what takes it down. */
export function render(host: HTMLElement, model: Model): () => void {
  const root = element("div", "wbk-root");
  root.dataset["lmSuppressShortcuts"] = "true"; // the notebook's own keys rest while we have the focus
  const style = element("style", "", css);
  host.append(style, root);
  let takeDown = draw(root, model);
  const forget = model.onChange(() => {
    takeDown();
    takeDown = draw(root, model);
  });
  return () => {
    forget();
    takeDown();
    style.remove();
    root.remove();
  };
}

function draw(root: HTMLElement, model: Model): () => void {
  const parsed = parse(model.snapshot());
  if (parsed.kind === "problem") {
    root.replaceChildren(element("p", "wbk-problem", parsed.message));
    return () => undefined;
  }
  return view(root, parsed.snapshot);
}

function view(root: HTMLElement, snapshot: Snapshot): () => void {
  const selection = createSelection();
  const graph = createGraph(snapshot, selection);
  const pane = element("div", "");
  const side = createSide([
    { name: "Detail", content: pane },
    { name: "Equations", content: textPane(snapshot.equations, "No equations.") },
    { name: "Schedule", content: textPane(snapshot.schedule, "No schedule yet.") },
  ]);
  const showDetail = (): void => {
    const actions = { show: graph.show, open: graph.toggle };
    pane.replaceChildren(detail(snapshot, selection.current, actions));
  };
  selection.onChange((selected) => {
    showDetail();
    // Not for a scope: what moves under the pointer cannot be double clicked.
    if (selected.kind === "statement") side.open("Detail");
  });
  showDetail();
  const main = element("div", "wbk-main", graph.element, side.body);
  root.replaceChildren(header(snapshot, graph, side.bar), main, legend(snapshot));
  void graph.drawn.then(() => {
    root.style.height = `${Math.min(600, Math.max(340, graph.height * 1.2 + 90))}px`;
  });
  return graph.destroy;
}

function header(snapshot: Snapshot, graph: Graph, tabs: HTMLElement): HTMLElement {
  const count = snapshot.nodes.length;
  return element(
    "div",
    "wbk-header",
    element("span", "wbk-title", snapshot.name),
    element("span", "wbk-count", count === 1 ? "1 statement" : `${count} statements`),
    element("span", "wbk-space"),
    createSearch(snapshot, graph),
    snapshot.closed.length ? openAll(graph) : null,
    button("−", "Zoom out", () => graph.zoomBy(1 / 1.3)),
    button("+", "Zoom in", () => graph.zoomBy(1.3)),
    button("Fit", "Show the whole graph", graph.fit),
    tabs,
  );
}

function openAll(graph: Graph): HTMLElement {
  let open = false;
  const made = button("Open all", "Draw every statement, or the overview", () => {
    open = !open;
    made.textContent = open ? "Overview" : "Open all";
    graph.openAll(open);
  });
  return made;
}
