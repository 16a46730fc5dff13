// Instances and dependences of the selected statements at small sizes; one is picked, its value followed back.

import { useEffect, useMemo, useState } from "react";
import { useOwnPart, usePart, useSelection, useStore, useValues } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { DomainView, ElementView, PointsView, Snapshot } from "../../protocol";
import { SmallSizes } from "./small-sizes";
import { Space } from "./space";
import { coordinate } from "./space-layout";
import { asElement, type Element, nameOf, Value } from "./value";

/** The most statements of a picture. */
const MOST = 4;

export function Domain(): JSX.Element {
  const { statements } = useSelection();
  const snapshot = usePart("snapshot", {});
  if (!snapshot.value) return <Waiting loaded={snapshot} what="the statements" />;
  const known = statements.filter((id) => snapshot.value?.nodes.some((node) => node.id === id));
  const first = known[0];
  if (first === undefined) {
    return (
      <p className="wbk-hint">
        Select a statement in the graph to see its instances at small sizes, in the order in which they run, what each depends
        on, and its value.
      </p>
    );
  }
  return <Instances statements={known.slice(0, MOST)} snapshot={snapshot.value} />;
}

function Instances({ statements, snapshot }: { statements: readonly string[]; snapshot: Snapshot }): JSX.Element {
  const store = useStore();
  const { instance } = useSelection();
  const { status } = useValues();
  const [also, setAlso] = useState<readonly string[]>([]);
  const [sizes, setSizes] = useState<Sizes>({});
  const [trail, setTrail] = useState<readonly Element[]>([]);
  const first = statements[0] ?? "";
  const shown = inOrder(snapshot, [...statements, ...also]);
  const loaded = useOwnPart("domain", { statements: shown, sizes });
  const [last, setLast] = useState<DomainView | null>(null);
  if (loaded.value && loaded.value !== last) setLast(loaded.value);
  const space = loaded.value ?? (last && same(last, shown) ? last : null);
  const at = trail.at(-1);

  // A statement not reached through an input starts anew.
  useEffect(() => {
    if (at && at.statement !== first) setTrail([]);
    if (at?.statement !== first) setAlso((old) => (old.length ? [] : old));
  }, [first]);

  // An instance may have been picked before this pane was opened.
  useEffect(() => {
    const points = space?.statements.find((one) => one.statement === first);
    const point = points && instance ? pointOf(points, instance) : -1;
    if (points && point >= 0 && !trail.length) setTrail([elementOf(points, point)]);
  }, [space, first]);

  function pick(statement: PointsView, point: number): void {
    const picked = elementOf(statement, point);
    const now = at?.array === picked.array && JSON.stringify(at.coordinates) === JSON.stringify(picked.coordinates);
    setTrail(now ? [] : [picked]);
    setAlso(shown.filter((name) => name !== statement.statement));
    store.select({ statements: [statement.statement], scope: null, instance: now ? null : picked.instance });
  }

  function follow(element: ElementView): void {
    const next = asElement(element);
    const known = trail.findIndex((one) => one.text === next.text);
    setTrail(known >= 0 ? trail.slice(0, known + 1) : [...trail, next]);
    if (element.statement === null) return;
    setAlso(at?.statement && at.statement !== element.statement ? [at.statement] : []);
    store.select({ statements: [element.statement], scope: null, instance: element.instance });
  }

  function back(position: number): void {
    const element = trail[position];
    if (!element) return;
    setTrail(trail.slice(0, position + 1));
    if (element.statement) store.select({ statements: [element.statement], scope: null, instance: element.instance });
  }

  return (
    <div className="wbk-domain">
      <Shown shown={shown} also={also} snapshot={snapshot} set={setAlso} />
      {!space && <Waiting loaded={loaded} what="the instances" />}
      {space && (
        <>
          <SmallSizes sizes={space.sizes} set={setSizes} />
          {!loaded.value && <Waiting loaded={loaded} what="the instances at these sizes" />}
          <div className="wbk-beside">
            <Space
              space={space}
              orderSays="the order in which they run in this variant"
              picked={instance ? { statement: first, coordinates: instance } : null}
              pick={pick}
            />
            {at ? (
              <Value trail={trail} sizes={settable(space, snapshot)} follow={follow} back={back} />
            ) : (
              status !== "saved" && <p className="wbk-hint">Pick an instance to see its value and where it came from.</p>
            )}
          </div>
        </>
      )}
    </div>
  );
}

/** Returns the statements as the program is written, each once, no more than make a picture. */
function inOrder(snapshot: Snapshot, names: readonly string[]): readonly string[] {
  const kept = new Set([...new Set(names)].slice(0, MOST));
  return snapshot.nodes.map((node) => node.id).filter((id) => kept.has(id));
}

function same(space: DomainView, shown: readonly string[]): boolean {
  return space.statements.map((one) => one.statement).join() === shown.join();
}

/** Returns the sizes that can be set; derived ones follow from them. */
export function settable(space: DomainView, snapshot: Snapshot): Sizes {
  const derived = new Set(snapshot.parameters.filter((one) => one.definition !== null).map((one) => one.name));
  return Object.fromEntries(Object.entries(space.sizes).filter(([name]) => !derived.has(name)));
}

/** Returns the position of an instance among those drawn; -1 where it is not. */
export function pointOf(statement: PointsView, instance: Sizes): number {
  return statement.points.findIndex((_, point) =>
    statement.dims.every((dim) => coordinate(statement, point, dim) === instance[dim]),
  );
}

/** Returns the element that an instance writes. */
export function elementOf(statement: PointsView, point: number): Element {
  const written = statement.elements[point] ?? [];
  const coordinates = Object.fromEntries(statement.array_dims.map((dim, place) => [dim, written[place] ?? 0]));
  const instance = Object.fromEntries(statement.dims.map((dim) => [dim, coordinate(statement, point, dim) ?? 0]));
  const { array } = statement;
  return { array, coordinates, statement: statement.statement, instance, text: nameOf({ array, coordinates }) };
}

/** The statements in the picture; neighbours can be added. */
function Shown(props: {
  shown: readonly string[];
  also: readonly string[];
  snapshot: Snapshot;
  set: (also: readonly string[]) => void;
}): JSX.Element {
  const { shown, also, snapshot, set } = props;
  const near = useMemo(() => neighbours(snapshot, shown), [snapshot, shown.join()]);
  return (
    <div className="wbk-shown">
      {shown.map((name) => (
        <span key={name} className="wbk-chip">
          {name}
          {also.includes(name) && (
            <button type="button" aria-label={`Without ${name}`} onClick={() => set(also.filter((one) => one !== name))}>
              ×
            </button>
          )}
        </span>
      ))}
      {near.length > 0 && shown.length < MOST && (
        <select
          aria-label="Show a neighbour too"
          value=""
          onChange={(event) => event.target.value && set([...also, event.target.value])}
        >
          <option value="">with …</option>
          {near.map(({ id, what }) => (
            <option key={`${what} ${id}`} value={id}>
              {what} {id}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

function neighbours(snapshot: Snapshot, shown: readonly string[]): readonly { id: string; what: string }[] {
  const found = new Map<string, string>();
  for (const edge of snapshot.edges) {
    if (shown.includes(edge.target) && !shown.includes(edge.source)) found.set(edge.source, "reads");
    if (shown.includes(edge.source) && !shown.includes(edge.target) && !found.has(edge.target)) {
      found.set(edge.target, "is read by");
    }
  }
  const listed = [...found].map(([id, what]) => ({ id, what }));
  return listed.sort((one, other) => (one.what === other.what ? 0 : one.what === "reads" ? -1 : 1));
}
