// Makes Graphviz' group ours: names in data attributes, tooltips, roles; ids and fixed colours go.

import { svgElement } from "./dom";
import type { Arrow } from "./dot";
import type { Path } from "./scopes";
import type { Snapshot } from "./snapshot";

/** Prepares the group and returns the boxes (statements and closed scopes) by name. */
export function prepare(
  group: SVGGElement,
  snapshot: Snapshot,
  every: readonly Path[],
  arrows: readonly Arrow[],
): Map<string, SVGGElement> {
  const boxes = new Map<string, SVGGElement>();
  group.removeAttribute("id");
  group.querySelector(":scope > title")?.remove();
  for (const part of group.querySelectorAll<SVGGElement>("g.node, g.edge, g.cluster")) {
    const name = part.id;
    part.removeAttribute("id");
    part.dataset["name"] = name;
    const title = part.querySelector("title") ?? part.appendChild(svgElement("title", ""));
    const position = Number(name.slice(1));
    if (part.matches(".edge")) {
      title.textContent = arrowText(snapshot, arrows[position]);
      widen(part);
      continue;
    }
    if (name.startsWith("s")) part.dataset["depth"] = String(every[position]?.length ?? 0);
    if (part.matches(".cluster")) anchorLeft(part.querySelector("text"));
    title.textContent = name.startsWith("s")
      ? scopeText(every[position] ?? [], part.matches(".cluster"))
      : statementText(snapshot, position);
    if (part.matches(".node")) {
      part.setAttribute("role", "button");
      part.setAttribute("aria-label", title.textContent);
      boxes.set(name, part);
    }
  }
  return boxes;
}

function statementText(snapshot: Snapshot, position: number): string {
  const node = snapshot.nodes[position];
  return node ? `${node.title}\n${node.equation}` : "";
}

function scopeText(path: Path, open: boolean): string {
  return `${path.join(" › ")} – ${open ? "click the name to close" : "double click to open"}`;
}

function arrowText(snapshot: Snapshot, arrow: Arrow | undefined): string {
  const shown = (arrow?.edges ?? []).slice(0, 8).map((position) => {
    const edge = snapshot.edges[position];
    return edge ? `${edge.source} → ${edge.target} through ${edge.array}\n${edge.relation}` : "";
  });
  const more = (arrow?.edges.length ?? 0) - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

/** A scope's name grows to the right when seen from afar. Courier is 0.6 em wide, 11 pt are drawn. */
function anchorLeft(text: SVGTextElement | null): void {
  if (!text) return;
  const half = ((text.textContent ?? "").length * 0.6 * 11) / 2;
  text.setAttribute("x", String(Number(text.getAttribute("x")) - half));
  text.setAttribute("text-anchor", "start");
}

/** A wide invisible line under a thin one, so that it can be pointed at. */
function widen(edge: SVGGElement): void {
  const line = edge.querySelector("path");
  const wide = line?.cloneNode();
  if (!line || !(wide instanceof SVGPathElement)) return;
  wide.setAttribute("class", "wbk-wide");
  line.before(wide);
}
