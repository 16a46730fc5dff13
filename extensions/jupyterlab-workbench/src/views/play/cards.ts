// Where instances and slots stand: a card for each piece of memory, with the statements that write it. Pure functions.

import type { PlayedMemory, PlayedStatement } from "../../protocol";
import type { Point, Script } from "./script";

/** The distance of instances in a grid, and of slots without a label. */
export const PITCH = 13;
/** The height of a slot with a label, and the width of a letter in it. */
const LABELLED = 18;
const LETTER = 6.2;
/** The most slots that get labels. */
const MOST_LABELLED = 40;
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
  const spots = script.instances.flatMap((played, instance) =>
    played.statement === number ? { number: instance, ...spotOf(played.point, lower, lengths) } : [],
  );
  const [x, y, ...outer] = [...dims].reverse();
  return { statement, spots, axes: axesText(outer.reverse(), "⇉", y, x), ...extentOf(lengths) };
}

/** Says which dimension goes down, which to the right, and how the outer ones go. */
function axesText(outer: readonly string[], how: string, down: string | undefined, right: string | undefined): string {
  const named = [...outer.map((dim) => `${dim} ${how}`), down && `${down} ↓`, right && `${right} →`];
  return named.filter(Boolean).join(" ");
}

/** The last dimension goes to the right, the one before down; the others have a grid beside another. */
function spotOf(point: Point, lower: Point, lengths: Point): { x: number; y: number } {
  const at = point.map((value, k) => value - (lower[k] ?? 0));
  const rank = at.length;
  let outer = 0;
  for (let k = 0; k < rank - 2; k++) outer = outer * (lengths[k] ?? 1) + (at[k] ?? 0);
  const across = lengths[rank - 1] ?? 1;
  return {
    x: PITCH / 2 + PITCH * (at[rank - 1] ?? 0) + outer * (PITCH * across + GAP),
    y: PITCH / 2 + PITCH * (rank > 1 ? (at[rank - 2] ?? 0) : 0),
  };
}

function extentOf(lengths: Point): { width: number; height: number } {
  const rank = lengths.length;
  const outer = lengths.slice(0, -2).reduce((product, length) => product * length, 1);
  const across = PITCH * (lengths[rank - 1] ?? 1);
  return { width: outer * across + (outer - 1) * GAP, height: PITCH * (rank > 1 ? (lengths[rank - 2] ?? 1) : 1) };
}

function slotGrid({ view }: Script, memory: PlayedMemory, first: number): SlotGrid {
  const longest = Math.max(0, ...memory.arrays.flatMap((number) => view.arrays[number] ?? []).map(({ lower, lengths }) =>
    labelOf(lengths.map((length, k) => (lower[k] ?? 0) + length - 1)).length,
  ));
  const labelled = longest > 0 && memory.slots <= MOST_LABELLED;
  const cell = labelled
    ? { width: Math.max(LABELLED, longest * LETTER + 7), height: LABELLED }
    : { width: PITCH, height: PITCH };
  const spots = Array.from({ length: memory.slots }, (_, slot) => ({
    number: first + slot,
    x: cell.width * (slot % memory.across),
    y: cell.height * Math.floor(slot / memory.across),
  }));
  const rows = Math.ceil(memory.slots / memory.across);
  const [x, ...down] = [...memory.along].reverse();
  return { spots, axes: axesText(down.reverse(), "↓", undefined, x), cell, labelled, width: cell.width * memory.across, height: cell.height * rows };
}

/** Returns the coordinates of an element as they stand in its slot. */
export const labelOf = (point: Point): string => point.join(",");
