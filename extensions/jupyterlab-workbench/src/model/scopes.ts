// The tree of scopes. A scope is known by its path as JSON text, so that it can be a key.

import type { Snapshot } from "../protocol";
import type { Path } from "./selection";

export const key = (path: Path): string => JSON.stringify(path);

const known = new WeakMap<Snapshot, readonly Path[]>();

/** Lists every scope, outer ones included, in the order of their first statement. */
export function scopes(snapshot: Snapshot): readonly Path[] {
  const there = known.get(snapshot);
  if (there) return there;
  const made = listed(snapshot);
  known.set(snapshot, made);
  return made;
}

function listed(snapshot: Snapshot): readonly Path[] {
  const found = new Map<string, Path>();
  for (const node of snapshot.nodes) {
    for (let depth = 1; depth <= node.scope.length; depth++) {
      const path = node.scope.slice(0, depth);
      if (!found.has(key(path))) found.set(key(path), path);
    }
  }
  return [...found.values()];
}

/** Returns the outermost closed scope around a statement, null where it is visible itself. */
export function box(path: Path, closed: ReadonlySet<string>): Path | null {
  for (let depth = 1; depth <= path.length; depth++) {
    if (closed.has(key(path.slice(0, depth)))) return path.slice(0, depth);
  }
  return null;
}

export function isInside(path: Path, scope: Path): boolean {
  return scope.every((part, depth) => path[depth] === part);
}
