// The theme's colours as numbers, for painting on a canvas and for scales between two of them.

import type { Kind } from "../../protocol";

export type Colour = readonly [red: number, green: number, blue: number];

export interface Theme {
  readonly back: Colour;
  readonly line: Colour;
  readonly text: Colour;
  readonly faint: Colour;
  readonly accent: Colour;
  readonly loop: Colour;
  readonly heat: Colour;
  readonly cool: Colour;
  readonly kinds: Readonly<Record<Kind, Colour>>;
}

const KINDS: readonly Kind[] = [
  "operation", "contraction", "reduction", "random", "recurrence", "update", "external",
];

/** Reads the `--wbk-…` properties that hold at `host`. */
export function readTheme(host: Element): Theme {
  const style = getComputedStyle(host);
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  const read = (name: string): Colour => {
    const text = style.getPropertyValue(`--wbk-${name}`).trim();
    if (!context || !text) return [128, 128, 128];
    context.fillStyle = text; // the canvas says any colour as #rrggbb or rgba(…)
    return parsed(context.fillStyle);
  };
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, read(kind)])) as Record<Kind, Colour>;
  return {
    back: read("back"),
    line: read("line"),
    text: read("text"),
    faint: read("faint"),
    accent: read("accent"),
    loop: read("loop"),
    heat: read("heat"),
    cool: read("cool"),
    kinds,
  };
}

/** Calls back when the theme may have changed; the result ends that. */
export function onTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", changed);
  };
}

function parsed(text: string): Colour {
  const hex = /^#(..)(..)(..)/.exec(text);
  const [red = 128, green = 128, blue = 128] = hex
    ? hex.slice(1).map((part) => parseInt(part, 16))
    : (text.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue];
}

/** Mixes two colours, by the share of the way from one to the other. */
export const mixed = (from: Colour, to: Colour, share: number): Colour => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
];

export const css = (colour: Colour, alpha = 1): string =>
  `rgba(${colour.map((part) => Math.round(part)).join(", ")}, ${alpha})`;
