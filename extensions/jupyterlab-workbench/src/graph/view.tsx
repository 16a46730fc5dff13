// The graph as a view: the picture of the shown variant, its tools above and its legend below.

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useCurrent, usePredicting, useSelection, useStore, useTool, useValues, useWorkbench } from "../model/hooks";
import { onThreads, percent, sizesText } from "../model/numbers";
import { sharesIn, shownProfile } from "../model/profiled";
import { key } from "../model/scopes";
import { Waiting } from "../waiting";
import type { Overlay } from "../model/selection";
import type { CostView, ProfileView, Running, Snapshot } from "../protocol";
import { changes } from "./diff";
import type { Engine } from "./layout/engine";
import { Legend } from "./legend";
import { colouring, type Shares, summed } from "./drawing/overlay";
import { Picture } from "./drawing/picture";
import { type Scene, scopeOf, statementBox, statementOf } from "./layout/scene";
import { Sheet } from "./drawing/sheet";
import { Toolbar, type Tools } from "./toolbar";
import type { Hands } from "./window/use-hands";
import { useEngine } from "./layout/use-engine";
import { type Drawing, useScene } from "./layout/use-scene";
import { useTheme } from "./drawing/use-theme";
import type { Window } from "./window/use-window";

export function GraphView(): JSX.Element {
  const current = useCurrent();
  const store = useStore();
  useValues();
  const loaded = store.part("snapshot", current.key, {});
  const parent = current.parent === null ? null : store.part("snapshot", current.parent, {}).value;
  const engine = useEngine(loaded.status === "waiting");
  const last = useRef<Shown | null>(null);
  if (loaded.value && last.current?.snapshot !== loaded.value) last.current = { snapshot: loaded.value, variant: current.key };
  const shown = last.current;
  if (!shown || loaded.status === "failed" || loaded.status === "absent") {
    return (
      <div className="wbk-picture">
        <Waiting loaded={loaded} what="the graph" />
      </div>
    );
  }
  // Until the next picture comes, the previous one stays.
  const late = shown.variant !== current.key;
  return <Graph shown={shown} parent={late ? null : parent} waiting={late} engine={engine} />;
}

interface Shown {
  readonly snapshot: Snapshot;
  readonly variant: string;
}

function Graph(props: {
  readonly shown: Shown;
  readonly parent: Snapshot | null;
  readonly waiting: boolean;
  readonly engine: Engine;
}): JSX.Element {
  const { shown, parent, waiting, engine } = props;
  const { snapshot, variant } = shown;
  const store = useStore();
  const selection = useSelection();
  const { overlay } = selection;
  const host = useRef<HTMLDivElement>(null);
  const window = useRef<Window | null>(null);
  const own = useRef<string | null>(null);
  const theme = useTheme(host);
  const drawing = useScene(snapshot, store.foreseen(variant), engine);
  const [matches, setMatches] = useState<ReadonlySet<string> | null>(null);
  const running = useRunning(variant);
  const { scene } = drawing;

  const profile = useProfileOf(variant);
  const run = useMemo(() => running.last ?? (profile && sharesIn(profile)), [running.last, profile]);
  const cost = useCost(variant, overlay !== "kind" && overlay !== "profile");
  const differing = useMemo(() => (parent ? changes(parent, snapshot) : null), [parent, snapshot]);
  const colours = useMemo(
    () => colouring(overlay, scene, cost.value, run, profile),
    [overlay, scene, cost.value, run, profile],
  );
  const shares = useMemo(() => sharesOf(scene, running.now), [scene, running.now]);
  const now = useMemo(() => new Set(running.now?.now ?? []), [running.now]);

  const hands = useMemo((): Hands => handsOf(store, drawing, own), [store, drawing]);
  const show = useCallback((id: string) => reveal(id, drawing, snapshot, window.current), [drawing, snapshot]);
  const fit = useCallback(() => window.current?.fit(), []);
  useTool("fit", fit);
  useTool("seek", show);
  const sheet = useCallback(
    () => (scene && theme ? <Sheet scene={scene} theme={theme} colouring={colours} /> : null),
    [scene, theme, colours],
  );
  useTool("sheet", sheet);
  const tools = useMemo(
    (): Tools => ({
      fit,
      zoom: (factor) => window.current?.zoom(factor),
      openAll(all) {
        if (!all || !store.values().selection.statements.length) window.current?.hold(null);
        drawing.openAll(all);
      },
      mark: setMatches,
      show(id) {
        own.current = id;
        store.select({ statements: [id], scope: null, instance: null });
        show(id);
      },
      enter() {
        const svg = window.current?.svg.current;
        const box = svg?.querySelector<SVGGElement>("g.node[tabindex='0']");
        (box ?? svg)?.focus({ preventScroll: true });
      },
      colour: (chosen) => store.select({ overlay: chosen }),
    }),
    [fit, store, drawing, show],
  );

  // A selection made in another view is brought into sight.
  const [chosen] = selection.statements;
  useEffect(() => {
    if (chosen !== undefined && chosen !== own.current) show(chosen);
    own.current = chosen ?? null;
  }, [chosen, scene === null]);

  const busy = drawing.busy || waiting;
  return (
    <div className="wbk-picture" ref={host} aria-busy={busy}>
      <Toolbar snapshot={snapshot} tools={tools} overlay={overlay} changed={drawing.changed} />
      <div className="wbk-stage">
      {scene && theme ? (
        <Picture
          scene={scene}
          selection={selection}
          theme={theme}
          changes={differing}
          colouring={colours}
          matches={matches}
          now={now}
          shares={shares}
          hands={hands}
          handle={window}
        />
      ) : (
        <div className="wbk-graph" />
      )}
      <Brushed />
      <Status drawing={drawing} busy={busy} />
      </div>
      {theme && (
        <Legend
          snapshot={snapshot}
          overlay={overlay}
          colouring={colours}
          theme={theme}
          note={note(overlay, cost, run, profile)}
          changes={differing}
        />
      )}
    </div>
  );
}

/** The reason why boxes are lit that nobody selected, with a button to end it. */
function Brushed(): JSX.Element | null {
  const store = useStore();
  const { brushed } = useSelection();
  if (!brushed) return null;
  const { space, range: { from, to } } = brushed;
  const lines = [from, to].map((line) => Math.floor(line) + 1);
  return (
    <p className="wbk-brush" role="status">
      <span className="wbk-swatch wbk-lit" />
      <span>
        live in {space} memory at {lines[0] === lines[1] ? `line ${lines[0]}` : `lines ${lines[0]} to ${lines[1]}`}
      </span>
      <button
        className="wbk-icon"
        type="button"
        aria-label="Light them no more"
        title="Light them no more"
        onClick={() => store.select({ brushed: null })}
      >
        ×
      </button>
    </p>
  );
}

/** The layout under way, and its result. */
function Status({ drawing, busy }: { drawing: Drawing; busy: boolean }): JSX.Element | null {
  if (busy) {
    return (
      <p className="wbk-status wbk-late" role="status">
        Drawing …{" "}
        {drawing.busy && (
          <button className="wbk-button wbk-link" type="button" onClick={drawing.stop}>
            Stop
          </button>
        )}
      </p>
    );
  }
  return drawing.remark ? (
    <p className="wbk-status" role="status">
      {drawing.remark}
    </p>
  ) : null;
}

function handsOf(
  store: ReturnType<typeof useStore>,
  drawing: Drawing,
  own: React.MutableRefObject<string | null>,
): Hands {
  return {
    select(name, more) {
      const scope = name === null ? null : scopeOf(name);
      const id = name === null ? null : statementOf(name);
      const before = store.values().selection.statements;
      const kept = more ? before.filter((one) => one !== id) : [];
      const statements = id === null ? kept : before.includes(id) && more ? kept : [...kept, id];
      own.current = statements[0] ?? null;
      store.select({ statements, scope, instance: null });
    },
    toggle(scope) {
      const { selection } = store.values();
      if (selection.scope && key(selection.scope) === key(scope)) store.select({ scope: null });
      drawing.toggle(scope);
    },
  };
}

/** Opens the scopes around a statement and brings it into sight. */
function reveal(id: string, drawing: Drawing, snapshot: Snapshot, window: Window | null): void {
  const path = snapshot.nodes.find((node) => node.id === id)?.scope ?? [];
  const around = path.map((_, depth) => path.slice(0, depth + 1));
  const shut = around.filter((scope) => drawing.scene?.closed.has(key(scope)));
  const outermost = drawing.scene?.boxes.get(id);
  if (shut.length && outermost !== undefined) {
    window?.hold({ name: outermost, closely: false });
    drawing.open(shut);
  }
  window?.seek(statementBox(id));
}

/** Gets the prediction for the chosen sizes and backend, where it is wanted. */
function useCost(variant: string, wanted: boolean): { readonly value: CostView | null; readonly why: string } {
  const store = useStore();
  const run = usePredicting();
  if (!wanted) return { value: null, why: "" };
  const { value, status, error } = store.part("cost", variant, run);
  const why = {
    waiting: "predicting …",
    streaming: "predicting …",
    done: "",
    failed: error?.sentence ?? "There is no prediction.",
    absent: "What was saved does not hold the prediction.",
  };
  return { value, why: why[status] };
}

/** Returns the origin of an overlay's numbers, or the reason why there are none. */
function note(
  overlay: Overlay,
  cost: { value: CostView | null; why: string },
  run: Shares | null,
  profile: ProfileView | null,
): string {
  if (overlay === "kind") return "";
  if (overlay === "profile") {
    return profile
      ? `profiled on ${onThreads(profile)}, ${profile.dtype}, ${sizesText(profile.sizes)}`
      : "This variant is not profiled yet: the pane Profile does it.";
  }
  if (!cost.value) return cost.why;
  if (overlay !== "measured") return `predicted for ${cost.value.backend}, ${cost.value.dtype}`;
  if (!run) return "Nothing was measured by statement yet: profile this variant, or run it while the workbench is open.";
  return "shares of the last run's or the profile's time over predicted shares";
}

function useProfileOf(variant: string): ProfileView | null {
  const { profile } = useSelection();
  return shownProfile(useWorkbench(), variant, profile) ?? null;
}

/** Gets the variant's present position, and the shares of its last run. */
function useRunning(variant: string): { readonly now: Running | null; readonly last: Shares | null } {
  const { running } = useValues();
  const seen = useRef(new Map<string, Shares>());
  const now = running?.variant === variant ? running : null;
  if (running && Object.keys(running.shares).length) seen.current.set(running.variant, running.shares);
  return { now, last: seen.current.get(variant) ?? null };
}

function sharesOf(scene: Scene | null, running: Running | null): ReadonlyMap<string, string> {
  if (!scene || !running) return new Map();
  const sums = summed(scene, new Map(Object.entries(running.shares)));
  return new Map([...sums].filter(([, share]) => share >= 0.01).map(([name, share]) => [name, percent(share)]));
}
