// The picture of a snapshot, laid out whenever the program or the open scopes change; the one before stays until then.

import { useEffect, useMemo, useRef, useState } from "react";
import { key, scopes } from "../../model/scopes";
import type { Path } from "../../model/selection";
import type { Snapshot } from "../../protocol";
import { arrange, type Arranged, PATIENCE } from "./arrange";
import { dot } from "./dot";
import type { Engine } from "./engine";
import { contents, type Scene } from "./scene";

export interface Drawing {
  readonly scene: Scene | null;
  /** A newer picture is being laid out. */
  readonly busy: boolean;
  readonly remark: string;
  /** Ends the layout under way: a simpler picture comes instead. */
  stop(): void;
  toggle(scope: Path): void;
  /** Opens these scopes. */
  open(wanted: readonly Path[]): void;
  /** Opens every scope, or goes back to those open at first. */
  openAll(all: boolean): void;
  /** True if any scope stands otherwise than at first. */
  readonly changed: boolean;
}

/** The scopes that the reader opened (true) and closed, by key; all others are as the snapshot says. */
type Choices = ReadonlyMap<string, boolean>;

/** Lays out `snapshot`. `next` may come after it: it is laid out when there is nothing else to do. */
export function useScene(snapshot: Snapshot, next: Snapshot | null, engine: Engine): Drawing {
  const [choices, setChoices] = useState<Choices>(new Map());
  const [drawn, setDrawn] = useState<Arranged | null>(null);
  const [busy, setBusy] = useState(true);
  const latest = useRef<Scene | null>(null);
  const closed = useMemo(() => closedBy(snapshot, choices), [snapshot, choices]);

  useEffect(() => {
    const before = latest.current;
    if (before && before.snapshot === snapshot && areEqual(before.closed, closed)) {
      setBusy(false);
      return;
    }
    let [wanted, under] = [true, true];
    setBusy(true);
    const instead = before?.snapshot === snapshot ? before.closed : closedBy(snapshot, new Map());
    void arrange(engine, snapshot, closed, [instead], () => wanted).then((made) => {
      under = false;
      if (!made) return;
      latest.current = made.scene;
      setDrawn(made);
      setBusy(false);
      if (!areEqual(made.scene.closed, closed)) setChoices(choicesOf(snapshot, made.scene.closed));
    });
    return () => {
      wanted = false;
      if (under) engine.stop();
    };
  }, [engine, snapshot, closed]);

  useEffect(() => {
    if (busy || !next) return;
    // A failure is reported when that picture is asked for.
    engine.place(dot(contents(next, closedBy(next, choices))), PATIENCE).catch(() => undefined);
  }, [engine, busy, next, choices]);

  return useMemo((): Drawing => {
    const every = scopes(snapshot);
    return {
      scene: drawn?.scene ?? null,
      busy,
      remark: drawn?.remark ?? "",
      stop: engine.stop,
      open: (wanted) =>
        setChoices((before) => new Map([...before, ...wanted.map((path): [string, boolean] => [key(path), true])])),
      toggle: (path) => setChoices((before) => new Map([...before, [key(path), closed.has(key(path))]])),
      openAll: (all) => setChoices(new Map(all ? every.map((path) => [key(path), true]) : [])),
      changed: !areEqual(closed, closedBy(snapshot, new Map())),
    };
  }, [snapshot, drawn, busy, engine, closed]);
}

function closedBy(snapshot: Snapshot, choices: Choices): ReadonlySet<string> {
  const first = new Set(snapshot.closed.map(key));
  const every = scopes(snapshot).map(key);
  return new Set(every.filter((scope) => !(choices.get(scope) ?? !first.has(scope))));
}

function choicesOf(snapshot: Snapshot, closed: ReadonlySet<string>): Choices {
  return new Map(scopes(snapshot).map((path) => [key(path), !closed.has(key(path))]));
}

function areEqual(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((scope) => other.has(scope));
}
