// The places of a picture: boxes of statements and closed scopes, grounds of open scopes, arrows. Names of boxes and
// arrows stay the same from one picture to the next.

import { box, key, scopes } from "../../model/scopes";
import type { Path } from "../../model/selection";
import type { Node, Snapshot } from "../../protocol";
import type { Rectangle } from "../window/geometry";

/** A curve of Bézier pieces (`x, y`, then three points a piece) that ends where its head begins. */
export interface Line {
  readonly points: readonly number[];
  readonly tip: readonly [number, number];
  readonly label: readonly [number, number] | null;
  /** The scale from which on the label covers no box; Infinity where there is no room for it. */
  readonly clear: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Rectangle>;
  readonly grounds: ReadonlyMap<string, Rectangle>;
  readonly lines: ReadonlyMap<string, Line>;
}

/** The relations of an arrow in the picture: positions in `snapshot.edges`. */
export interface Arrow {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly carried: boolean;
  readonly marks: readonly string[];
  readonly edges: readonly number[];
}

/** A snapshot with some scopes closed: its boxes and the arrows between them, placed or not yet. */
export interface Contents {
  readonly snapshot: Snapshot;
  readonly closed: ReadonlySet<string>;
  /** Every scope, outer ones first. */
  readonly scopes: readonly Path[];
  /** The box of each statement, by its id. */
  readonly boxes: ReadonlyMap<string, string>;
  /** The statements in each box. */
  readonly inside: ReadonlyMap<string, readonly Node[]>;
  readonly arrows: readonly Arrow[];
}

export interface Scene extends Contents {
  readonly layout: Layout;
}

export const statementBox = (id: string): string => `n:${id}`;
export const scopeBox = (path: Path): string => `s:${key(path)}`;

/** Returns the scope of a box or a ground; null for a statement's. */
export const scopeOf = (name: string): Path | null =>
  name.startsWith("s:") ? (JSON.parse(name.slice(2)) as Path) : null;

/** Returns the statement of a box; null for a scope's. */
export const statementOf = (name: string): string | null => (name.startsWith("n:") ? name.slice(2) : null);

export function contents(snapshot: Snapshot, closed: ReadonlySet<string>): Contents {
  const boxes = new Map<string, string>();
  const inside = new Map<string, Node[]>();
  for (const node of snapshot.nodes) {
    const outer = box(node.scope, closed);
    const name = outer ? scopeBox(outer) : statementBox(node.id);
    boxes.set(node.id, name);
    const others = inside.get(name);
    if (others) others.push(node);
    else inside.set(name, [node]);
  }
  return { snapshot, closed, scopes: scopes(snapshot), boxes, inside, arrows: arrows(snapshot, boxes) };
}

/** Merges arrows between the same two boxes into one. */
function arrows(snapshot: Snapshot, boxes: ReadonlyMap<string, string>): readonly Arrow[] {
  const found = new Map<string, Arrow & { marks: string[]; edges: number[] }>();
  snapshot.edges.forEach((edge, position) => {
    const [source, target] = [boxes.get(edge.source), boxes.get(edge.target)];
    if (!source || !target || (source === target && source.startsWith("s:"))) return;
    const id = JSON.stringify([source, target, edge.carried]);
    const arrow = found.get(id) ?? { id, source, target, carried: edge.carried, marks: [], edges: [] };
    found.set(id, arrow);
    arrow.edges.push(position);
    if (edge.mark && !arrow.marks.includes(edge.mark)) arrow.marks.push(edge.mark);
  });
  return [...found.values()];
}

/** Returns the label of the arrow: up to two indices. */
export const markOf = (arrow: Arrow): string => (arrow.marks.length > 2 ? "" : arrow.marks.join("; "));

/** Returns the text of a closed scope about its statements. */
export const counted = (inside: readonly Node[]): string =>
  inside.length === 1 ? "1 statement" : `${inside.length} statements`;
