// Prices of moves, asked for a few at a time: those in view first, then, while the reader does nothing, the others.

import { useEffect, useMemo, useRef, useState } from "react";
import { useStore, useValues } from "../../model/hooks";
import type { Loaded } from "../../model/parts";
import type { Predicting } from "../../model/selection";
import type { PriceView, StepView } from "../../protocol";

/** The settings of predictions. */
export type Run = Predicting;

/** The most prices asked for at a time: what two processes compute, and what comes next. Of more, the last would be
 * computed first. */
const AHEAD = 4;
/** Milliseconds without a click or a key after which prices out of view are asked for too. */
const QUIET = 2000;

type Prices = ReadonlyMap<string, Loaded<PriceView>>;

/** Returns all prices that are there or on their way, by the step's source. */
export function usePrices(variant: string, run: Run, steps: readonly StepView[]): Prices {
  const store = useStore();
  const { loaded } = useValues();
  return useMemo(() => {
    const found = new Map<string, Loaded<PriceView>>();
    for (const step of steps) {
      const price = store.known("price", variant, { step: step.json, ...run });
      if (price) found.set(step.source, price);
    }
    return found;
  }, [store, variant, run, steps, loaded]);
}

/** Has prices asked for: of the steps in view in their order, then of the others. Requests for another variant or
 * another run are called back. */
export function useAsked(variant: string, run: Run, inView: readonly StepView[], others: readonly StepView[]): void {
  const store = useStore();
  const { loaded, status } = useValues();
  const isQuiet = useQuiet();
  const asked = useRef({ variant, run, steps: new Set<StepView>() });
  useEffect(() => {
    const before = asked.current;
    const waiting = [...before.steps].filter(
      (step) => store.known("price", before.variant, { step: step.json, ...before.run })?.status === "waiting",
    );
    const stale = before.variant !== variant || before.run !== run;
    if (stale) waiting.forEach((step) => store.forget("price", before.variant, { step: step.json, ...before.run }));
    asked.current = { variant, run, steps: new Set(stale ? [] : waiting) };
    const most = status === "saved" ? Infinity : AHEAD; // what is kept in a file is there at once
    for (const step of isQuiet || status === "saved" ? [...inView, ...others] : inView) {
      if (asked.current.steps.size >= most) return;
      const given = { step: step.json, ...run };
      if (store.known("price", variant, given)) continue;
      asked.current.steps.add(step);
      store.part("price", variant, given);
    }
  }, [store, variant, run, inView, others, loaded, status, isQuiet]);
}

/** Tells whether nobody has pressed or turned anything for a while. */
function useQuiet(): boolean {
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    let timer = window.setTimeout(() => setQuiet(true), QUIET);
    const stir = (): void => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => setQuiet(true), QUIET);
      setQuiet(false);
    };
    const kinds = ["pointerdown", "keydown", "wheel"] as const;
    for (const kind of kinds) window.addEventListener(kind, stir, { capture: true, passive: true });
    return () => {
      window.clearTimeout(timer);
      for (const kind of kinds) window.removeEventListener(kind, stir, { capture: true });
    };
  }, []);
  return isQuiet;
}

/** Returns the visible ones of the elements with a `data-source` inside `host`; `rows` says when there are others. */
export function useInView(
  host: React.RefObject<HTMLElement>,
  rows: readonly unknown[],
): ReadonlySet<string> {
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const watched = useRef<Watched | null>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) =>
      setSeen((before) => {
        const now = new Set(before);
        for (const { target, isIntersecting } of entries) {
          const source = (target as HTMLElement).dataset["source"] ?? "";
          if (isIntersecting) now.add(source);
          else now.delete(source);
        }
        return now.size === before.size && [...now].every((one) => before.has(one)) ? before : now;
      }),
    );
    watched.current = { observer, rows: new Set() };
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const { observer, rows: before } = watched.current as Watched;
    const now = new Set(host.current?.querySelectorAll("[data-source]") ?? []);
    const gone = [...before].filter((row) => !now.has(row));
    gone.forEach((row) => observer.unobserve(row));
    const sources = new Set(gone.map((row) => (row as HTMLElement).dataset["source"] ?? ""));
    if (gone.length) setSeen((known) => new Set([...known].filter((source) => !sources.has(source))));
    for (const row of now) if (!before.has(row)) observer.observe(row);
    watched.current = { observer, rows: now };
  }, [host, rows]);
  return seen;
}

/** An observer with the rows that it watches: each price makes a new list of hundreds of rows that were there before. */
interface Watched {
  readonly observer: IntersectionObserver;
  readonly rows: ReadonlySet<Element>;
}
