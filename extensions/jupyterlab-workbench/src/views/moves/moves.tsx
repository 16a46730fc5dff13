// Moves: the possible next steps, for the selection and for the whole, and the one that is open.

import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useCurrent, useOwnPart, usePart, usePredicting, useSelection, useStore } from "../../model/hooks";
import type { Loaded } from "../../model/parts";
import { isInside } from "../../model/scopes";
import { Waiting } from "../../waiting";
import type { CostView, MovesView, MoveView, Snapshot, TransformView } from "../../protocol";
import { MoveList, SortNow } from "./move-list";
import {
  type Filter, filtered, heavier, NO_FILTER, type Order, type Shown, sorted, useHeld, useOrder, weight,
} from "./move-order";
import { Marked } from "../step/marked";
import { OpenStep } from "../step/open-step";
import { type Run, useAsked, useInView, usePrices } from "./pricing";
import { Estimated } from "../run/estimated";
import { openStep, stepOf, type StepJson } from "../step/steps";

const StepForm = lazy(() => import("../step/step-form"));

export function Moves(): JSX.Element {
  const store = useStore();
  const { move } = useSelection();
  const [editing, setEditing] = useState<StepJson | "new" | null>(null);
  const whole = useOwnPart("moves", {});
  const statements = useSelected();
  const own = useOwnMoves(statements);
  const step = move === null ? null : stepOf(move);

  if (editing !== null) {
    return (
      <Suspense fallback={<p className="wbk-hint">Loading the form …</p>}>
        <StepForm
          loaded={whole}
          step={editing === "new" ? null : editing}
          statements={statements}
          leave={() => setEditing(null)}
          show={(made) => {
            setEditing(null);
            openStep(store, made);
          }}
        />
      </Suspense>
    );
  }
  if (step) {
    return <OpenStep key={move} step={step} edit={() => setEditing(step)} />;
  }
  return <Lists whole={whole} own={own} statements={statements} make={() => setEditing("new")} />;
}

/** Returns the selected statements, or those of the selected scope. */
function useSelected(): readonly string[] {
  const { statements, scope } = useSelection();
  const snapshot: Snapshot | null = usePart("snapshot", {}).value;
  return useMemo(() => {
    if (!scope || !snapshot) return statements;
    return snapshot.nodes.filter((node) => isInside(node.scope, scope)).map((node) => node.id);
  }, [statements, scope, snapshot]);
}

/** Returns moves that name the selected statements; null where nothing is selected. */
function useOwnMoves(statements: readonly string[]): Loaded<MovesView> | null {
  const loaded = useOwnPart("moves", statements.length ? { statements } : {});
  return statements.length ? loaded : null;
}

/** Returns the settings of predictions, the same object as long as nothing of it changes. */
function useRun(): Run {
  const run = usePredicting();
  return useMemo(() => run, [JSON.stringify(run)]);
}

function Lists(props: {
  whole: Loaded<MovesView>;
  own: Loaded<MovesView> | null;
  statements: readonly string[];
  make: () => void;
}): JSX.Element {
  const { whole, own, statements, make } = props;
  const store = useStore();
  const variant = useCurrent().key;
  const run = useRun();
  const cost = usePart("cost", run);
  const { arrays } = useOwnArrays(statements);
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const { held, listeners } = useHeld();
  const host = useRef<HTMLDivElement>(null);
  const { pointed } = useSelection();
  const point = useCallback((move: MoveView | null) => store.select({ pointed: move && move.step }), [store]);
  useEffect(() => () => point(null), [point]); // a list that is left lights nothing
  const { first, rest } = useMemo(
    () => parted(whole.value, own?.value ?? null, statements, arrays),
    [whole.value, own?.value, statements, arrays],
  );
  const about = JSON.stringify([variant, run, statements, filter.by]);
  const firstShown = useShown(first, cost.value, variant, run, filter, held, about);
  const restShown = useShown(rest, cost.value, variant, run, filter, held, about);
  const judged = whole.status === "done" && (own === null || own.status === "done");
  useAskedInView(host, cost.value !== null, judged, variant, run, firstShown.listed, restShown.listed);

  if (!whole.value) return <Waiting loaded={whole} what="the moves" />;
  const all = [...firstShown.all, ...restShown.all];
  const stale = [firstShown, restShown].filter(({ order }) => order.waits);
  const sort = stale.length ? () => stale.forEach(({ order }) => order.sort()) : null;
  const open = (json: StepJson): void => openStep(store, json);
  const summary = whole.value.transforms.find((one) => one.name === pointed?.transform)?.summary ?? "";
  return (
    <div className="wbk-moves" ref={host} onKeyDown={(event) => moveThroughRows(event)}>
      <Bar filter={filter} set={setFilter} transforms={counted(whole.value.transforms, all)} />
      <div className="wbk-move-progress">
        <Progress loaded={whole} own={own} all={all} sort={sort} />
        <label className="wbk-check">
          <input
            type="checkbox"
            checked={filter.refused}
            onChange={(event) => setFilter({ ...filter, refused: event.target.checked })}
          />
          show refused
        </label>
        <button className="wbk-button" type="button" onClick={make} title="Make any step by hand">
          New step …
        </button>
      </div>
      <Estimated cost={cost.value} />
      {cost.status === "failed" && <p className="wbk-hint">No predictions: {cost.error?.sentence}</p>}
      <div {...listeners}>
        {statements.length > 0 && (
          <Section title={selectionTitle(statements)}>
            <MoveList moves={firstShown.listed} before={cost.value} open={open} point={point} />
            {own?.status === "failed" && <Waiting loaded={own} what="these moves" />}
            {own?.status === "done" && !firstShown.listed.length && (
              <p className="wbk-hint">{first.length ? "None of these fit the filter." : "No step is about this alone."}</p>
            )}
          </Section>
        )}
        <Section title={statements.length ? "For the rest and the whole" : "For the whole program"}>
          <MoveList moves={restShown.listed} before={cost.value} open={open} point={point} />
          {whole.status === "done" && !restShown.listed.length && (
            <p className="wbk-hint">{rest.length ? "None of these fit the filter." : "Nothing more can be done."}</p>
          )}
        </Section>
      </div>
      <div className="wbk-move-said">
        {summary && (
          <p>
            <b>{pointed?.transform}</b>: <Marked text={summary} />
          </p>
        )}
      </div>
    </div>
  );
}

/** Returns moves with their predictions, all and those that fit the filter, in the order in which they are shown. */
function useShown(
  moves: readonly MoveView[],
  cost: CostView | null,
  variant: string,
  run: Run,
  filter: Filter,
  held: boolean,
  about: string,
): { readonly all: readonly Shown[]; readonly listed: readonly Shown[]; readonly order: Order<Shown> } {
  const steps = useMemo(() => moves.map((move) => move.step), [moves]);
  const prices = usePrices(variant, run, steps);
  const priced = useMemo(
    () =>
      moves.map((move): Shown => {
        const price = prices.get(move.step.source);
        return {
          move,
          after: price?.value ?? null,
          problem: price?.status === "absent" ? ABSENT_PRICE : (price?.error?.sentence ?? ""),
          weight: cost ? weight(move.step, cost) : 0,
        };
      }),
    [moves, prices, cost],
  );
  const best = useMemo(() => sorted(priced, cost, filter.by), [priced, cost, filter.by]);
  const order = useOrder(best, held, about);
  const listed = useMemo(() => filtered(order.shown, filter), [order.shown, filter]);
  return { all: order.shown, listed, order };
}

export const ABSENT_PRICE = "What was saved does not hold this estimate.";

/** Has prices asked for, once they are wanted: those in view, and the others when all moves are judged, which would
 * wait for them. */
function useAskedInView(
  host: React.RefObject<HTMLElement>,
  wanted: boolean,
  judged: boolean,
  variant: string,
  run: Run,
  ...lists: readonly (readonly Shown[])[]
): void {
  const listed = useMemo(() => lists.flat(), lists);
  const seen = useInView(host, listed);
  const [inView, others] = useMemo(() => {
    const open = wanted ? listed.filter(({ move, after }) => move.refused === null && !after) : [];
    const isSeen = ({ move }: Shown): boolean => seen.has(move.step.source);
    const later = judged ? open.filter((one) => !isSeen(one)).sort(heavier) : [];
    return [open.filter(isSeen), later].map((part) => part.map(({ move }) => move.step));
  }, [wanted, judged, listed, seen]);
  useAsked(variant, run, inView ?? [], others ?? []);
}

function useOwnArrays(statements: readonly string[]): { arrays: ReadonlySet<string> } {
  const snapshot = usePart("snapshot", {}).value;
  return useMemo(() => {
    const chosen = new Set(statements);
    const nodes = snapshot?.nodes.filter((node) => chosen.has(node.id)) ?? [];
    return { arrays: new Set(nodes.map((node) => node.array)) };
  }, [snapshot, statements]);
}

/** Puts moves about the selection first: those that name it, and of the proposed steps those that do. */
export function parted(
  whole: MovesView | null,
  own: MovesView | null,
  statements: readonly string[],
  arrays: ReadonlySet<string>,
): { first: readonly MoveView[]; rest: readonly MoveView[] } {
  const first = new Map((own?.moves ?? []).map((move) => [move.step.source, move]));
  const rest: MoveView[] = [];
  const chosen = new Set(statements);
  for (const move of whole?.moves ?? []) {
    const about =
      move.step.statements.some((name) => chosen.has(name)) || move.step.arrays.some((name) => arrays.has(name));
    if (first.has(move.step.source)) continue;
    if (about) first.set(move.step.source, move);
    else rest.push(move);
  }
  return { first: [...first.values()], rest };
}

function selectionTitle(statements: readonly string[]): string {
  return statements.length === 1 ? `For ${statements[0]}` : `For the ${statements.length} selected statements`;
}

function counted(
  transforms: readonly TransformView[],
  all: readonly Shown[],
): readonly { readonly name: string; readonly count: number; readonly summary: string }[] {
  const counts = new Map<string, number>();
  for (const { move } of all) counts.set(move.step.transform, (counts.get(move.step.transform) ?? 0) + 1);
  return transforms
    .map((one) => ({ name: one.name, count: counts.get(one.name) ?? 0, summary: one.summary }))
    .filter((one) => one.count > 0)
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function Bar(props: {
  filter: Filter;
  set: (filter: Filter) => void;
  transforms: ReturnType<typeof counted>;
}): JSX.Element {
  const { filter, set, transforms } = props;
  return (
    <div className="wbk-move-bar">
      <input
        className="wbk-search"
        type="search"
        placeholder="Filter"
        title="Names, arguments and reasons with this text"
        aria-label="Filter moves by text"
        value={filter.text}
        onChange={(event) => set({ ...filter, text: event.target.value })}
      />
      <select
        aria-label="Kind of step"
        value={filter.transform}
        onChange={(event) => set({ ...filter, transform: event.target.value })}
      >
        <option value="">All kinds</option>
        {transforms.map((one) => (
          <option key={one.name} value={one.name} title={one.summary}>
            {one.name} ({one.count})
          </option>
        ))}
      </select>
      <select
        aria-label="Order of the moves"
        value={filter.by}
        onChange={(event) => set({ ...filter, by: event.target.value === "peak" ? "peak" : "time" })}
      >
        <option value="time">Fastest first</option>
        <option value="peak">Smallest first</option>
      </select>
    </div>
  );
}

/** The progress of judging and predicting. */
function Progress(props: {
  loaded: Loaded<MovesView>;
  own: Loaded<MovesView> | null;
  all: readonly Shown[];
  sort: (() => void) | null;
}): JSX.Element {
  const { loaded, own, all, sort } = props;
  const legal = all.filter(({ move }) => move.refused === null);
  const priced = legal.filter(({ after }) => after).length;
  const judging = [loaded, own].some((one) => one?.status === "streaming" || one?.status === "waiting");
  return (
    <div className="wbk-move-counts">
      <span role="status">{`${legal.length} possible, ${all.length - legal.length} refused`}</span>
      {judging ? (
        <>
          <span className="wbk-faint">judging …</span>
          <progress aria-label="Judging moves" />
        </>
      ) : (
        priced > 0 && priced < legal.length && <span className="wbk-faint">{`${priced} estimated`}</span>
      )}
      {sort && <SortNow sort={sort} />}
    </div>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }): JSX.Element {
  return (
    <section className="wbk-move-section" aria-label={title}>
      <h4 title={title}>{title}</h4>
      {children}
    </section>
  );
}

/** Moves the focus up and down from row to row, from the filter into the list. */
function moveThroughRows(event: React.KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (event.target instanceof HTMLSelectElement) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLButtonElement>(".wbk-move")];
  const from = rows.findIndex((row) => row === document.activeElement);
  const to = rows[event.key === "ArrowDown" ? from + 1 : Math.max(from - 1, 0)];
  if (!to) return;
  event.preventDefault();
  event.stopPropagation();
  to.focus();
  to.scrollIntoView({ block: "nearest" });
}
