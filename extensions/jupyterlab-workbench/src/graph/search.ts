// Which statements have a text in their name, their equation or the scopes around them.

import type { Snapshot } from "../protocol";

export function found(snapshot: Snapshot, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const has = (one: string): boolean => one.toLowerCase().includes(wanted);
  return snapshot.nodes
    .filter((node) => has(node.title) || has(node.equation) || node.scope.some(has))
    .map((node) => node.id);
}
