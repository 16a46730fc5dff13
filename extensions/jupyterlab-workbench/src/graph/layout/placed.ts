// Graphviz' JSON read as places: boxes, grounds and arrows under the names of the DOT text, y growing downwards.

import type { Rectangle } from "../window/geometry";
import { meets } from "../window/sight";
import type { Line } from "./scene";

/** Names are DOT's: `n<position>`, `s<position>`, `e<position>`. */
export interface Placed {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly (readonly [string, Rectangle])[];
  readonly grounds: readonly (readonly [string, Rectangle])[];
  readonly lines: readonly (readonly [string, Line])[];
}

interface Output {
  readonly bb: string;
  readonly objects?: readonly Readonly<Record<string, string | undefined>>[];
  readonly edges?: readonly Readonly<Record<string, string | undefined>>[];
}

const POINTS_PER_INCH = 72;

/** Reads the places; throws where Graphviz, which does not say so, placed boxes over each other. */
export function placed(json: string): Placed {
  const output = JSON.parse(json) as Output;
  const [, , width = 0, height = 0] = numbers(output.bb);
  if (!width || !height) throw new Error("Graphviz drew nothing");
  const boxes: [string, Rectangle][] = [];
  const grounds: [string, Rectangle][] = [];
  for (const { id, bb, pos, width: inches, height: high } of output.objects ?? []) {
    if (id && bb) {
      const [left = 0, bottom = 0, right = 0, top = 0] = numbers(bb);
      grounds.push([id, { left, top: height - top, width: right - left, height: top - bottom }]);
    } else if (id && pos) {
      const [x = 0, y = 0] = numbers(pos);
      const [wide, tall] = [Number(inches) * POINTS_PER_INCH, Number(high) * POINTS_PER_INCH];
      boxes.push([id, { left: x - wide / 2, top: height - y - tall / 2, width: wide, height: tall }]);
    }
  }
  if (![...boxes, ...grounds].every(([, place]) => hasRoom(place))) throw new Error("Graphviz left a box no room");
  if (anyMeet(boxes.map(([, place]) => place))) throw new Error("Graphviz placed boxes over each other");
  const lines = (output.edges ?? []).flatMap(({ id, pos, lp }): [string, Line][] => {
    const curve = id && pos ? line(pos, lp, height) : null;
    return id && curve ? [[id, curve]] : [];
  });
  return { width, height, boxes, grounds, lines };
}

const hasRoom = ({ left, top, width, height }: Rectangle): boolean =>
  Number.isFinite(left + top) && width > 0 && height > 0;

/** Tells whether any two of the boxes meet. */
function anyMeet(boxes: readonly Rectangle[]): boolean {
  const sorted = [...boxes].sort((one, other) => one.top - other.top);
  return sorted.some((one, at) => {
    for (let next = at + 1; next < sorted.length; next++) {
      const other = sorted[next];
      if (!other || other.top > one.top + one.height) return false;
      if (meets(one, other)) return true;
    }
    return false;
  });
}

/** Reads `e,x,y x,y x,y …`: the tip of the head, then the curve's points. */
function line(text: string, label: string | undefined, height: number): Line | null {
  const parts = text.split(" ");
  const flipped = (part: string): [number, number] => {
    const [x = 0, y = 0] = numbers(part);
    return [x, height - y];
  };
  const tip = parts.find((part) => part.startsWith("e,"));
  const points = parts.filter((part) => /^-?[0-9]/.test(part)).flatMap(flipped);
  if (points.length < 8) return null;
  const end: [number, number] = [points[points.length - 2] ?? 0, points[points.length - 1] ?? 0];
  return { points, tip: tip ? flipped(tip.slice(2)) : end, label: label ? flipped(label) : null, clear: 0 };
}

const numbers = (text: string): number[] => text.split(",").map(Number);
