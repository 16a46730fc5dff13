// The target of an arrow key: the nearest box in its direction.

import type { Rectangle } from "./geometry";

export type Direction = "up" | "down" | "left" | "right";

export function nearest(
  boxes: ReadonlyMap<string, Rectangle>,
  from: string,
  direction: Direction,
): string {
  const start = boxes.get(from);
  if (!start) return from;
  const [x, y] = centre(start);
  let best = from;
  let least = Infinity;
  for (const [name, place] of boxes) {
    if (name === from) continue;
    const [u, v] = centre(place);
    const vertical = direction === "up" || direction === "down";
    const sign = direction === "up" || direction === "left" ? -1 : 1;
    const [along, across] = vertical ? [(v - y) * sign, u - x] : [(u - x) * sign, v - y];
    if (along <= 1) continue;
    const distance = along + 2.5 * Math.abs(across);
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

const centre = ({ left, top, width, height }: Rectangle): [number, number] => [
  left + width / 2,
  top + height / 2,
];
