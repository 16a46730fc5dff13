// Reduce an array: the steps that may make it smaller, ranked by what they do to it.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useCurrent, useOwnPart, usePart, usePredicting, useStore, useValues } from "../../model/hooks";
import { bytesText, SAME } from "../../model/numbers";
import type { BufferView, CostView, MoveView, PriceView, StepView } from "../../protocol";
import { Waiting } from "../../waiting";
import { plainArguments, reason, SortNow } from "../moves/move-list";
import { useHeld, useOrder } from "../moves/move-order";
import { ABSENT_PRICE, parted } from "../moves/moves";
import { changes, changeText, direction } from "../moves/price";
import { type Run, useAsked, usePrices } from "../moves/pricing";
import { Estimated } from "../run/estimated";
import { openStep } from "../step/steps";
import { candidates, isIdle, ranked, type Reduction, reduction } from "./reduce-order";

export function Reduce(props: { array: string; buffer: BufferView; leave: () => void }): JSX.Element {
  const { array, buffer, leave } = props;
  const settings = usePredicting();
  const run: Run = useMemo(() => settings, [JSON.stringify(settings)]);
  const cost = usePart("cost", run);
  const { statements } = buffer;
  const variant = useCurrent().key;
  const whole = useOwnPart("moves", {});
  const own = useOwnPart("moves", { statements });
  const moves = useMemo(
    () => whole.value && parted(whole.value, own.value, statements, new Set([array])),
    [whole.value, own.value, statements, array],
  );
  const all = useReductions(array, moves, run, cost.value);
  const host = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // It stands first in its pane: however far down the array was, the answer is in sight.
    host.current?.closest(".wbk-side")?.scrollTo?.({ top: 0 });
  }, [array]);
  return (
    <section className="wbk-reduce" ref={host} aria-label={`Reduce ${array}`}>
      <div className="wbk-bar">
        <button className="wbk-button" type="button" onClick={leave}>
          ← All arrays
        </button>
        <h4 title={`${array}, held ${buffer.until}`}>
          Reduce <code>{array}</code>: {bytesText(buffer.bytes)}
        </h4>
      </div>
      <Estimated cost={cost.value} />
      {cost.status === "failed" && <p className="wbk-hint">No predictions: {cost.error?.sentence}</p>}
      {!whole.value || !cost.value ? (
        <Waiting loaded={whole.value ? cost : whole} what="the moves" />
      ) : (
        <Ranking
          all={all}
          cost={cost.value}
          about={JSON.stringify([array, variant, run])}
          judged={whole.status === "done" && own.status !== "streaming"}
          leave={leave}
        />
      )}
    </section>
  );
}

/** Returns the moves that may be about an array, with what they do to it; has their prices asked for. */
function useReductions(
  array: string,
  moves: ReturnType<typeof parted> | null,
  run: Run,
  cost: CostView | null,
): readonly Reduction[] {
  const variant = useCurrent().key;
  const steps = useMemo(() => [...(moves?.first ?? []), ...(moves?.rest ?? [])].map((move) => move.step), [moves]);
  const prices = usePrices(variant, run, steps);
  const priceOf = (step: StepView): PriceView | null => prices.get(step.source)?.value ?? null;
  const found = useMemo(
    () => (moves ? candidates(moves.first, moves.rest, ({ step }) => array in (priceOf(step)?.arrays ?? {})) : []),
    [moves, prices, array],
  );
  const open = useMemo(
    () => (cost ? found.filter(({ refused, step }) => refused === null && !priceOf(step)).map(({ step }) => step) : []),
    [found, prices, cost],
  );
  useAsked(variant, run, open, NONE);
  return useMemo(
    () => (cost ? ranked(found.map((move) => reduction(move, priceOf(move.step), array, cost)), cost) : []),
    [found, prices, array, cost],
  );
}

const NONE: readonly StepView[] = [];

/** The steps in their order, which stays under the reader's hand; those that do not help stand apart. */
function Ranking(props: {
  all: readonly Reduction[];
  cost: CostView;
  about: string;
  judged: boolean;
  leave: () => void;
}): JSX.Element {
  const { all, cost, about, judged, leave } = props;
  const store = useStore();
  const { status } = useValues();
  const { held, listeners } = useHeld();
  const order = useOrder(all, held, about);
  const asleep = useMemo(() => sourcesOf(order.sorted.filter((one) => isIdle(one, cost))), [order.sorted, cost]);
  const idle = order.shown.filter(({ move }) => asleep.has(move.step.source));
  const useful = order.shown.filter(({ move }) => !asleep.has(move.step.source));
  const point = useCallback((move: MoveView | null) => store.select({ pointed: move && move.step }), [store]);
  useEffect(() => () => point(null), [point]);
  const waits = all.filter(({ move, after }) => move.refused === null && !after).length;
  return (
    <div {...listeners}>
      <div className="wbk-move-counts">
        {waits > 0 && status === "connected" && (
          <span className="wbk-faint" role="status">
            {waits} of {all.filter(({ move }) => move.refused === null).length} steps are not estimated yet.
          </span>
        )}
        {(order.waits || useful.some((one) => isIdle(one, cost))) && <SortNow sort={order.sort} />}
      </div>
      <ol className="wbk-move-list" onPointerLeave={() => point(null)} onBlur={() => point(null)}>
        {useful.map((one) => (
          <Row key={one.move.step.source} one={one} cost={cost} point={point} leave={leave} />
        ))}
      </ol>
      {judged && !useful.length && <p className="wbk-hint">No step makes this array or the peak smaller.</p>}
      {idle.length > 0 && (
        <details className="wbk-idle">
          <summary>
            {idle.length} more {idle.length === 1 ? "makes" : "make"} neither it nor the peak smaller
          </summary>
          <ol className="wbk-move-list">
            {idle.map((one) => (
              <Row key={one.move.step.source} one={one} cost={cost} point={point} leave={leave} />
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

const sourcesOf = (all: readonly Reduction[]): ReadonlySet<string> => new Set(all.map(({ move }) => move.step.source));

function Row(props: {
  one: Reduction;
  cost: CostView;
  point: (move: MoveView | null) => void;
  leave: () => void;
}): JSX.Element {
  const { one, cost, point, leave } = props;
  const { step, refused } = one.move;
  const store = useStore();
  const open = (): void => {
    openStep(store, step.json);
    store.select({ pane: "moves" });
  };
  return (
    <li className="wbk-move-row wbk-reduce-row" data-source={step.source}>
      <button
        className={refused !== null ? "wbk-move wbk-refused-move" : "wbk-move"}
        type="button"
        title={`${step.source}: show what it would make`}
        onPointerEnter={() => point(one.move)}
        onFocus={() => point(one.move)}
        onClick={open}
      >
        <span className="wbk-move-name">
          <b>{step.transform}</b>
          {plainArguments(step.text.slice(step.transform.length)) || <span className="wbk-faint"> everything it can</span>}
        </span>
        {refused === null ? <Effect one={one} cost={cost} /> : <span className="wbk-why-not">Why not?</span>}
        {refused !== null && <span className="wbk-reason">{reason(one.move)}</span>}
      </button>
      {refused === null && <Apply step={step} leave={leave} />}
    </li>
  );
}

/** What a step does to the array, to the peak and to the time. */
function Effect({ one: { after, array, to }, cost }: { one: Reduction; cost: CostView }): JSX.Element {
  const { status } = useValues();
  if (!after) {
    const [text, title] = status === "connected" ? ["…", "Estimated soon"] : ["no estimate", ABSENT_PRICE];
    return (
      <span className="wbk-prices wbk-faint" title={title}>
        {text}
      </span>
    );
  }
  const [time, ...held] = changes(cost, after);
  const own = { name: "array", ...array, text: bytesText };
  return (
    <span className="wbk-prices">
      {to ? (
        <span className="wbk-price wbk-array-price" title={movedText(to, array.after, cost)}>
          {bytesText(array.after)} → {to}
        </span>
      ) : (
        <span
          className={`wbk-price wbk-array-price ${direction(own)}`}
          title={`The array, estimated: ${bytesText(array.before)} → ${bytesText(array.after)}`}
        >
          {array.before === array.after ? `array ${SAME}` : `→ ${bytesText(array.after)}`}
        </span>
      )}
      {[...held, ...(time ? [time] : [])].map((change) => (
        <span
          key={change.name}
          className={`wbk-price ${direction(change)}`}
          title={`${change.name}, estimated: ${change.text(change.before)} → ${change.text(change.after)}`}
        >
          <span className="wbk-price-name">{change.name}</span>{" "}
          {direction(change) === "wbk-even" ? SAME : changeText(change)}
        </span>
      ))}
    </span>
  );
}

/** Says what moving an array to another memory space is good for. */
function movedText(to: string, bytes: number, { one_memory, backend }: CostView): string {
  const held = to === "host" ? "; the device holds slices of it while they are in use" : "";
  const same = one_memory ? `. On ${backend} both are the memory of this machine: nothing is saved of that` : "";
  return `The array's ${bytesText(bytes)} move to the ${to}'s memory${held}${same}`;
}

function Apply({ step, leave }: { step: StepView; leave: () => void }): JSX.Element {
  const store = useStore();
  const { status } = useValues();
  const { key } = useCurrent();
  const [busy, setBusy] = useState(false);
  const apply = (): void => {
    setBusy(true);
    store
      .ask({ type: "apply", variant: key, step: step.json })
      .then(leave)
      .catch((error: unknown) => {
        store.say({ text: error instanceof Error ? error.message : String(error), failed: true });
        setBusy(false);
      });
  };
  return (
    <button
      className="wbk-button"
      type="button"
      disabled={busy || status !== "connected"}
      title={status === "connected" ? "Take this step" : "Steps can be taken where a Jupyter kernel runs"}
      aria-label={`Apply ${step.text}`}
      onClick={({ detail }) => {
        if (detail < 2) apply(); // the second of a double click on what stood here before is no choice
      }}
    >
      {busy ? "Applying …" : "Apply"}
    </button>
  );
}
