// What the colours and lines mean; only the kinds that the program has.

import { element } from "../dom";
import type { Kind, Snapshot } from "../protocol";

const NAMES: readonly (readonly [Kind, string])[] = [
  ["operation", "operation"],
  ["contraction", "contraction"],
  ["reduction", "reduction"],
  ["random", "random draw"],
  ["recurrence", "recurrence"],
  ["update", "update"],
  ["external", "call of an external object"],
];

export function legend(snapshot: Snapshot): HTMLElement {
  const present = new Set(snapshot.nodes.map((node) => node.kind));
  const entries = NAMES.filter(([kind]) => present.has(kind)).map(([kind, name]) =>
    entry(`wbk-swatch ${kind}`, name),
  );
  if (snapshot.nodes.some((node) => node.outputs.length)) {
    entries.push(entry("wbk-swatch wbk-double", "output"));
  }
  if (snapshot.edges.some((edge) => edge.carried)) {
    entries.push(entry("wbk-dash", "carried by a loop"));
  }
  return element(
    "div",
    "wbk-legend",
    ...entries,
    element("span", "wbk-keys", keys(snapshot)),
  );
}

function keys(snapshot: Snapshot): string {
  const scopes = snapshot.nodes.some((node) => node.scope.length);
  const wheel = `${navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl"} + wheel zooms`;
  const always = [wheel, "arrows move", "Enter selects"];
  return [...(scopes ? ["Double click opens a scope, C closes it"] : []), ...always].join(" · ");
}

function entry(swatch: string, name: string): HTMLElement {
  return element("span", "wbk-entry", element("span", swatch), name);
}
