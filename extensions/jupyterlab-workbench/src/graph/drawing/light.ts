// The lit boxes and arrows of a picture: the selection with its inputs and readers, a search's results, live arrays.

import type { Selection, Touching } from "../../model/selection";
import type { Node, Snapshot } from "../../protocol";
import { loopsOf } from "../diff";
import { type Scene, scopeBox } from "../layout/scene";

export interface Light {
  /** The box whose details are shown. */
  readonly first: string | null;
  readonly selected: ReadonlySet<string>;
  readonly inputs: ReadonlySet<string>;
  readonly outputs: ReadonlySet<string>;
  /** Arrows of the selection, and the one pointed at. */
  readonly touched: ReadonlySet<string>;
  readonly matches: ReadonlySet<string> | null;
  readonly live: ReadonlySet<string> | null;
  /** What the move or the array under the pointer touches. */
  readonly pointed: ReadonlySet<string> | null;
  /** Boxes that are elements wherever the window looks. */
  readonly near: readonly string[];
  /** True if all else stands back. */
  readonly dim: boolean;
  /** The picture's classes. */
  readonly classes: string;
}

/** The most boxes that are elements because they are lit. */
const MOST = 60;

export function light(
  scene: Scene,
  { statements, scope, brushed, pointed: touching }: Selection,
  found: ReadonlySet<string> | null,
  arrow: string | null,
): Light {
  const chosen = statements.flatMap((id) => scene.boxes.get(id) ?? []);
  const closed = scope && !statements.length ? scopeBox(scope) : "";
  if (scene.layout.boxes.has(closed)) chosen.push(closed);
  const selected = new Set(chosen);
  const [inputs, outputs, touched] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const { id, source, target } of selected.size ? scene.arrows : []) {
    const [from, to] = [selected.has(source), selected.has(target)];
    if (from || to) touched.add(id);
    if (to && !from) inputs.add(source);
    if (from && !to) outputs.add(target);
  }
  if (arrow) touched.add(arrow);
  const matches = found && boxesOf(scene, (node) => found.has(node.id));
  const held = new Set(brushed?.arrays);
  const live = held.size ? boxesOf(scene, (node) => held.has(node.array)) : null;
  const pointed = touching && boxesOf(scene, (node) => touches(touching, node, scene.snapshot));
  const classes = [
    selected.size ? " wbk-has-selection" : "",
    matches ? " wbk-has-matches" : "",
    live ? " wbk-has-live" : "",
  ].join("");
  return {
    first: chosen[0] ?? null,
    selected,
    inputs,
    outputs,
    touched,
    matches,
    live,
    pointed,
    near: [...selected, ...inputs, ...outputs, ...(matches ?? [])].slice(0, MOST),
    dim: selected.size > 0 || matches !== null || live !== null || (pointed?.size ?? 0) > 0,
    classes,
  };
}

/** Returns the classes of a box. */
export function stateOf({ selected, inputs, outputs, matches, live, pointed, dim }: Light, name: string): string {
  const lit = [selected, inputs, outputs, matches, live, pointed].filter((boxes) => boxes !== null);
  return [
    selected.has(name) ? " wbk-selected" : "",
    inputs.has(name) ? " wbk-input" : "",
    outputs.has(name) ? " wbk-output" : "",
    matches?.has(name) ? " wbk-match" : "",
    live?.has(name) ? " wbk-live" : "",
    pointed?.has(name) ? " wbk-pointed" : "",
    dim && !lit.some((boxes) => boxes.has(name)) ? " wbk-dim" : "",
  ].join("");
}

/** Tells whether a step is about a statement: it names it or its array, or names nothing but loops around it. */
function touches({ statements, arrays, dims }: Touching, node: Node, snapshot: Snapshot): boolean {
  if (statements.length || arrays.length) return statements.includes(node.id) || arrays.includes(node.array);
  return loopsOf(snapshot, node).some(({ dim }) => dims.includes(dim));
}

function boxesOf(scene: Scene, holds: (node: Scene["snapshot"]["nodes"][number]) => boolean): ReadonlySet<string> {
  const found = scene.snapshot.nodes.filter(holds).flatMap((node) => scene.boxes.get(node.id) ?? []);
  return new Set(found);
}
