// Graphviz in the browser: DOT text to an SVG group, read as a document and imported, never as markup.

import { Graphviz } from "@hpcc-js/wasm-graphviz";

export interface Picture {
  readonly group: SVGGElement;
  readonly width: number;
  readonly height: number;
}

export async function layout(dot: string): Promise<Picture> {
  const graphviz = await Graphviz.load();
  const parsed = new DOMParser().parseFromString(graphviz.layout(dot, "svg", "dot"), "image/svg+xml");
  const group = parsed.querySelector("svg > g");
  const [, , width, height] = (parsed.documentElement.getAttribute("viewBox") ?? "")
    .split(/\s+/)
    .map(Number);
  if (!group || !width || !height) throw new Error("Graphviz drew nothing");
  const imported = document.importNode(group, true);
  if (!(imported instanceof SVGGElement)) throw new Error("Graphviz drew no group");
  return { group: imported, width, height };
}
