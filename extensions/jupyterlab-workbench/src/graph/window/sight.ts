// The level of detail. Boxes near the window are elements, for reader and keyboard; a crowd with unreadable names is
// painted.

import { FAR, type Rectangle, type Size, type View } from "./geometry";

/** The lines of text on a box; from far away none could be read. */
export type Text = "both" | "name" | "none";

/** The scale below which even names are specks. */
const SPECKS = 0.25;

/** The most boxes of a picture that is elements throughout. */
export const ALL = 300;

/** The most boxes in the window that are no crowd. */
export const CROWD = 260;

/** Boxes that become elements in one frame. */
export const SLICE = 40;

export interface Sight {
  /** Boxes that are elements, nearest to the window's middle first. */
  readonly boxes: readonly string[];
  /** The part of the picture they were chosen for. */
  readonly area: Rectangle;
  /** True if boxes without an element are painted. */
  readonly crowd: boolean;
  /** The lines of text on a box. */
  readonly text: Text;
  /** The scale, rounded to a quarter of a doubling: what letters' sizes depend on. */
  readonly scale: number;
}

/** Returns the part of the picture in the window. */
export function windowOf({ x, y, k }: View, room: Size): Rectangle {
  return { left: -x / k, top: -y / k, width: room.width / k, height: room.height / k };
}

const textAt = (k: number): Text => (k < SPECKS ? "none" : k < FAR ? "name" : "both");

export const rounded = (k: number): number => 2 ** (Math.round(4 * Math.log2(k)) / 4);

export function sight(boxes: ReadonlyMap<string, Rectangle>, view: View, room: Size): Sight {
  const shown = windowOf(view, room);
  const crowd = boxes.size > ALL && among(boxes, shown) > CROWD;
  const margin = boxes.size <= ALL ? Infinity : 0.3;
  const area = grown(shown, margin);
  const [x, y] = [shown.left + shown.width / 2, shown.top + shown.height / 2];
  const far = ({ left, top, width, height }: Rectangle): number =>
    Math.hypot(left + width / 2 - x, top + height / 2 - y);
  const near = crowd ? [] : [...boxes].filter(([, place]) => meets(place, area));
  return {
    boxes: near.sort(([, one], [, other]) => far(one) - far(other)).map(([name]) => name),
    area,
    crowd,
    text: textAt(view.k),
    scale: rounded(view.k),
  };
}

/** Tells whether the drawing no longer suits the view. */
export function isStale(seen: Sight, boxes: ReadonlyMap<string, Rectangle>, view: View, room: Size): boolean {
  if (seen.text !== textAt(view.k) || seen.scale !== rounded(view.k)) return true;
  if (boxes.size <= ALL) return false;
  const shown = windowOf(view, room);
  if (seen.crowd) return among(boxes, shown) <= CROWD;
  const { left, top, width, height } = seen.area;
  const inside =
    shown.left >= left && shown.top >= top &&
    shown.left + shown.width <= left + width && shown.top + shown.height <= top + height;
  return !inside || among(boxes, shown) > CROWD;
}

export function meets(one: Rectangle, other: Rectangle): boolean {
  return (
    one.left <= other.left + other.width && other.left <= one.left + one.width &&
    one.top <= other.top + other.height && other.top <= one.top + one.height
  );
}

function among(boxes: ReadonlyMap<string, Rectangle>, area: Rectangle): number {
  let count = 0;
  for (const place of boxes.values()) if (meets(place, area)) count++;
  return count;
}

function grown({ left, top, width, height }: Rectangle, share: number): Rectangle {
  if (share === Infinity) return { left: -1e9, top: -1e9, width: 2e9, height: 2e9 };
  return {
    left: left - width * share,
    top: top - height * share,
    width: width * (1 + 2 * share),
    height: height * (1 + 2 * share),
  };
}
