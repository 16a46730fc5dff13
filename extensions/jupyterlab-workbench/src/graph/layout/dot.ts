// A snapshot as Graphviz DOT text, the same as that of workbench/session/picture/dot.py (a test compares them). Text,
// size and style of boxes come from Python.

import { key } from "../../model/scopes";
import type { Path } from "../../model/selection";
import { DOT, type Node } from "../../protocol";
import { type Arrow, type Contents, counted, markOf, scopeBox, statementBox } from "./scene";

/** Returns the text of a picture whose arrows go round boxes, unless it is large or they are to be `straight`. */
export function dot(contents: Contents, straight = false): string {
  const lines: string[] = ["digraph {", ...DOT.head];
  const boxes = contents.inside.size;
  const routed = boxes <= DOT.routed && !straight;
  if (!routed) {
    const limit = Math.min(100, Math.floor((100 * DOT.patient ** 2) / boxes ** 2)) / 100;
    lines.push(DOT.large.replaceAll("LIMIT", limit.toFixed(2)));
  }
  const names = new Map(contents.scopes.map((path, position) => [scopeBox(path), `s${position}`]));
  contents.snapshot.nodes.forEach((node, position) => names.set(statementBox(node.id), `n${position}`));
  lines.push(...inside(tree(contents), contents, names));
  contents.arrows.forEach((arrow, position) => {
    lines.push(arrowText(position, arrow, names, routed));
  });
  return [...lines, "}", ""].join("\n");
}

/** A scope with its direct content in the order of the text: dot breaks cycles where it meets them first. */
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

function inside(branch: Branch, contents: Contents, names: ReadonlyMap<string, string>): string[] {
  return branch.children.flatMap((child) => {
    if ("id" in child) {
      const name = names.get(statementBox(child.id)) ?? "";
      return [`${name} [id="${name}", ${DOT.kinds[child.kind]}, ${child.box.dot}]`];
    }
    const name = names.get(scopeBox(child.path)) ?? "";
    const text = contents.snapshot.scopes[child.path[child.path.length - 1] ?? ""];
    if (contents.closed.has(key(child.path))) {
      const count = counted(contents.inside.get(scopeBox(child.path)) ?? []);
      return [`${name} [id="${name}", ${DOT.closed}, ${text?.closed}${count}${DOT.end}]`];
    }
    return [
      `subgraph "cluster_${name}" {`,
      `graph [id="${name}", ${DOT.open}, ${text?.open}]`,
      ...inside(child, contents, names),
      "}",
    ];
  });
}

function arrowText(position: number, arrow: Arrow, names: ReadonlyMap<string, string>, labelled: boolean): string {
  const mark = labelled ? markOf(arrow) : "";
  const label = mark ? `, label=${JSON.stringify(` ${mark} `)}` : "";
  const attributes = arrow.carried ? DOT.carried : DOT.flow;
  return `${names.get(arrow.source)} -> ${names.get(arrow.target)} [id="e${position}", ${attributes}${label}]`;
}
