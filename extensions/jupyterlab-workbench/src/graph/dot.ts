// A snapshot as Graphviz DOT text; the same text as workbench/session/dot.py writes (a test compares them).

import type { Kind, Node, Snapshot } from "../protocol";
import { box, isInside, key, scopes } from "../model/scopes";
import type { Path } from "../model/selection";

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

/** Arrows go round boxes up to this many; beyond it Graphviz is slow and sometimes fails at that. */
const ROUTED = 150;

/** Points of a name that stands alone on its box, for which every box has room. */
export const NAME = 16;

const HEAD = [
  'graph [bgcolor="transparent", rankdir="TB", ranksep="0.38", nodesep="0.22", pad="0.1", ' +
    'fontname="Courier", fontsize="11", fontcolor="#57606a", labeljust="l"]',
  'node [shape="box", style="rounded,filled", fontname="Courier", fontsize="11", height="0.3", ' +
    'margin="0.1,0.05", fontcolor="#1f2328"]',
  'edge [fontname="Courier", fontsize="9", color="#8c959f", fontcolor="#57606a", arrowsize="0.6"]',
];

/** What stands behind an arrow of the picture: positions in `snapshot.edges`. */
export interface Arrow {
  readonly source: string;
  readonly target: string;
  readonly carried: boolean;
  readonly labels: string[];
  readonly edges: number[];
}

/** Arrows between the same two boxes are one. Boxes are `n<position>` or `s<position>`. */
export function arrows(snapshot: Snapshot, closed: ReadonlySet<string>): readonly Arrow[] {
  const names = new Map(scopes(snapshot).map((path, position) => [key(path), `s${position}`]));
  const boxes = new Map<string, string>();
  snapshot.nodes.forEach((node, position) => {
    const outer = box(node.scope, closed);
    boxes.set(node.id, (outer && names.get(key(outer))) ?? `n${position}`);
  });
  const found = new Map<string, Arrow>();
  snapshot.edges.forEach((edge, position) => {
    const [source, target] = [boxes.get(edge.source), boxes.get(edge.target)];
    if (!source || !target || (source === target && source.startsWith("s"))) return;
    const ends = `${source} ${target} ${edge.carried}`;
    const arrow = found.get(ends) ?? { source, target, carried: edge.carried, labels: [], edges: [] };
    found.set(ends, arrow);
    arrow.edges.push(position);
    if (edge.label && !arrow.labels.includes(edge.label)) arrow.labels.push(edge.label);
  });
  return [...found.values()];
}

export function dot(snapshot: Snapshot, closed: ReadonlySet<string>): string {
  const lines = ["digraph {", ...HEAD.map((line) => `  ${line}`)];
  const drawn = new Set(snapshot.nodes.map((node) => key(box(node.scope, closed) ?? [node.id, ""])));
  if (drawn.size > ROUTED) lines.push('  graph [splines="line"]');
  lines.push(...inside(snapshot, [], closed, scopes(snapshot), "  "));
  arrows(snapshot, closed).forEach((arrow, position) => {
    lines.push(`  ${arrowText(position, arrow)}`);
  });
  return [...lines, "}", ""].join("\n");
}

/** Statements and scopes in the order of the text: dot breaks cycles where it meets them first. */
function inside(
  snapshot: Snapshot,
  path: Path,
  closed: ReadonlySet<string>,
  every: readonly Path[],
  indent: string,
): string[] {
  const lines: string[] = [];
  const seen = new Set<string>();
  snapshot.nodes.forEach((node, place) => {
    if (key(node.scope) === key(path)) lines.push(indent + nodeText(snapshot, place, node));
    const inner = node.scope.slice(0, path.length + 1);
    if (inner.length === path.length || !isInside(inner, path) || seen.has(key(inner))) return;
    seen.add(key(inner));
    const position = every.findIndex((other) => key(other) === key(inner));
    const name = inner[inner.length - 1] ?? "";
    if (closed.has(key(inner))) {
      const count = snapshot.nodes.filter((node) => isInside(node.scope, inner)).length;
      lines.push(indent + closedText(`s${position}`, name, count));
      return;
    }
    lines.push(
      `${indent}subgraph "cluster_s${position}" {`,
      `${indent}  graph [id="s${position}", class="scope", label=${quoted(shortened(name))}, ` +
        'style="rounded,filled", color="#d0d7de", fillcolor="#8c959f14", margin="9"]',
      ...inside(snapshot, inner, closed, every, `${indent}  `),
      `${indent}}`,
    );
  });
  return lines;
}

/** What a statement does, and the loops it stands in: `contract (64,) · i ←t [b]`. */
export function secondLine(snapshot: Snapshot, node: Node): string {
  const marks = node.loops.map((position) => snapshot.loops[position]?.mark ?? "").join(" ");
  return marks ? `${node.summary} · ${marks}` : node.summary;
}

function nodeText(snapshot: Snapshot, position: number, node: Node): string {
  const [fill, line] = COLOURS[node.kind];
  const double = node.outputs.length ? ', peripheries="2"' : "";
  const shape = node.kind === "external" ? ', shape="component", style="filled"' : "";
  return (
    `n${position} [id="n${position}", class="statement ${node.kind}", ` +
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

function arrowText(position: number, arrow: Arrow): string {
  const { labels } = arrow;
  const label = labels.length > 2 ? "" : labels.map((text) => shortened(text, 18)).join("; ");
  const parts = [`id="e${position}"`, `class="${arrow.carried ? "carried" : "flow"}"`];
  if (label) parts.push(`label=${quoted(` ${label} `)}`);
  if (arrow.carried) {
    parts.push('style="dashed", color="#b5420e", fontcolor="#b5420e", weight="0"');
  }
  return `${arrow.source} -> ${arrow.target} [${parts.join(", ")}]`;
}

/** The text, its middle left out where it is longer than `length` characters. */
export function shortened(text: string, length = 34): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  const tail = Math.floor(length / 2) - 1;
  const [head, rest] = [characters.slice(0, length - tail - 1), characters.slice(-tail)];
  return `${head.join("")}…${rest.join("")}`;
}

/** Inches that the name takes alone, its characters 0.6 em wide, with 8 points on both sides. */
function width(name: string): string {
  const hundredths = Math.floor((60 * NAME * [...shortened(name)].length + 1600) / 72);
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
