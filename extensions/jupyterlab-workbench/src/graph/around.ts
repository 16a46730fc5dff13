// The difference between two programs as a graph of its own, small enough to be seen beside something else.

import { scopes } from "../model/scopes";
import type { Node, Snapshot } from "../protocol";
import type { Changes } from "./diff";

/** The most boxes that can be told apart in a small picture; of more, only the outermost scopes are drawn. */
const FEW = 40;

/** Returns the program after a step, with lost statements in their old place. It holds only changed statements and
 * their neighbours, unless the `whole` is wanted. */
export function around(before: Snapshot, after: Snapshot, changes: Changes, whole: boolean): Snapshot {
  const lost = new Set(changes.gone.map((node) => node.id));
  const own = new Set([...changes.changed.keys(), ...lost]);
  const kept = before.edges.filter((edge) => lost.has(edge.source) || lost.has(edge.target));
  const edges = [...after.edges, ...kept];
  const near = new Set(own);
  for (const { source, target } of edges) {
    if (own.has(source)) near.add(target);
    if (own.has(target)) near.add(source);
  }
  const nodes = withGone(before, after, lost).filter((node) => whole || near.has(node.id));
  const there = new Set(nodes.map((node) => node.id));
  const made: Snapshot = {
    ...after,
    nodes,
    edges: edges.filter(({ source, target }) => there.has(source) && there.has(target)),
    loops: [...after.loops, ...before.loops],
    closed: whole ? after.closed : [],
    scopes: { ...before.scopes, ...after.scopes },
  };
  const outermost = scopes(made).filter((path) => path.length === 1);
  return !whole && nodes.length > FEW ? { ...made, closed: outermost } : made;
}

/** Returns every statement after the step, each lost one behind the statement that was in front of it. */
function withGone(before: Snapshot, after: Snapshot, lost: ReadonlySet<string>): readonly Node[] {
  const behind = new Map<string, Node[]>();
  let front = "";
  for (const node of before.nodes) {
    if (!lost.has(node.id)) front = node.id;
    else {
      const loops = node.loops.map((position) => position + after.loops.length);
      behind.set(front, [...(behind.get(front) ?? []), { ...node, loops }]);
    }
  }
  const listed = after.nodes.flatMap((node) => [node, ...(behind.get(node.id) ?? [])]);
  const placed = new Set(listed.map((node) => node.id));
  return [...[...behind.values()].flat().filter((node) => !placed.has(node.id)), ...listed];
}
