// The schedule, played at small sizes: instances run in order, slots of memory fill, are read and are reused. Two
// variants beside each other go in step by instance.

import { useEffect, useMemo, useState } from "react";
import { useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { nameOfKey, pathName } from "../../model/naming";
import { atSizes, countText } from "../../model/numbers";
import type { Sizes } from "../../model/selection";
import type { Store } from "../../model/store";
import type { PlayView } from "../../protocol";
import { Waiting } from "../../waiting";
import { SmallSizes } from "../instances/small-sizes";
import { useClock } from "./clock";
import { Controls, SPEEDS } from "./controls";
import { type Execution, useExecutions } from "./executions";
import { nextOf, positionOf, positionsOf, ranAt, type Script, told, twins } from "./script";
import { Stage } from "./stage";
import { Smaller, TooLarge } from "./too-large";

/** The seconds that a whole execution takes at first, about. */
const WHOLE = 20;
const NONE: ReadonlySet<number> = new Set();

/** Where the player of a workbench stands, for when its pane is closed and opened again. */
const left = new WeakMap<Store, { readonly views: readonly PlayView[]; readonly at: number }>();

export function Play(): JSX.Element {
  const { current, variants } = useWorkbench();
  const { statements, beside } = useSelection();
  const [sizes, setSizes] = useState<Sizes>({});
  const other = variants.some(({ key }) => key === beside) && beside !== current ? beside : "";
  const shown = useExecutions(other ? [current, other] : [current], statements[0], sizes);
  const waiting = shown.find(({ script }) => !script);
  const refused = waiting?.loaded.value;
  return (
    <div className="wbk-view wbk-play">
      <SmallSizes sizes={shown[0]?.loaded.value?.sizes ?? sizes} set={setSizes} />
      {refused ? (
        <TooLarge view={refused} set={setSizes} />
      ) : waiting ? (
        <Waiting loaded={waiting.loaded} what="the schedule, instance by instance" />
      ) : (
        <Player key={shown.length} shown={shown} setSizes={setSizes} />
      )}
      {waiting && Object.keys(sizes).length > 0 && (
        <button className="wbk-button" type="button" onClick={() => setSizes({})}>
          Back to the least sizes
        </button>
      )}
    </div>
  );
}

function Player(props: { shown: readonly Execution[]; setSizes: (sizes: Sizes) => void }): JSX.Element {
  const { shown, setSizes } = props;
  const store = useStore();
  const { variants } = useWorkbench();
  const { statements } = useSelection();
  const scripts = shown.flatMap(({ script }) => script ?? []);
  const positions = useMemo(() => positionsOf(scripts), scripts);
  const last = positions.length - 1;
  const [asked, setSpeed] = useState(0);
  const speed = asked || (SPEEDS.find((one) => one >= last / WHOLE) ?? SPEEDS.at(-1) ?? 1);
  const clock = useClock(last, speed);
  const instance = positions[clock.at] ?? 0;
  const ran = scripts.map((script) => ranAt(script, instance));
  const [one] = scripts;
  const picked = statements[0];

  // An execution goes on where it was left, another begins at its start.
  useEffect(() => {
    const before = left.get(store);
    const isLeft = before?.views.length === scripts.length && scripts.every(({ view }, n) => view === before.views[n]);
    clock.go(isLeft ? before.at : 0);
  }, scripts);
  useEffect(() => void left.set(store, { views: scripts.map(({ view }) => view), at: clock.at }));

  const goTo = (script: Script, event: number): void => clock.go(positions.indexOf(positionOf(script, event)));
  const next = one && picked !== undefined ? nextOf(one, picked, ran[0] ?? 0) : null;

  function keyDown(event: React.KeyboardEvent): void {
    const own = event.key === " " ? "select, button" : "select"; // keys that mean something else there
    if ((event.target as Element).closest(own)) return;
    const moves: Readonly<Record<string, () => void>> = {
      " ": clock.toggle,
      ArrowLeft: () => clock.go(clock.at - 1),
      ArrowRight: () => clock.go(clock.at + 1),
      Home: () => clock.go(0),
      End: () => clock.go(last),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  }

  return (
    <div
      className="wbk-player"
      role="group"
      aria-label="Player: space plays and pauses, arrow keys step"
      tabIndex={0}
      onKeyDown={keyDown}
    >
      <div className="wbk-play-head">
        <Controls clock={clock} last={last} speed={speed} setSpeed={setSpeed}>
          {one && next !== null && (
            <button className="wbk-button" type="button" onClick={() => goTo(one, next)}>
              Next {one.view.statements.find(({ statement }) => statement === picked)?.title}
            </button>
          )}
          <Beside />
        </Controls>
        <div className={shown.length > 1 ? "wbk-play-two" : undefined}>
          {shown.map(({ variant, script }, number) => (
            <div key={variant}>
              {shown.length > 1 && <h4>{nameOfKey(variant, variants)}</h4>}
              {script && <Now script={script} ran={ran[number] ?? 0} quiet={clock.playing} />}
            </div>
          ))}
        </div>
      </div>
      <div className={shown.length > 1 ? "wbk-play-two" : undefined}>
        {shown.map(({ variant, script }, number) => {
          const against = scripts[1 - number];
          return (
            script && (
              <Side
                key={variant}
                name={nameOfKey(variant, variants)}
                script={script}
                ran={ran[number] ?? 0}
                against={against}
                againstRan={ran[1 - number] ?? 0}
                picked={picked}
                setSizes={setSizes}
                follow={!clock.playing && clock.at > 0 && shown.length === 1}
                pick={(played) => {
                  const event = script.eventOf[played] ?? 0;
                  goTo(script, event);
                  const statement = script.view.statements[script.events[event]?.statement ?? 0]?.statement;
                  if (statement) store.select({ statements: [statement], scope: null, instance: null });
                }}
              />
            )
          );
        })}
      </div>
      <Legend two={shown.length > 1} />
    </div>
  );
}

/** One of the variants: where it is now. */
function Side(props: {
  name: string;
  script: Script;
  ran: number;
  against: Script | undefined;
  againstRan: number;
  picked: string | undefined;
  setSizes: (sizes: Sizes) => void;
  follow: boolean;
  pick: (instance: number) => void;
}): JSX.Element {
  const { name, script, ran, against, againstRan, picked, setSizes, follow, pick } = props;
  const shown = useMemo(
    () => (against ? twins(script, against, againstRan) : NONE),
    [script, against, againstRan],
  );
  const { view, events } = script;
  const { status } = useValues();
  return (
    <section className="wbk-play-side" aria-label={name}>
      {view.remark && (
        <p className="wbk-note">
          {view.remark}
          {!view.whole && status === "connected" && " Select another statement to play that."}
        </p>
      )}
      {status === "connected" && <Smaller view={view} set={setSizes} />}
      <Stage script={script} ran={ran} twins={shown} picked={picked} follow={follow} pick={pick} />
      <p className="wbk-note">
        {countText(events.length, "event")} of {countText(script.instances.length, "instance")}{atSizes(view.sizes)}
      </p>
    </section>
  );
}

function Now({ script, ran, quiet }: { script: Script; ran: number; quiet: boolean }): JSX.Element {
  const now = told(script, ran);
  const [title, more] = now
    ? [now.title, `${now.where}${now.count > 1 ? ` · ${now.count} at once` : ""}`]
    : ["", ran ? "All has run." : "Nothing has run yet."];
  return (
    <p className="wbk-play-told" aria-live={quiet ? "off" : "polite"}>
      <span className="wbk-play-count">
        {Math.min(ran, script.events.length)} of {script.events.length}
      </span>
      <b>{title}</b> {more}
      <br />
      {now && (
        <>
          {now.reads && <span className="wbk-play-reads">reads {now.reads}</span>}
          <span className="wbk-play-writes">writes {now.writes}</span>
        </>
      )}
    </p>
  );
}

/** The choice of a variant that is played beside the shown one. */
function Beside(): JSX.Element | null {
  const { current, variants } = useWorkbench();
  const { beside } = useSelection();
  const store = useStore();
  const others = variants.filter(({ key }) => key !== current);
  if (!others.length) return null;
  return (
    <label className="wbk-field">
      <span>beside</span>
      <select
        className="wbk-long"
        value={others.some(({ key }) => key === beside) ? beside : ""}
        onChange={(event) => store.select({ beside: event.target.value })}
      >
        <option value="">nothing</option>
        {others.map((other) => (
          <option key={other.key} value={other.key}>
            {pathName(other, variants)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Legend({ two }: { two: boolean }): JSX.Element {
  const disc = (name: string): JSX.Element => (
    <svg width={11} height={11} aria-hidden="true">
      <circle className={`wbk-play-${name}`} cx={5.5} cy={5.5} r={4.5} />
    </svg>
  );
  const square = (name: string): JSX.Element => (
    <svg width={13} height={13} aria-hidden="true">
      <g className={name}>
        <rect x={1} y={1} width={11} height={11} rx={2} />
      </g>
    </svg>
  );
  return (
    <div className="wbk-play-legend wbk-note">
      <span>{disc("ahead")} to run</span>
      <span>{disc("now")} runs now</span>
      <span>{disc("done")} has run</span>
      {two && <span>{disc("ahead wbk-play-twin")} runs now beside</span>}
      <span>{square("wbk-play-empty")} empty slot</span>
      <span>{square("wbk-play-live")} still to be read</span>
      <span>{square("wbk-play-dead")} read for the last time</span>
      <span>{square("wbk-play-live wbk-play-read")} read now</span>
      <span>{square("wbk-play-live wbk-play-written")} written now</span>
    </div>
  );
}
