// A search for statements by their name, written or drawn, their equation or the scopes around them; names come first.
// Spaces tell nothing apart.

import type { Node, Snapshot } from "../protocol";

export function found(snapshot: Snapshot, text: string): readonly string[] {
  const wanted = plain(text);
  if (!wanted) return [];
  const has = (one: string): boolean => plain(one).includes(wanted);
  const rankOf = (name: string): number => {
    if (!name.startsWith(wanted)) return name.includes(wanted) ? 2 : 3;
    return /^\w/.test(name.slice(wanted.length)) ? 1 : 0; // the whole of a name
  };
  const rank = ({ title, box }: Node): number => Math.min(rankOf(plain(title)), rankOf(plain(box.short)));
  return snapshot.nodes
    .filter((node) => has(node.title) || has(node.box.short) || has(node.equation) || node.scope.some(has))
    .sort((one, other) => rank(one) - rank(other))
    .map((node) => node.id);
}

const plain = (text: string): string => text.toLowerCase().replace(/\s/g, "");
