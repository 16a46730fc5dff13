// Where instances and slots stand: a card for each piece of memory, with the statements that write it. Pure functions.

import type { PlayedMemory, PlayedStatement } from "../../protocol";
import { type Point, pointAt, type Script } from "./script";

/** The distance of instances in a grid, and of slots without a label. */
export const PITCH = 13;
/** The height of a slot with a label, and the width of a letter in it. */
const LABELLED = 18;
const LETTER = 6.2;
/** The most slots that get labels. */
const MOST_LABELLED = 16;
/** The room between the grids of outer dimensions. */
const GAP = 7;

export interface Spot {
  /** The number of an instance or a slot. */
  readonly number: number;
  readonly x: number;
  readonly y: number;
}

export interface Grid {
  readonly spots: readonly Spot[];
  readonly width: number;
  readonly height: number;
}

export interface StatementGrid extends Grid {
  readonly statement: PlayedStatement;
  /** Which dimension goes where: `b ↓ t →`. */
  readonly axes: string;
}

export interface SlotGrid extends Grid {
  /** Which dimension goes where. */
  readonly axes: string;
  readonly cell: { readonly width: number; readonly height: number };
  readonly labelled: boolean;
}

export interface Card {
  readonly memory: PlayedMemory;
  readonly title: string;
  readonly statements: readonly StatementGrid[];
  readonly slots: SlotGrid;
}

/** Returns the cards, in the order in which their arrays are first written. */
export function cardsOf(script: Script): readonly Card[] {
  const { view, events } = script;
  const writers = view.statements.map((statement, number) => ({ statement, number }));
  const began = view.memories.map((memory) =>
    events.findIndex(({ statement }) => memory.arrays.includes(view.statements[statement]?.array ?? -1)),
  );
  const order = view.memories.map((_, number) => number);
  // What nobody here writes was there before.
  order.sort((one, other) => (began[one] ?? 0) - (began[other] ?? 0));
  return order.flatMap((number) => {
    const memory = view.memories[number];
    if (!memory) return [];
    const own = writers.filter(({ statement }) => memory.arrays.includes(statement.array));
    return {
      memory,
      title: memory.arrays.map((array) => view.arrays[array]?.name ?? "").join(", "),
      statements: own.map((writer) => statementGrid(script, writer.number, writer.statement)),
      slots: slotGrid(script, memory, script.firstSlot[number] ?? 0),
    };
  });
}

function statementGrid(script: Script, number: number, statement: PlayedStatement): StatementGrid {
  const { dims, lower, lengths } = statement;
  const cell = { width: PITCH, height: PITCH };
  const spots = script.instances.flatMap(({ statement: own, point }, instance) => {
    if (own !== number) return [];
    const { x, y } = cornerOf(point.map((value, k) => value - (lower[k] ?? 0)), lengths, cell);
    return { number: instance, x: x + PITCH / 2, y: y + PITCH / 2 };
  });
  return { statement, spots, axes: axesText(dims), ...extentOf(lengths, cell) };
}

function slotGrid({ view }: Script, memory: PlayedMemory, first: number): SlotGrid {
  const longest = Math.max(0, ...memory.arrays.flatMap((number) => view.arrays[number] ?? []).map(({ lower, lengths }) =>
    labelOf(lengths.map((length, k) => (lower[k] ?? 0) + length - 1)).length,
  ));
  const labelled = longest > 0 && memory.slots <= MOST_LABELLED;
  const cell = labelled
    ? { width: Math.max(LABELLED, longest * LETTER + 7), height: LABELLED }
    : { width: PITCH, height: PITCH };
  const none = memory.lengths.map(() => 0);
  const spots = Array.from({ length: memory.slots }, (_, slot) => ({
    number: first + slot,
    ...cornerOf(pointAt(slot, none, memory.lengths), memory.lengths, cell),
  }));
  return { spots, axes: axesText(memory.along), cell, labelled, ...extentOf(memory.lengths, cell) };
}

/** Says how the dimensions go: the last one to the right, the one before down, the others a grid beside another. */
function axesText(dims: readonly string[]): string {
  const arrows = ["→", "↓"];
  return dims.map((dim, k) => `${dim} ${arrows[dims.length - 1 - k] ?? "⇉"}`).join(" ");
}

type Cell = SlotGrid["cell"];

/** Returns the corner of the cell at a point of a box that begins at 0. */
function cornerOf(at: Point, lengths: Point, cell: Cell): { x: number; y: number } {
  const rank = at.length;
  let outer = 0;
  for (let k = 0; k < rank - 2; k++) outer = outer * (lengths[k] ?? 1) + (at[k] ?? 0);
  const across = cell.width * (lengths[rank - 1] ?? 1);
  return {
    x: cell.width * (at[rank - 1] ?? 0) + outer * (across + GAP),
    y: cell.height * (rank > 1 ? (at[rank - 2] ?? 0) : 0),
  };
}

function extentOf(lengths: Point, cell: Cell): { width: number; height: number } {
  const rank = lengths.length;
  const outer = lengths.slice(0, -2).reduce((product, length) => product * length, 1);
  const across = cell.width * (lengths[rank - 1] ?? 1);
  const down = cell.height * (rank > 1 ? (lengths[rank - 2] ?? 1) : 1);
  return { width: outer * across + (outer - 1) * GAP, height: down };
}

/** Returns the coordinates of an element as they stand in its slot. */
export const labelOf = (point: Point): string => point.join(",");
