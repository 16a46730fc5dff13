// What is known of the selected statement: equation, sets and relations as text, line, neighbours.

import { button, type Child, element } from "./dom";
import { isInside, type Path, scopes } from "./scopes";
import type { Selected } from "./selection";
import type { Edge, Node, Snapshot } from "./snapshot";

export interface Actions {
  show(id: string): void;
  open(scope: Path): void;
}

const KINDS: Readonly<Record<Node["kind"], string>> = {
  operation: "operation",
  contraction: "contraction",
  reduction: "reduction",
  random: "random draw",
  recurrence: "piece of a recurrence",
  update: "update (writes the next instance)",
  external: "call of an object outside of the program",
};

export function detail(snapshot: Snapshot, selected: Selected, actions: Actions): HTMLElement {
  if (selected.kind === "scope") return scopeDetail(snapshot, selected.name, actions);
  const node = selected.kind === "statement" && snapshot.nodes.find((n) => n.id === selected.id);
  return node ? statementDetail(snapshot, node, actions) : overview(snapshot);
}

function overview(snapshot: Snapshot): HTMLElement {
  const sizes = snapshot.parameters.map((p) =>
    p.definition === null ? `${p.name} = ${p.default}` : `${p.name} = ${p.definition} = ${p.default}`,
  );
  return element(
    "div",
    "wbk-detail",
    element("p", "wbk-hint", "Click a box to see its equation, its domain and what it reads."),
    snapshot.description ? element("p", "wbk-description", snapshot.description) : null,
    ...field("Sizes", lines(sizes)),
    ...field("Dimensions", lines(snapshot.dims.map((d) => `0 <= ${d.name} < ${d.size}`))),
  );
}

function statementDetail(snapshot: Snapshot, node: Node, actions: Actions): HTMLElement {
  const inputs = snapshot.edges.filter((edge) => edge.target === node.id);
  const outputs = snapshot.edges.filter((edge) => edge.source === node.id);
  const facts = [KINDS[node.kind], node.dtype, node.shape === "()" ? "scalar" : node.shape];
  return element(
    "div",
    "wbk-detail",
    element("h3", "wbk-name", node.title),
    element("p", "wbk-facts", [...node.scope.slice(-3), facts.join(" · ")].join(" › ")),
    node.outputs.length ? element("p", "wbk-facts", `output: ${node.outputs.join(", ")}`) : null,
    ...field("Equation", code(node.equation)),
    ...field("Domain", code(node.domain)),
    ...(node.reduction === null ? [] : field("Reduction points", code(node.reduction))),
    ...field("Writes", code(node.write.relation)),
    ...field("Reads", lines(node.reads.map((access) => access.relation))),
    ...(node.line
      ? field(`Source line (${node.line.file}, line ${node.line.number})`, code(node.line.text.trim()))
      : []),
    ...neighbours("Comes from", inputs, (edge) => edge.source, snapshot, actions),
    ...neighbours("Goes to", outputs, (edge) => edge.target, snapshot, actions),
  );
}

function scopeDetail(snapshot: Snapshot, name: string, actions: Actions): HTMLElement {
  const path = scopes(snapshot)[Number(name.slice(1))] ?? [];
  const inside = snapshot.nodes.filter((node) => isInside(node.scope, path));
  return element(
    "div",
    "wbk-detail",
    element("h3", "wbk-name", path.join(" › ")),
    element("p", "wbk-facts", `closed scope · ${inside.length} statements`),
    button("Open", "Draw the statements of this scope", () => actions.open(path)),
    ...field("Equations", lines(inside.slice(0, 40).map((node) => node.equation))),
    inside.length > 40 ? element("p", "wbk-facts", `and ${inside.length - 40} more`) : null,
  );
}

function neighbours(
  heading: string,
  edges: readonly Edge[],
  end: (edge: Edge) => string,
  snapshot: Snapshot,
  actions: Actions,
): readonly Child[] {
  if (!edges.length) return [];
  const items = edges.map((edge) => {
    const title = snapshot.nodes.find((node) => node.id === end(edge))?.title ?? end(edge);
    const link = button(title, `Go to ${title}`, () => actions.show(end(edge)));
    link.classList.add("wbk-link");
    const label = edge.label ? ` at ${edge.label}` : "";
    const carried = edge.carried ? element("span", "wbk-carried", " carried by a loop") : null;
    return element("li", "", link, label, carried, element("code", "wbk-relation", edge.relation));
  });
  return field(heading, element("ul", "wbk-neighbours", ...items));
}

function field(name: string, content: HTMLElement): readonly Child[] {
  return [element("h4", "", name), content];
}

function code(text: string): HTMLElement {
  return element("pre", "wbk-code", text);
}

function lines(texts: readonly string[]): HTMLElement {
  return code(texts.length ? texts.join("\n") : "nothing");
}
