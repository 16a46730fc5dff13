// Places for the indices of arrows for which Graphviz left no room: on an arrow or beside it, clear of boxes and of one
// another.

import { course } from "../window/pick";
import { DISCERNIBLE, FAR, letters, READABLE, type Rectangle } from "../window/geometry";
import { meets } from "../window/sight";
import { type Arrow, type Line, markOf } from "./scene";

/** Width and height of a character of an index, in its size. */
const [WIDE, HIGH] = [0.62, 1];

/** The scales for whose letters room is looked for: from further away they are larger. */
const SCALES = [DISCERNIBLE, READABLE, FAR, 1];

/** Shares of an arrow's length, as they are tried: from its middle on. */
const SHARES = Array.from({ length: 15 }, (_, at) => 0.5 + 0.05 * Math.ceil(at / 2) * (at % 2 ? -1 : 1));

/** The place of an index beside its arrow, in halves of its width. */
const SIDES = [0, -1, 1];

/** Gives every arrow with an index and without a label a place for it, where there is one. */
export function placeLabels(
  lines: ReadonlyMap<string, Line>,
  arrows: readonly Arrow[],
  boxes: Iterable<Rectangle>,
): ReadonlyMap<string, Line> {
  const taken = new Taken();
  for (const box of boxes) taken.add(box);
  const found = new Map(lines);
  for (const arrow of arrows) {
    const line = lines.get(arrow.id);
    const mark = markOf(arrow);
    if (line && mark && !line.label) found.set(arrow.id, labelled(line, mark.length, taken));
  }
  return found;
}

function labelled(line: Line, characters: number, taken: Taken): Line {
  for (const scale of SCALES) {
    const [width, height] = [WIDE * characters * letters(scale), HIGH * letters(scale)];
    for (const share of SHARES) {
      const [x, y] = pointAt(course(line), share);
      for (const side of SIDES) {
        const middle = x + (side * (width + height)) / 2;
        const room = { left: middle - width / 2, top: y - height / 2, width, height };
        if (taken.meets(room)) continue;
        taken.add(room);
        return { ...line, label: [middle, y], clear: scale };
      }
    }
  }
  return { ...line, clear: Infinity };
}

/** Returns the point at a share of a polyline's length. */
function pointAt(points: readonly number[], share: number): readonly [number, number] {
  const lengths: number[] = [];
  for (let at = 0; at + 3 < points.length; at += 2) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = points.slice(at, at + 4);
    lengths.push(Math.hypot(bx - ax, by - ay));
  }
  let left = share * lengths.reduce((sum, one) => sum + one, 0);
  const piece = lengths.findIndex((length) => (left -= length) <= 0);
  const at = 2 * Math.max(0, piece);
  const [ax = 0, ay = 0, bx = 0, by = 0] = points.slice(at, at + 4);
  const back = -left / (lengths[piece] || 1);
  return [bx + (ax - bx) * back, by + (ay - by) * back];
}

/** The side of a square of the plane, in whose list a rectangle stands that meets it. */
const SQUARE = 80;

/** Rectangles that are taken, found by the squares of the plane that they meet. */
class Taken {
  private readonly squares = new Map<string, Rectangle[]>();

  add(place: Rectangle): void {
    for (const name of squares(place)) {
      const there = this.squares.get(name);
      if (there) there.push(place);
      else this.squares.set(name, [place]);
    }
  }

  meets(place: Rectangle): boolean {
    return squares(place).some((name) => this.squares.get(name)?.some((other) => meets(place, other)));
  }
}

function squares({ left, top, width, height }: Rectangle): string[] {
  const names: string[] = [];
  for (let x = Math.floor(left / SQUARE); x <= Math.floor((left + width) / SQUARE); x++) {
    for (let y = Math.floor(top / SQUARE); y <= Math.floor((top + height) / SQUARE); y++) names.push(`${x},${y}`);
  }
  return names;
}
