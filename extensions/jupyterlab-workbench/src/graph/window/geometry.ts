// The part of a picture in a window: rectangles in, a scale and a place out.

import { DOT } from "../../protocol";

export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A view: a point of the picture stands `k` times as far from the window's corner, then moved by `x`, `y`. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

/** The scale below which the two lines of a box cannot be read, and its name alone is drawn. */
export const FAR = 0.85;

/** The scale below which names drawn alone are smaller than 9 pixels; no view chosen for the reader is. */
export const READABLE = 0.6;

/** The size of the smallest letters on the screen, in pixels. */
const SMALLEST = 9;

/** Returns the size of the index on an arrow, in the picture's measure; 0 where none could be told apart. It stays as
 * large on the screen when the window looks from further away. */
export function letters(k: number): number {
  return k >= DISCERNIBLE ? SMALLEST / Math.min(1, k) : 0;
}

/** The size of a name that stands alone on its box, in the picture's measure: from far away it is larger. */
export const nameSize = (k: number): number => Math.max(DOT.nameSize, SMALLEST / k);

/** The same of chips; 0 from so far away that they would hide it. */
export const chipSize = (k: number): number => (k >= DISCERNIBLE ? Math.max(DOT.chipSize, SMALLEST / k) : 0);

/** The scale down to which the first view shows the whole picture rather than a part with larger names. */
export const DISCERNIBLE = 0.5;

/** How far below the lower edge of a box the middle of its chips stands, and their lower edge at the most. */
export const DROP = 4;
export const hang = (chipSize: number): number => DROP + (chipSize + 4) / 2;
export const HANG = hang(DOT.chipSize);

const LARGEST = 1.4;
/** Pixels around what is shown: chips hang over the lower edge of a box. */
const MARGIN = 14;

export const whole = ({ width, height }: Size): Rectangle => ({ left: 0, top: 0, width, height });

/** Returns the scale at which all of it is seen. */
export function fitting(inner: Size, outer: Size): number {
  return Math.min(
    LARGEST,
    (outer.width - 2 * MARGIN) / inner.width,
    (outer.height - 2 * MARGIN) / inner.height,
  );
}

/** Puts the rectangle in the middle of the window. */
export function centred(inner: Rectangle, outer: Size, k: number): View {
  return {
    x: outer.width / 2 - (inner.left + inner.width / 2) * k,
    y: outer.height / 2 - (inner.top + inner.height / 2) * k,
    k,
  };
}

/** The number of places that the first view tries. */
const TRIES = 120;

/** Shows all of the picture where its names can then be made out, else a part at the top where most boxes are seen. */
export function atFirst(picture: Size, boxes: readonly Rectangle[], outer: Size): View {
  const all = fitting(picture, outer);
  const k = all >= DISCERNIBLE ? all : READABLE;
  const { x, y } = centred(whole(picture), outer, k);
  const [width, height] = [outer.width / k, outer.height / k];
  if (picture.width <= width && picture.height <= height) return { x, y, k };
  const wide = picture.width > width;
  const every = Math.max(1, Math.ceil(boxes.length / TRIES));
  const starts = wide ? boxes.filter((_, at) => at % every === 0) : [whole(picture)];
  let [best, from, most] = [0, 0, -1];
  for (const start of starts) {
    const left = wide ? Math.min(start.left - MARGIN / k, picture.width - width) : 0;
    const column = boxes.filter((box) => box.left >= left && box.left + box.width <= left + width);
    const top = Math.min(...column.map((box) => box.top)) - 3 * MARGIN;
    const seen = column.filter((box) => box.top + box.height <= top + height).length;
    if (seen > most) [best, from, most] = [left, top, seen];
  }
  const down = picture.height > height ? Math.min(Math.max(0, from), picture.height - height) : 0;
  return { x: wide ? -best * k : x, y: picture.height > height ? (down ? -down * k : MARGIN) : y, k };
}

/** Moves the view as little as shows the rectangle; of one larger than the window, its left and top. */
export function showing(inner: Rectangle, outer: Size, view: View): View {
  const along = (start: number, length: number, room: number, moved: number): number => {
    const [first, last] = [start * view.k + moved, (start + length) * view.k + moved];
    if (first < MARGIN || last - first > room - 2 * MARGIN) return moved + MARGIN - first;
    return moved + Math.min(0, room - MARGIN - last);
  };
  return {
    x: along(inner.left, inner.width, outer.width, view.x),
    y: along(inner.top, inner.height, outer.height, view.y),
    k: view.k,
  };
}

/** Returns the least rectangle around all of them. */
export function around(all: readonly Rectangle[]): Rectangle {
  const left = Math.min(...all.map((one) => one.left));
  const top = Math.min(...all.map((one) => one.top));
  const right = Math.max(...all.map((one) => one.left + one.width));
  const bottom = Math.max(...all.map((one) => one.top + one.height));
  return { left, top, width: right - left, height: bottom - top };
}

/** Tells whether all of it is seen. */
export function isInSight(inner: Rectangle, outer: Size, view: View): boolean {
  const [left, top] = [inner.left * view.k + view.x, inner.top * view.k + view.y];
  return (
    left >= 0 && left + inner.width * view.k <= outer.width &&
    top >= 0 && top + inner.height * view.k <= outer.height
  );
}
