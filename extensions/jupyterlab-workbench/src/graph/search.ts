// Which statements have a text in their name, their equation or the scopes around them; names come first.

import type { Node, Snapshot } from "../protocol";

export function found(snapshot: Snapshot, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const has = (one: string): boolean => one.toLowerCase().includes(wanted);
  const rank = (node: Node): number => (node.title.toLowerCase().startsWith(wanted) ? 0 : has(node.title) ? 1 : 2);
  return snapshot.nodes
    .filter((node) => has(node.title) || has(node.equation) || node.scope.some(has))
    .sort((one, other) => rank(one) - rank(other))
    .map((node) => node.id);
}
