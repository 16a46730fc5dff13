// A snapshot as Graphviz DOT text; the same text as workbench/session/picture/dot.py writes (a test compares them).

import { key } from "../../model/scopes";
import type { Path } from "../../model/selection";
import type { Kind, Node, Snapshot } from "../../protocol";
import { type Arrow, type Contents, labelOf, scopeBox, shortened, statementBox } from "./scene";

const COLOURS: Readonly<Record<Kind | "closed", readonly [string, string]>> = {
  operation: ["#ffffff", "#8c959f"],
  contraction: ["#dcecfa", "#0072b2"],
  reduction: ["#fdf0d2", "#b87f00"],
  random: ["#f8e3ef", "#b0578a"],
  recurrence: ["#d9f2e9", "#00805c"],
  update: ["#fce5d6", "#c24e00"],
  external: ["#e8e4f6", "#6a51a3"],
  closed: ["#eef0f3", "#57606a"],
};

/** Arrows go round boxes, and have room for what they say, up to this many boxes; beyond it Graphviz is slow and
 * sometimes fails at that. */
const ROUTED = 150;

/** Up to this many boxes Graphviz takes as many steps as it has boxes; beyond it fewer, as its time grows with more
 * than the square. */
const PATIENT = 300;

/** Points of a name that stands alone on its box, for which every box has room. */
export const NAME = 16;

const HEAD = [
  'graph [bgcolor="transparent", rankdir="TB", ranksep="0.38", nodesep="0.22", pad="0.1", ' +
    'fontname="Courier", fontsize="11", fontcolor="#57606a", labeljust="l"]',
  'node [shape="box", style="rounded,filled", fontname="Courier", fontsize="11", height="0.3", ' +
    'margin="0.1,0.05", fontcolor="#1f2328"]',
  'edge [fontname="Courier", fontsize="9", color="#8c959f", fontcolor="#57606a", arrowsize="0.6"]',
];

export function dot(contents: Contents): string {
  const { snapshot } = contents;
  const lines = ["digraph {", ...HEAD.map((line) => `  ${line}`)];
  const boxes = contents.inside.size;
  if (boxes > ROUTED) {
    const limit = decimal(Math.min(100, Math.floor((100 * PATIENT ** 2) / boxes ** 2)));
    // Ranks of all scopes together: arrows are half as long as with ranks of each its own.
    const limits = `nslimit="${limit}", nslimit1="${limit}", mclimit="${limit}"`;
    lines.push(`  graph [splines="line", newrank="true", ${limits}]`);
  }
  const names = new Map(contents.scopes.map((path, position) => [scopeBox(path), `s${position}`]));
  snapshot.nodes.forEach((node, position) => names.set(statementBox(node.id), `n${position}`));
  lines.push(...inside(tree(contents), contents, names, "  "));
  contents.arrows.forEach((arrow, position) => {
    lines.push(`  ${arrowText(position, arrow, names, boxes <= ROUTED)}`);
  });
  return [...lines, "}", ""].join("\n");
}

/** A scope with what stands directly in it, in the order of the text: dot breaks cycles where it meets them first. */
interface Branch {
  readonly path: Path;
  readonly children: (Node | Branch)[];
}

function tree({ snapshot, scopes }: Contents): Branch {
  const root: Branch = { path: [], children: [] };
  const branches = new Map([[key([]), root]]);
  for (const path of scopes) branches.set(key(path), { path, children: [] });
  const placed = new Set<string>();
  for (const node of snapshot.nodes) {
    for (let depth = 1; depth <= node.scope.length; depth++) {
      const path = node.scope.slice(0, depth);
      const branch = branches.get(key(path));
      if (!branch || placed.has(key(path))) continue;
      placed.add(key(path));
      branches.get(key(path.slice(0, -1)))?.children.push(branch);
    }
    branches.get(key(node.scope))?.children.push(node);
  }
  return root;
}

function inside(
  branch: Branch,
  contents: Contents,
  names: ReadonlyMap<string, string>,
  indent: string,
): string[] {
  return branch.children.flatMap((child) => {
    if ("id" in child) return [indent + nodeText(contents.snapshot, names.get(statementBox(child.id)) ?? "", child)];
    const id = names.get(scopeBox(child.path)) ?? "";
    const name = child.path[child.path.length - 1] ?? "";
    if (contents.closed.has(key(child.path))) {
      return [indent + closedText(id, name, contents.inside.get(scopeBox(child.path))?.length ?? 0)];
    }
    return [
      `${indent}subgraph "cluster_${id}" {`,
      `${indent}  graph [id="${id}", class="scope", label=${quoted(shortened(name))}, ` +
        'style="rounded,filled", color="#d0d7de", fillcolor="#8c959f14", margin="9"]',
      ...inside(child, contents, names, `${indent}  `),
      `${indent}}`,
    ];
  });
}

/** What a statement does, and the loops it stands in: `contract (64,) · i ←t [b]`. */
export function secondLine(snapshot: Snapshot, node: Node): string {
  const marks = node.loops.map((position) => snapshot.loops[position]?.mark ?? "").join(" ");
  return marks ? `${node.summary} · ${marks}` : node.summary;
}

function nodeText(snapshot: Snapshot, name: string, node: Node): string {
  const [fill, line] = COLOURS[node.kind];
  const double = node.outputs.length ? ', peripheries="2"' : "";
  const shape = node.kind === "external" ? ', shape="component", style="filled"' : "";
  return (
    `${name} [id="${name}", class="statement ${node.kind}", ` +
    `label=${labelText(node.title, secondLine(snapshot, node))}, width="${width(node.short)}", ` +
    `color="${line}", fillcolor="${fill}"${double}${shape}]`
  );
}

function closedText(name: string, label: string, count: number): string {
  const [fill, line] = COLOURS.closed;
  const what = count === 1 ? "1 statement" : `${count} statements`;
  return (
    `${name} [id="${name}", class="scope closed", label=${labelText(`▸ ${label}`, what)}, ` +
    `width="${width(`▸ ${label}`)}", ` +
    `color="${line}", fillcolor="${fill}", penwidth="1.5"]`
  );
}

function arrowText(
  position: number,
  arrow: Arrow,
  names: ReadonlyMap<string, string>,
  labelled: boolean,
): string {
  const label = labelled ? labelOf(arrow) : "";
  const parts = [`id="e${position}"`, `class="${arrow.carried ? "carried" : "flow"}"`];
  if (label) parts.push(`label=${quoted(` ${label} `)}`);
  if (arrow.carried) {
    parts.push('style="dashed", color="#b5420e", fontcolor="#b5420e", weight="0"');
  }
  return `${names.get(arrow.source)} -> ${names.get(arrow.target)} [${parts.join(", ")}]`;
}

/** Inches that the name takes alone, its characters 0.6 em wide, with 8 points on both sides. */
function width(name: string): string {
  return decimal(Math.floor((60 * NAME * [...shortened(name)].length + 1600) / 72));
}

function decimal(hundredths: number): string {
  return `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`;
}

function labelText(title: string, summary: string): string {
  const [first, second] = [markup(shortened(title, 44)), markup(shortened(summary, 54))];
  return `<${first}<br/><font point-size="9" color="#57606a">${second}</font>>`;
}

function markup(text: string): string {
  const escaped = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  return escaped.split(/\s+/).filter(Boolean).join(" ") || " ";
}

function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", " ");
  return `"${escaped}"`;
}
