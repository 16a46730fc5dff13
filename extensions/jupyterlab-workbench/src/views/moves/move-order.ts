// The order of moves: the most helpful first, as far as predicted. Rows under the reader's hand stay in place.

import { useEffect, useMemo, useRef, useState } from "react";
import type { CostView, EffectView, MoveView, StepView } from "../../protocol";
import { worth } from "./price";

/** A move with its prediction, as far as there is one. */
export interface Shown {
  readonly move: MoveView;
  readonly after: EffectView | null;
  /** The reason why there is no prediction; empty where there is one, or where it may still come. */
  readonly problem: string;
  /** The share of the program that the step is about, which orders moves without a prediction. */
  readonly weight: number;
}

export interface Filter {
  readonly text: string;
  /** "" for every kind. */
  readonly transform: string;
  readonly refused: boolean;
  readonly by: "time" | "peak";
}

export const NO_FILTER: Filter = { text: "", transform: "", refused: true, by: "time" };

export function filtered(moves: readonly Shown[], filter: Filter): readonly Shown[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return moves.filter(({ move }) => {
    if (filter.transform && move.step.transform !== filter.transform) return false;
    if (!filter.refused && move.refused !== null) return false;
    if (!words.length) return true;
    const text = `${move.step.source} ${move.refused ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Sorts moves: helpful ones first, then those without effect or prediction, then harmful ones, refused ones last.
 * Among equals, those about most of the program come first. */
export function sorted(moves: readonly Shown[], before: CostView | null, by: Filter["by"]): readonly Shown[] {
  const worths = new Map(moves.map((shown) => [shown, worth(before, shown.after, by)]));
  return [...moves].sort(
    (one, other) =>
      Number(one.move.refused !== null) - Number(other.move.refused !== null) ||
      (worths.get(one) ?? 0) - (worths.get(other) ?? 0) ||
      heavier(one, other),
  );
}

/** Compares two moves: the one about more of the program comes first. */
export function heavier(one: Shown, other: Shown): number {
  return one.weight === other.weight ? 0 : other.weight - one.weight;
}

/** Returns the part of the time and of the memory that a step's statements and arrays have; all where it names none. */
export function weight(step: StepView, cost: CostView): number {
  if (!step.statements.length && !step.arrays.length) return Infinity;
  const { seconds, bytes, most } = shareOf(cost);
  const total = (names: readonly string[], of: ReadonlyMap<string, number>): number =>
    [...new Set(names)].reduce((sum, name) => sum + (of.get(name) ?? 0), 0);
  const spent = cost.seconds ? total(step.statements, seconds) / cost.seconds : 0;
  return spent + total(step.arrays, bytes) / most;
}

interface Shares {
  readonly seconds: ReadonlyMap<string, number>;
  readonly bytes: ReadonlyMap<string, number>;
  /** The bytes of the largest array. */
  readonly most: number;
}

const shares = new WeakMap<CostView, Shares>();

/** Returns what each statement and each array has of a cost, found once: hundreds of moves are weighed by it. */
function shareOf(cost: CostView): Shares {
  const known = shares.get(cost) ?? {
    seconds: new Map(cost.shares.map((one) => [one.statement, one.seconds])),
    bytes: new Map(cost.arrays.map((one) => [one.array, one.bytes])),
    most: Math.max(1, ...cost.arrays.map((one) => one.bytes)),
  };
  shares.set(cost, known);
  return known;
}

/** Puts the moves in their old order; new ones stand behind those of their sort. */
export function asBefore<One extends Ordered>(order: readonly string[], moves: readonly One[]): readonly One[] {
  const places = new Map(order.map((source, place) => [source, place]));
  const place = ({ move }: One): number => places.get(move.step.source) ?? order.length;
  return [...moves].sort(
    (one, other) =>
      Number(one.move.refused !== null) - Number(other.move.refused !== null) || place(one) - place(other),
  );
}

type Ordered = { readonly move: MoveView };

export interface Order<One extends Ordered> {
  readonly shown: readonly One[];
  /** The same as they were when they were sorted last. */
  readonly sorted: readonly One[];
  /** True if they would be sorted otherwise now. */
  readonly waits: boolean;
  /** Sorts them now, in whosever hand they are. */
  sort(): void;
}

/** Returns sorted moves that keep their order while `held`, until `about` changes or the reader wants them sorted. */
export function useOrder<One extends Ordered>(moves: readonly One[], held: boolean, about: string): Order<One> {
  const last = useRef<{ about: string; sorted: readonly One[]; order: readonly string[] } | null>(null);
  const [, setAsked] = useState(0);
  const stays = held && last.current?.about === about && last.current.order.length > 0;
  if (!last.current || (!stays && last.current.sorted !== moves)) {
    last.current = { about, sorted: moves, order: moves.map(({ move }) => move.step.source) };
  }
  const { order, sorted } = last.current;
  return useMemo(() => {
    const shown = asBefore(order, moves);
    return {
      shown,
      sorted,
      waits: shown.some((one, place) => one !== moves[place]),
      sort() {
        last.current = null;
        setAsked((times) => times + 1);
      },
    };
  }, [order, sorted, moves]);
}

/** Milliseconds after which a pointer that has stopped is on its way no more. */
const STOPPED = 400;

/** Tells whether the pointer moves anywhere, since it may be on its way to a row. */
function useMoving(): boolean {
  const [moving, setMoving] = useState(false);
  useEffect(() => {
    let timer = 0;
    const move = ({ movementX, movementY }: PointerEvent): void => {
      if (movementX === 0 && movementY === 0) return;
      window.clearTimeout(timer);
      timer = window.setTimeout(() => setMoving(false), STOPPED);
      setMoving(true);
    };
    window.addEventListener("pointermove", move, { capture: true, passive: true });
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener("pointermove", move, { capture: true });
    };
  }, []);
  return moving;
}

/** Tells whether the pointer moves, or has moved in an element with these listeners, or the focus is there. What comes
 * to lie under a pointer that rests is not in anybody's hand. */
export function useHeld(): {
  readonly held: boolean;
  readonly listeners: Pick<
    React.HTMLAttributes<HTMLElement>,
    "onPointerMove" | "onPointerLeave" | "onFocus" | "onBlur"
  >;
} {
  const [over, setOver] = useState(false);
  const [focused, setFocused] = useState(false);
  const moving = useMoving();
  return {
    held: moving || over || focused,
    listeners: {
      onPointerMove: ({ movementX, movementY }) => setOver((was) => was || movementX !== 0 || movementY !== 0),
      onPointerLeave: () => setOver(false),
      onFocus: () => setFocused(true),
      onBlur: () => setFocused(false),
    },
  };
}
