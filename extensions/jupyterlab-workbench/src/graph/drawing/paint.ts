// The picture on a canvas: arrows always, boxes where there are too many to be elements, all of it small as a map.

import { FAR, letters, type Rectangle, type Size, type View } from "../window/geometry";
import { course, labelPlace, reaches } from "../window/pick";
import { type Layout, type Line, markOf, type Arrow } from "../layout/scene";
import { meets, windowOf } from "../window/sight";
import { type Colour, css, mixed, type Theme } from "./theme";

/** Everything besides the view that decides how the canvas looks. */
export interface Painting {
  readonly layout: Layout;
  readonly arrows: readonly Arrow[];
  readonly theme: Theme;
  /** The ground and the line of a painted box. */
  readonly colours: (name: string) => readonly [Colour, Colour];
  /** Arrows drawn as elements above. */
  readonly apart: ReadonlySet<string>;
  readonly crowd: boolean;
  /** True if everything stands back behind the selection. */
  readonly dim: boolean;
}

/** Pixels of a dash and the gap after it. */
const DASH = 7;

/** The length of a line, in sides of the window, from which on only the part in sight is traced. */
const LONG = 1.5;

/** The scale below which heads of arrows are specks. */
const HEADS = 0.25;

/** The scale from which on arrows have their full strength, and the least strength from afar, where many overlap. */
const [FULL, FAINTEST] = [0.4, 0.12];

/** The most characters of an index that is drawn from afar, where little room is left beside arrows. */
const BRIEF = 6;

/** A canvas on the page with the one that is painted, out of sight: to set a font on a canvas of the page has the
 * browser lay out the whole page first, which takes longer than all painting. */
export interface Surface {
  paint(painting: Painting, view: View, room: Size): void;
}

export function surface(shown: HTMLCanvasElement): Surface | null {
  const screen = shown.getContext("bitmaprenderer");
  if (!screen) return null;
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext("2d");
  if (!context) return null;
  return {
    paint(painting, { x, y, k }, room) {
      const ratio = window.devicePixelRatio || 1;
      const [wide, tall] = [Math.round(room.width * ratio), Math.round(room.height * ratio)];
      if (!wide || !tall) return; // of which a browser makes no picture
      if (canvas.width !== wide || canvas.height !== tall) [canvas.width, canvas.height] = [wide, tall];
      context.setTransform(k * ratio, 0, 0, k * ratio, x * ratio, y * ratio);
      const part = windowOf({ x, y, k }, room);
      paintArrows(context, painting, part, k);
      if (painting.crowd) paintBoxes(context, painting, part, k);
      screen.transferFromImageBitmap(canvas.transferToImageBitmap()); // which leaves it empty
    },
  };
}

function paintArrows(context: OffscreenCanvasRenderingContext2D, painting: Painting, shown: Rectangle, k: number): void {
  const { layout, theme, dim } = painting;
  const strength = (dim ? 0.3 : 1) * Math.max(FAINTEST, Math.min(1, k / FULL));
  const named: (() => void)[] = [];
  for (const carried of [false, true]) {
    const seen = painting.arrows.flatMap((arrow): [Arrow, Line][] => {
      const line = layout.lines.get(arrow.id);
      if (arrow.carried !== carried || !line || painting.apart.has(arrow.id)) return [];
      return meets(reaches(line), shown) ? [[arrow, line]] : [];
    });
    const colour = carried ? theme.loop : theme.faint;
    context.lineWidth = 1 / k;
    context.strokeStyle = css(colour, strength * (carried ? 0.85 : 0.55));
    context.fillStyle = css(colour, strength * (carried ? 1 : 0.8));
    context.setLineDash(carried ? [(0.6 * DASH) / k, (0.4 * DASH) / k] : []);
    context.beginPath();
    for (const [, line] of seen) {
      const { width, height } = reaches(line);
      // A dash costs as much out of sight as in it.
      if (width + height > LONG * (shown.width + shown.height)) traceSeen(context, line, shown, DASH / k);
      else trace(context, line);
    }
    context.stroke();
    context.setLineDash([]);
    if (k >= HEADS) {
      context.beginPath();
      for (const [, line] of seen) head(context, line);
      context.fill();
    }
    const legible = dim ? (carried ? 0.85 : 0.55) : strength;
    named.push(() => paintLabels(context, seen, css(colour, legible), css(theme.back), k));
  }
  if (letters(k)) for (const paint of named) paint(); // over the lines of both kinds
}

/** Paints the indices of arrows, each on a ground of its own, so that no line runs through it. */
function paintLabels(
  context: OffscreenCanvasRenderingContext2D,
  seen: readonly [Arrow, Line][],
  colour: string,
  ground: string,
  k: number,
): void {
  context.font = `${letters(k)}px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = ground;
  context.fillStyle = colour;
  for (const [arrow, line] of seen) {
    const text = markOf(arrow);
    if (!text || k < line.clear || (k < FAR && text.length > BRIEF)) continue;
    context.strokeText(text, ...labelPlace(line));
    context.fillText(text, ...labelPlace(line));
  }
}

function trace(context: OffscreenCanvasRenderingContext2D, { points, tip }: Line): void {
  context.moveTo(points[0] ?? 0, points[1] ?? 0);
  for (let at = 2; at + 5 < points.length; at += 6) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = points.slice(at, at + 6);
    context.bezierCurveTo(a, b, c, d, e, f);
  }
  context.lineTo(tip[0], tip[1]);
}

/** Traces the part of a line in sight. It begins at a whole dash, so that dashes stay where they are when the window
 * moves. */
function traceSeen(context: OffscreenCanvasRenderingContext2D, line: Line, shown: Rectangle, dash: number): void {
  const points = course(line);
  for (let at = 0; at + 3 < points.length; at += 2) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = points.slice(at, at + 4);
    const part = clipped(ax, ay, bx, by, shown);
    if (!part) continue;
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const from = (Math.floor((part[0] * length) / dash) * dash) / length;
    context.moveTo(ax + (bx - ax) * from, ay + (by - ay) * from);
    context.lineTo(ax + (bx - ax) * part[1], ay + (by - ay) * part[1]);
  }
}

/** Returns the part of a straight line inside a rectangle, as two shares of its length; null where it is outside. */
export function clipped(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  { left, top, width, height }: Rectangle,
): readonly [number, number] | null {
  let [from, to] = [0, 1];
  const sides = [
    [bx - ax, left - ax, left + width - ax],
    [by - ay, top - ay, top + height - ay],
  ] as const;
  for (const [along, low, high] of sides) {
    if (along === 0) {
      if (low > 0 || high < 0) return null;
      continue;
    }
    const [enter, leave] = along > 0 ? [low / along, high / along] : [high / along, low / along];
    [from, to] = [Math.max(from, enter), Math.min(to, leave)];
  }
  return from <= to ? [from, to] : null;
}

/** Returns the corners of an arrow's head: its tip, and two beside the curve's end. */
export function corners({ points, tip }: Line): readonly [number, number][] {
  const [x = 0, y = 0] = points.slice(-2);
  const [dx, dy] = [tip[0] - x, tip[1] - y];
  const length = Math.hypot(dx, dy) || 1;
  const [px, py] = [(-dy / length) * 2.4, (dx / length) * 2.4];
  return [[tip[0], tip[1]], [x + px, y + py], [x - px, y - py]];
}

function head(context: OffscreenCanvasRenderingContext2D, line: Line): void {
  corners(line).forEach(([x, y], at) => (at ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

function paintBoxes(context: OffscreenCanvasRenderingContext2D, painting: Painting, shown: Rectangle, k: number): void {
  const { layout, theme, dim } = painting;
  context.lineWidth = Math.max(0.8, 0.8 / k);
  for (const [name, place] of layout.boxes) {
    if (!meets(place, shown)) continue;
    const [ground, line] = painting.colours(name);
    context.fillStyle = css(ground);
    context.strokeStyle = css(dim ? mixed(theme.back, line, 0.4) : line);
    context.fillRect(place.left, place.top, place.width, place.height);
    context.strokeRect(place.left, place.top, place.width, place.height);
  }
}
