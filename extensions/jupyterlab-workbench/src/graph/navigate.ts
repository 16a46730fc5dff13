// Where an arrow key leads: the nearest box in its direction.

export type Direction = "up" | "down" | "left" | "right";

export function nearest(
  boxes: ReadonlyMap<string, SVGGElement>,
  from: string,
  direction: Direction,
): string {
  const start = centre(boxes.get(from));
  if (!start) return from;
  let best = from;
  let least = Infinity;
  for (const [name, group] of boxes) {
    const point = centre(group);
    if (name === from || !point) continue;
    const [dx, dy] = [point.x - start.x, point.y - start.y];
    const vertical = direction === "up" || direction === "down";
    const sign = direction === "up" || direction === "left" ? -1 : 1;
    const [along, across] = vertical ? [dy * sign, dx] : [dx * sign, dy];
    if (along <= 1) continue;
    const distance = along + 2.5 * Math.abs(across);
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

function centre(group: SVGGElement | undefined): { x: number; y: number } | null {
  if (!group) return null;
  const { left, top, width, height } = group.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}
