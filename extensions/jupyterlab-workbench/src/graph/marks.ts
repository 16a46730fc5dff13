// Makes Graphviz' group ours: names in data attributes, tooltips, roles; ids and fixed colours go.

import { svgElement } from "../dom";
import { type Arrow, NAME, shortened } from "./dot";
import type { Path } from "../model/selection";
import type { Snapshot } from "../protocol";

/** Width of a character: Courier's are 0.6 em wide, scope names are 11 pt high. */
const COURIER = 0.6 * 11;

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
    title.textContent = name.startsWith("s")
      ? scopeText(every[position] ?? [], part.matches(".cluster"))
      : statementText(snapshot, position);
    if (part.matches(".node")) {
      const last = every[position]?.at(-1) ?? "";
      addShortName(part, name.startsWith("n") ? (snapshot.nodes[position]?.short ?? "") : `▸ ${last}`);
      part.setAttribute("role", "button");
      part.setAttribute("aria-label", spoken(snapshot, every, name));
      boxes.set(name, part);
    }
  }
  // Boxes, then names of scopes, above the arrows: so they can be read and clicked.
  group.append(...boxes.values(), ...[...group.querySelectorAll<SVGGElement>("g.cluster")].map(header));
  return boxes;
}

/** A scope's name in a group of its own. It grows to the right when seen from afar. */
function header(cluster: SVGGElement): SVGGElement {
  const made = svgElement("g", "cluster wbk-scope-name");
  Object.assign(made.dataset, cluster.dataset);
  const [title, text] = [cluster.querySelector("title"), cluster.querySelector("text")];
  if (title) made.append(title.cloneNode(true));
  if (text) {
    const half = ((text.textContent ?? "").length * COURIER) / 2;
    text.setAttribute("x", String(Number(text.getAttribute("x")) - half));
    text.setAttribute("text-anchor", "start");
    made.append(text);
  }
  return made;
}

/** A box's name alone, in larger letters: what is drawn when it is seen from afar. */
function addShortName(box: SVGGElement, name: string): void {
  const lines = [...box.querySelectorAll("text")];
  const [first, last] = [lines[0], lines[lines.length - 1]];
  if (!first || !last) return;
  const extent = (line: SVGTextElement): number =>
    (line.textContent ?? "").length * 0.6 * Number(line.getAttribute("font-size"));
  const shift = first.getAttribute("text-anchor") === "start" ? extent(first) / 2 : 0;
  const middle = (Number(first.getAttribute("y")) + Number(last.getAttribute("y"))) / 2 - 3;
  const text = svgElement("text", "wbk-short");
  text.textContent = shortened(name);
  text.setAttribute("text-anchor", "middle");
  text.setAttribute("x", String(Number(first.getAttribute("x")) + shift));
  text.setAttribute("y", String(middle + NAME * 0.34));
  text.setAttribute("font-size", String(NAME));
  box.append(text);
}

function statementText(snapshot: Snapshot, position: number): string {
  const node = snapshot.nodes[position];
  return node ? `${node.title}\n${node.equation}` : "";
}

function spoken(snapshot: Snapshot, every: readonly Path[], name: string): string {
  const position = Number(name.slice(1));
  const node = snapshot.nodes[position];
  if (name.startsWith("s")) return `${(every[position] ?? []).join(" › ")}, closed scope`;
  return node ? `${node.title}, ${node.summary}` : "";
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

/** A wide invisible line under a thin one, so that it can be pointed at. */
function widen(edge: SVGGElement): void {
  const line = edge.querySelector("path");
  const wide = line?.cloneNode();
  if (!line || !(wide instanceof SVGPathElement)) return;
  wide.setAttribute("class", "wbk-wide");
  line.before(wide);
}
