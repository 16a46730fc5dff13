// The search box: lights the statements whose name or equation has the text; Enter goes from one to the next.

import { element } from "../dom";
import type { Graph } from "./graph";
import type { Snapshot } from "../protocol";

export function createSearch(snapshot: Snapshot, graph: Graph): HTMLElement {
  const input = element("input", "wbk-search");
  input.type = "search";
  input.placeholder = "Search";
  input.setAttribute("aria-label", "Search statements");
  const count = element("span", "wbk-count");
  count.setAttribute("role", "status");
  let found: readonly string[] = [];
  let next = 0;

  function search(): void {
    const wanted = input.value.trim().toLowerCase();
    const has = (text: string): boolean => text.toLowerCase().includes(wanted);
    const matching = snapshot.nodes.filter(
      (node) => has(node.title) || has(node.equation) || node.scope.some(has),
    );
    found = wanted ? matching.map((node) => node.id) : [];
    next = 0;
    count.textContent = wanted ? `${found.length} found` : "";
    graph.mark(wanted ? new Set(found) : null);
  }

  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      input.value = "";
      search();
    } else if (event.key === "Enter" && found.length) {
      const step = event.shiftKey ? -1 : 1;
      const id = found[next];
      next = (next + step + found.length) % found.length;
      if (id) graph.show(id);
    }
  });
  return element("span", "wbk-search-box", input, count);
}
