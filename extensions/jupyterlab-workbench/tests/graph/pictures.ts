// Stored snapshots, laid out by Graphviz as the worker does it.

import { Graphviz } from "@hpcc-js/wasm-graphviz";
import golden from "../../../../tests/golden/session/graph.json";
import { arrange } from "../../src/graph/layout/arrange";
import type { Engine } from "../../src/graph/layout/engine";
import { placed } from "../../src/graph/layout/placed";
import type { Scene } from "../../src/graph/layout/scene";
import type { Rectangle } from "../../src/graph/window/geometry";
import { key } from "../../src/model/scopes";
import type { Capsule, Node, Snapshot } from "../../src/protocol";

/** A workbench of two variants: as written, and with `b` vectorized. */
export const CAPSULE = golden.capsule as unknown as Capsule;
export const [WRITTEN, VECTORIZED] = CAPSULE.parts.map((part) => part.value) as [Snapshot, Snapshot];
/** A program of many scopes. */
export const LAYERS = golden.layers as unknown as Snapshot;

const graphviz = await Graphviz.load();

export const ENGINE: Engine = {
  place: (dot) => Promise.resolve(placed(graphviz.layout(dot, "json", "dot"))),
  wake: () => undefined,
  stop: () => undefined,
  end: () => undefined,
};

/** An engine that never lays anything out. */
export function broken(reason: string): Engine {
  return { ...ENGINE, place: () => Promise.reject(new Error(reason)) };
}

const scenes = new Map<Snapshot, Map<string, Promise<Scene>>>();

export function scene(snapshot: Snapshot, ...closed: readonly (readonly string[])[]): Promise<Scene> {
  const known = scenes.get(snapshot) ?? new Map<string, Promise<Scene>>();
  scenes.set(snapshot, known);
  const name = JSON.stringify(closed);
  const made = known.get(name) ?? drawn(snapshot, closed);
  known.set(name, made);
  return made;
}

async function drawn(snapshot: Snapshot, closed: readonly (readonly string[])[]): Promise<Scene> {
  const made = await arrange(ENGINE, snapshot, new Set(closed.map(key)), [], () => true);
  if (!made || made.remark) throw new Error(made?.remark ?? "nothing was drawn");
  return made.scene;
}

/** The same program with one statement otherwise. */
export function altered(snapshot: Snapshot, id: string, change: Partial<Node>): Snapshot {
  return { ...snapshot, nodes: snapshot.nodes.map((node) => (node.id === id ? { ...node, ...change } : node)) };
}

export function overlap(one: Rectangle, other: Rectangle): boolean {
  return (
    one.left < other.left + other.width && other.left < one.left + one.width &&
    one.top < other.top + other.height && other.top < one.top + one.height
  );
}
