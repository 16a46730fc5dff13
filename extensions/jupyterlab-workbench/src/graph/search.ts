// A search for statements by their name, their equation or the scopes around them; names come first.

import type { Node, Snapshot } from "../protocol";

export function found(snapshot: Snapshot, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const has = (one: string): boolean => one.toLowerCase().includes(wanted);
  const rank = (node: Node): number => {
    const title = node.title.toLowerCase();
    if (!title.startsWith(wanted)) return title.includes(wanted) ? 2 : 3;
    return /^\w/.test(title.slice(wanted.length)) ? 1 : 0; // the whole of a name
  };
  return snapshot.nodes
    .filter((node) => has(node.title) || has(node.equation) || node.scope.some(has))
    .sort((one, other) => rank(one) - rank(other))
    .map((node) => node.id);
}
