// The places of instances in a picture: a band for each statement, along one dimension or two. Pure geometry.

import { shortened } from "../../graph/drawing/boxes/shortened";
import type { ArrowView, DomainView, PointsView } from "../../protocol";

export interface Axes {
  readonly x: string;
  /** The vertical axis, empty where one axis is enough. */
  readonly y: string;
}

/** The value at which each dimension that is no axis is cut. */
export type Cuts = Readonly<Record<string, number>>;

export interface Spot {
  readonly statement: number;
  readonly point: number;
  readonly x: number;
  readonly y: number;
  /** The place in the order of execution, from 1; null where there is none. */
  readonly order: number | null;
}

export interface Band {
  readonly statement: number;
  readonly top: number;
  readonly height: number;
  readonly rows: readonly { readonly label: string; readonly y: number }[];
}

export interface Line {
  readonly arrow: ArrowView;
  readonly path: string;
  /** The point's middle. */
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The name of the horizontal axis, as it stands in front of the columns. */
  readonly name: string;
  readonly columns: readonly { readonly label: string; readonly x: number }[];
  readonly bands: readonly Band[];
  readonly spots: readonly Spot[];
  readonly lines: readonly Line[];
  /** The number of dependences with an instance cut away. */
  readonly hidden: number;
}

export const RADIUS = 11;
const ROW = 34;
const TITLE = 26;
const GAP = 16;
const BOTTOM = 34;
/** Pixels of a title: of a letter, and around all. */
const [TITLE_LETTER, TITLE_AROUND] = [7.3, 18];
/** Pixels of the labels in front of rows: of a letter, around all, and of all where they are short; and the most
 * letters. */
const [LABEL_LETTER, LABEL_AROUND, LEAST_LEFT, LONGEST] = [6.7, 14, 46, 20];

/** The width of few columns together; many are as narrow as they can be told apart. */
const WIDE = 380;
const [NARROWEST, WIDEST] = [36, 76];

/** Returns the dimensions of any statement that have several values here, the innermost last. */
export function varying(space: DomainView): readonly string[] {
  const names = [...new Set(space.statements.flatMap((one) => one.dims))];
  return names.filter((dim) => valuesOf(space, dim).length > 1);
}

export function valuesOf(space: DomainView, dim: string): readonly number[] {
  const found = new Set<number>();
  for (const one of space.statements) {
    const place = one.dims.indexOf(dim);
    if (place >= 0) for (const point of one.points) found.add(point[place] ?? 0);
  }
  return [...found].sort((one, other) => one - other);
}

/** Returns the axes that tell most: dimensions along which instances depend on others, the innermost first. Where there
 * are none such, one statement alone still has room for two. */
export function bestAxes(space: DomainView, preferred: readonly string[] = []): Axes {
  const dims = [...varying(space)].reverse();
  const moved = new Set(space.arrows.flatMap((arrow) => changing(space, arrow)));
  const rank = (dim: string): number => (preferred.includes(dim) ? 0 : moved.has(dim) ? 1 : 2);
  const sorted = [...dims].sort((one, other) => rank(one) - rank(other));
  const fallback = space.statements.flatMap((one) => one.dims).at(-1) ?? "";
  const second = sorted.find((dim, place) => place === 1 && (rank(dim) < 2 || space.statements.length === 1));
  return { x: sorted[0] ?? fallback, y: second ?? "" };
}

/** Returns the dimensions whose value differs between the two ends. */
function changing(space: DomainView, arrow: ArrowView): readonly string[] {
  const source = space.statements[arrow.source_statement];
  const sink = space.statements[arrow.sink_statement];
  if (!source || !sink) return [];
  return source.dims.filter((dim) => {
    const there = sink.dims.indexOf(dim);
    return there >= 0 && coordinate(source, arrow.source, dim) !== coordinate(sink, arrow.sink, dim);
  });
}

export function coordinate(statement: PointsView, point: number, dim: string): number | null {
  const place = statement.dims.indexOf(dim);
  return place < 0 ? null : (statement.points[point]?.[place] ?? null);
}

/** Tells whether an instance stands in the picture when other dimensions are cut. */
function isShown(statement: PointsView, point: number, axes: Axes, cuts: Cuts): boolean {
  return statement.dims.every((dim) => {
    const cut = cuts[dim];
    return dim === axes.x || dim === axes.y || cut === undefined || coordinate(statement, point, dim) === cut;
  });
}

export function layout(space: DomainView, axes: Axes, cuts: Cuts): Layout {
  const name = shortened(axes.x, LONGEST);
  const labels = space.statements.flatMap((one) => rowsOf(one, axes.y).map((row) => labelOf(axes.y, row)));
  const letters = Math.max(...[name, ...labels].map((label) => [...label].length));
  const left = Math.max(LEAST_LEFT, LABEL_AROUND + LABEL_LETTER * letters);
  const { columns, place, cell } = columnsOf(space, axes.x, left);
  const bands: Band[] = [];
  const spots: Spot[] = [];
  let top = 4;
  space.statements.forEach((statement, number) => {
    const rows = rowsOf(statement, axes.y);
    const first = top + TITLE;
    rows.forEach((row, position) => {
      statement.points.forEach((_, point) => {
        if (coordinate(statement, point, axes.y) !== row || !isShown(statement, point, axes, cuts)) return;
        const order = statement.order?.[point];
        spots.push({
          statement: number,
          point,
          x: place(coordinate(statement, point, axes.x)),
          y: first + position * ROW + ROW / 2,
          order: order === undefined ? null : order + 1,
        });
      });
    });
    const height = TITLE + Math.max(rows.length, 1) * ROW;
    bands.push({
      statement: number,
      top,
      height,
      rows: rows.map((row, position) => ({ label: labelOf(axes.y, row), y: first + position * ROW + ROW / 2 })),
    });
    top += height + GAP;
  });
  const { lines, hidden } = linesOf(space, spots, cell);
  const titles = space.statements.map(({ title }) => TITLE_AROUND + TITLE_LETTER * title.length);
  const width = Math.max(left + columns.length * cell + 12, 200, ...titles);
  return { width, height: top - GAP + BOTTOM, name, columns, bands, spots, lines, hidden };
}

const labelOf = (dim: string, row: number | null): string =>
  row === null ? "" : shortened(`${dim}=${row}`, LONGEST);

/** Makes a column for each value, and one in front for statements that do not vary along the axis. */
function columnsOf(
  space: DomainView,
  dim: string,
  left: number,
): { columns: Layout["columns"]; place: (value: number | null) => number; cell: number } {
  const values: (number | null)[] = [...valuesOf(space, dim)];
  if (space.statements.some((one) => !one.dims.includes(dim) && one.points.length)) values.unshift(null);
  const cell = Math.min(WIDEST, Math.max(NARROWEST, WIDE / Math.max(values.length, 1)));
  const place = (value: number | null): number => left + (values.indexOf(value) + 0.5) * cell;
  return {
    cell,
    columns: values.map((value) => ({ label: value === null ? "–" : String(value), x: place(value) })),
    place,
  };
}

function rowsOf(statement: PointsView, dim: string): readonly (number | null)[] {
  const found = new Set(statement.points.map((_, point) => coordinate(statement, point, dim)));
  return [...found].sort((one, other) => (one ?? 0) - (other ?? 0));
}

function linesOf(space: DomainView, spots: readonly Spot[], cell: number): { lines: readonly Line[]; hidden: number } {
  const at = new Map(spots.map((spot) => [`${spot.statement} ${spot.point}`, spot]));
  const lines: Line[] = [];
  let hidden = 0;
  for (const arrow of space.arrows) {
    const from = at.get(`${arrow.source_statement} ${arrow.source}`);
    const to = at.get(`${arrow.sink_statement} ${arrow.sink}`);
    if (from && to) lines.push(lineOf(arrow, from, to, cell));
    else hidden += 1;
  }
  // Violated dependences are drawn over the rest.
  lines.sort((one, other) => Number(one.arrow.violated) - Number(other.arrow.violated));
  return { lines, hidden };
}

/** Makes a line from rim to rim, bent where a straight one would run through instances between. */
function lineOf(arrow: ArrowView, from: Spot, to: Spot, cell: number): Line {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const far = Math.hypot(dx, dy) || 1;
  if (from === to) {
    const { x, y } = from;
    const loop = `M${x - 5},${y - RADIUS} C${x - 22},${y - 34} ${x + 22},${y - 34} ${x + 5},${y - RADIUS - 1}`;
    return { arrow, path: loop, x, y: y - 28 };
  }
  const through = dy === 0 ? Math.abs(dx) > cell + 1 : dx === 0 ? Math.abs(dy) > ROW + 2 : false;
  const bend = through ? Math.min(18, far / 5) : dy === 0 || dx === 0 ? 0 : 6;
  const [nx, ny] = [dy / far, -dx / far];
  const side = dx < 0 ? -1 : 1;
  const [cx, cy] = [(from.x + to.x) / 2 + nx * bend * side, (from.y + to.y) / 2 + ny * bend * side];
  const start = rim(from, cx, cy, RADIUS + 1);
  const end = rim(to, cx, cy, RADIUS + 3);
  const [mx, my] = [(start.x + 2 * cx + end.x) / 4, (start.y + 2 * cy + end.y) / 4];
  return { arrow, path: `M${fixed(start)} Q${cx.toFixed(1)},${cy.toFixed(1)} ${fixed(end)}`, x: mx, y: my };
}

function rim(spot: Spot, x: number, y: number, distance: number): { x: number; y: number } {
  const far = Math.hypot(x - spot.x, y - spot.y) || 1;
  return { x: spot.x + ((x - spot.x) / far) * distance, y: spot.y + ((y - spot.y) / far) * distance };
}

function fixed({ x, y }: { x: number; y: number }): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}
