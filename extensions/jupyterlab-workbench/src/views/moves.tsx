// Moves: the steps that could come next, for what is selected and for the whole, and the one that is open.

import { lazy, Suspense, useMemo, useState } from "react";
import { usePart, useSelection, useStore } from "../model/hooks";
import { isInside } from "../model/scopes";
import type { Loaded } from "../model/parts";
import { Waiting } from "../parts";
import type { MovesView, Snapshot, TransformView } from "../protocol";
import { type Filter, filtered, MoveList, NO_FILTER, type Shown, sorted } from "./move-list";
import { OpenStep } from "./open-step";
import { openStep, stepOf, type StepJson } from "./steps";

const StepForm = lazy(() => import("./step-form"));

export function Moves(): JSX.Element {
  const store = useStore();
  const { move, sizes, backend, dtype } = useSelection();
  const [editing, setEditing] = useState<StepJson | "new" | null>(null);
  const whole = usePart("moves", { sizes, backend, dtype });
  const statements = useSelected();
  const own = useOwnMoves(statements);
  const step = move === null ? null : stepOf(move);
  const transforms = whole.value?.transforms ?? [];

  if (editing !== null) {
    return (
      <Suspense fallback={<p className="wbk-hint">Loading the form …</p>}>
        <StepForm
          transforms={transforms}
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
    return <OpenStep key={move} step={step} leave={() => openStep(store, null)} edit={() => setEditing(step)} />;
  }
  return <Lists whole={whole} own={own} statements={statements} make={() => setEditing("new")} />;
}

/** The selected statements, or those of the selected scope. */
function useSelected(): readonly string[] {
  const { statements, scope } = useSelection();
  const snapshot: Snapshot | null = usePart("snapshot", {}).value;
  return useMemo(() => {
    if (!scope || !snapshot) return statements;
    return snapshot.nodes.filter((node) => isInside(node.scope, scope)).map((node) => node.id);
  }, [statements, scope, snapshot]);
}

/** Moves that name the selected statements; null where nothing is selected. */
function useOwnMoves(statements: readonly string[]): Loaded<MovesView> | null {
  const { sizes, backend, dtype } = useSelection();
  const wanted = { sizes, backend, dtype };
  const loaded = usePart("moves", statements.length ? { ...wanted, statements } : wanted);
  return statements.length ? loaded : null;
}

function Lists(props: {
  whole: Loaded<MovesView>;
  own: Loaded<MovesView> | null;
  statements: readonly string[];
  make: () => void;
}): JSX.Element {
  const { whole, own, statements, make } = props;
  const store = useStore();
  const { arrays } = useOwnArrays(statements);
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const { first, rest } = useMemo(
    () => parted(whole.value, own?.value ?? null, statements, arrays),
    [whole.value, own?.value, statements, arrays],
  );
  const [firstShown, restShown] = [filtered(first, filter), filtered(rest, filter)];
  if (!whole.value) return <Waiting loaded={whole} what="the moves" />;
  const all = [...first, ...rest];
  return (
    <div className="wbk-moves" onKeyDown={(event) => moveThroughRows(event)}>
      <Bar filter={filter} set={setFilter} transforms={counted(whole.value.transforms, all)} />
      <div className="wbk-move-progress">
        <Progress loaded={whole} own={own} all={all} />
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
      {whole.value.remark && <p className="wbk-hint">No predictions: {whole.value.remark}</p>}
      {statements.length > 0 && (
        <Section title={selectionTitle(statements)}>
          <MoveList moves={sorted(firstShown, filter.by)} open={(json) => openStep(store, json)} />
          {own?.status === "failed" && <Waiting loaded={own} what="these moves" />}
          {own?.status === "done" && !firstShown.length && (
            <p className="wbk-hint">{first.length ? "None of these fit the filter." : "No step is about this alone."}</p>
          )}
        </Section>
      )}
      <Section title={statements.length ? "For the rest and the whole" : "For the whole program"}>
        <MoveList moves={sorted(restShown, filter.by)} open={(json) => openStep(store, json)} />
        {whole.status === "done" && !restShown.length && (
          <p className="wbk-hint">{rest.length ? "None of these fit the filter." : "Nothing more can be done."}</p>
        )}
      </Section>
    </div>
  );
}

function useOwnArrays(statements: readonly string[]): { arrays: ReadonlySet<string> } {
  const snapshot = usePart("snapshot", {}).value;
  return useMemo(() => {
    const chosen = new Set(statements);
    const nodes = snapshot?.nodes.filter((node) => chosen.has(node.id)) ?? [];
    return { arrays: new Set(nodes.map((node) => node.array)) };
  }, [snapshot, statements]);
}

/** What is about the selection first: what names it, and of the proposed steps those that do. */
export function parted(
  whole: MovesView | null,
  own: MovesView | null,
  statements: readonly string[],
  arrays: ReadonlySet<string>,
): { first: readonly Shown[]; rest: readonly Shown[] } {
  const first = new Map<string, Shown>();
  const rest: Shown[] = [];
  const chosen = new Set(statements);
  for (const move of own?.moves ?? []) first.set(move.step.source, { move, before: own?.before ?? null });
  for (const move of whole?.moves ?? []) {
    const about =
      move.step.statements.some((name) => chosen.has(name)) || move.step.arrays.some((name) => arrays.has(name));
    const shown: Shown = { move, before: whole?.before ?? null };
    const known = first.get(move.step.source);
    if (known ? known.move.effect === null : about) first.set(move.step.source, shown);
    else if (!known) rest.push(shown);
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
        placeholder="Filter: names, reasons"
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

/** How far judging and predicting are; nothing when all is there. */
function Progress(props: {
  loaded: Loaded<MovesView>;
  own: Loaded<MovesView> | null;
  all: readonly Shown[];
}): JSX.Element {
  const { loaded, own, all } = props;
  const legal = all.filter(({ move }) => !move.refusal);
  const priced = legal.filter(({ move }) => move.effect).length;
  const judging = loaded.status === "streaming" && !loaded.value?.before && !loaded.value?.remark;
  const running = loaded.status === "streaming" || own?.status === "streaming" || own?.status === "waiting";
  const refused = all.length - legal.length;
  const counts = `${legal.length} possible, ${refused} refused`;
  return (
    <div className="wbk-move-counts" role="status">
      <span>{counts}</span>
      {running && (
        <>
          <span className="wbk-faint">{judging ? "judging …" : `estimated ${priced} of ${legal.length}`}</span>
          <progress
            aria-label={judging ? "Judging moves" : "Predicting their effects"}
            {...(judging ? {} : { value: priced, max: Math.max(legal.length, 1) })}
          />
        </>
      )}
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

/** Up and down go from row to row, from the filter into the list. */
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
