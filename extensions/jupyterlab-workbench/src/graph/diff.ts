// The difference between two variants' programs, by the ids of their statements and by their meaning, never by their
// drawing.

import type { LoopView, Node, Snapshot } from "../protocol";

/** The aspects in which a statement can differ, in the reader's words. */
export type Difference = "new" | "equation" | "domain" | "reads" | "loops" | "storage";

export interface Changes {
  /** New or changed statements, with their differences. */
  readonly changed: ReadonlyMap<string, readonly Difference[]>;
  /** Statements that are there no more. */
  readonly gone: readonly Node[];
  /** The loops around changed statements that were there before, and what was kept of their arrays. */
  readonly before: ReadonlyMap<string, { readonly loops: readonly LoopView[]; readonly kept: readonly string[] }>;
}

export function changes(before: Snapshot, after: Snapshot): Changes {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const moved = moves(before, after);
  const changed = new Map<string, readonly Difference[]>();
  const earlier = new Map<string, { readonly loops: readonly LoopView[]; readonly kept: readonly string[] }>();
  for (const node of after.nodes) {
    const was = old.get(node.id);
    const found: Difference[] = was ? differences(was, node) : ["new"];
    if (was && moved.has(node.id)) found.push("loops");
    if (was && was.storage !== node.storage) found.push("storage");
    if (!found.length) continue;
    changed.set(node.id, found);
    if (was) earlier.set(was.id, { loops: loopsOf(before, was), kept: was.kept });
  }
  const kept = new Set(after.nodes.map((node) => node.id));
  return { changed, gone: before.nodes.filter((node) => !kept.has(node.id)), before: earlier };
}

/** Returns the loops around a statement, outermost first. */
export const loopsOf = (snapshot: Snapshot, node: Node): readonly LoopView[] =>
  node.loops.flatMap((position) => snapshot.loops[position] ?? []);

function differences(was: Node, node: Node): Difference[] {
  const found: Difference[] = [];
  const reads = (one: Node): string => JSON.stringify(one.reads.map((read) => read.relation));
  if (was.domain !== node.domain || was.reduction !== node.reduction) found.push("domain");
  if (reads(was) !== reads(node)) found.push("reads");
  const written = was.write.relation !== node.write.relation || was.shape !== node.shape || was.dtype !== node.dtype;
  if (was.equation !== node.equation || written) found.push("equation");
  return found;
}

/** Finds statements that stand in other loops: by the loops' headings, else by the statements that share them. */
function moves(before: Snapshot, after: Snapshot): ReadonlySet<string> {
  const old = new Map(before.nodes.map((node) => [node.id, headings(before, node)]));
  const moved = new Set<string>();
  const same = new Set<string>();
  for (const node of after.nodes) {
    const was = old.get(node.id);
    if (was === headings(after, node)) same.add(node.id);
    else if (was !== undefined) moved.add(node.id);
  }
  const [first, second] = [companions(before, same), companions(after, same)];
  for (const id of same) if (first.get(id) !== second.get(id)) moved.add(id);
  return moved;
}

const headings = (snapshot: Snapshot, node: Node): string =>
  JSON.stringify(node.loops.map((position) => snapshot.loops[position]?.text));

/** Lists for each of these statements those of them that share its loops, outermost loop first. */
function companions(snapshot: Snapshot, of: ReadonlySet<string>): ReadonlyMap<string, string> {
  const nodes = snapshot.nodes.filter((node) => of.has(node.id));
  const members = new Map<number, string[]>();
  for (const node of nodes) {
    for (const loop of node.loops) members.set(loop, [...(members.get(loop) ?? []), node.id]);
  }
  const names = new Map([...members].map(([loop, ids]) => [loop, ids.sort().join("\n")]));
  return new Map(nodes.map((node) => [node.id, node.loops.map((loop) => names.get(loop)).join("\n\n")]));
}
