// The tour: a card over the graph and the panes with what the present stop says, and an outline around the part that it
// speaks of. The card has room of its own, so that it covers nothing.

import { useEffect, useId, useRef } from "react";
import { useStore, useValues } from "../model/hooks";
import type { Status } from "../model/transports/transport";
import { type StopName, type Tour as Place, tourOf } from "./place";
import type { State } from "../protocol";
import { Outline } from "./outline";
import { type Stop, stopsOf } from "./stops";
import { useSubjects } from "./subjects";
import { Written } from "./written";

/** Milliseconds after which a stop that lacks what it is about is passed. */
const PATIENCE = 100;

export function Tour(): JSX.Element | null {
  const store = useStore();
  const { state, status, selection: { tour } } = useValues();
  const shown = tour?.open && state ? tour : null;
  const adopted = shown && (shown.root === null || !state?.variants.some(({ key }) => key === shown.variant));
  const own = shown !== null && (shown.root === null || shown.root === state?.root);
  useEffect(() => {
    // A variant that was removed, or the first program that a waiting tour sees.
    if (own && adopted && state && shown) store.select({ tour: tourOf(state, shown.stop) });
  }, [own, adopted, state, shown, store]);
  useEffect(() => {
    const { tour: now } = store.values().selection;
    if (status === "connected" && now?.alone) store.select({ tour: { ...now, alone: false } });
  }, [status, store]);
  if (!shown || !state) return null;
  const gone = goneText(shown, state, status);
  if (gone) return <Gone text={gone} tour={shown} state={state} status={status} />;
  return adopted ? null : <Stops tour={shown} state={state} status={status} />;
}

/** Says that the program that the tour speaks of is not there any more; "" where it is. */
function goneText({ root, program, alone }: Place, state: State, status: Status): string {
  if (root !== null && root !== state.root) {
    return program === state.name
      ? `\`${program}\` was written anew: this tour was of it as it was before.`
      : `This tour was of \`${program}\`, which is not shown any more: \`${state.name}\` is.`;
  }
  if ((status === "empty" || status === "disconnected") && !alone) {
    return `The Jupyter kernel that ran \`${program}\` is gone. What was loaded of it still shows; run its cell to have all of it.`;
  }
  return "";
}

function Gone(props: { text: string; tour: Place; state: State; status: Status }): JSX.Element {
  const { text, tour, state, status } = props;
  const store = useStore();
  const goOn = (): void => {
    const alone = status === "empty" || status === "disconnected";
    store.select({ tour: { ...tourOf(state, tour.stop), alone } });
  };
  return (
    <Card name={text} title="The tour's program is gone" says={[text]} leave={() => leave(store, tour)}>
      <button className="wbk-button wbk-primary" type="button" onClick={goOn}>
        Go on with {tour.program === state.name ? "what is there" : state.name}
      </button>
      <button className="wbk-button" type="button" onClick={() => store.select({ tour: null })}>
        End the tour
      </button>
    </Card>
  );
}

const leave = (store: ReturnType<typeof useStore>, tour: Place): void => store.select({ tour: { ...tour, open: false } });

function Stops({ tour, state, status }: { tour: Place; state: State; status: Status }): JSX.Element {
  const store = useStore();
  const subjects = useSubjects(tour, state);
  const snapshot = store.part("snapshot", tour.variant, {}).value;
  const stops = stopsOf(subjects, { tour, state, status, snapshot });
  const here = stops.findIndex(({ name }) => name === tour.stop);
  const stop = stops[here] as Stop;
  const there = stops.filter(({ is }) => is !== "missing");
  const left = stops.filter(({ is }) => is === "missing");
  const [before, after] = [stops.slice(0, here).filter(isThere).at(-1), stops.slice(here + 1).find(isThere)];
  const go = (name: StopName): void => store.select({ tour: { ...tour, stop: name } });

  // A stop opens what it is about once it is known. One that turns out to lack it is passed.
  useEffect(() => {
    if (stop.is === "there") stop.open(store);
    if (stop.is !== "missing") return undefined;
    const instead = after ?? before;
    const pass = (): void => (instead ? go(instead.name) : store.select({ tour: null }));
    const timer = window.setTimeout(pass, PATIENCE);
    return () => window.clearTimeout(timer);
  }, [tour.variant, stop.name, stop.is]);

  const count = `${there.indexOf(stop) + 1} of ${there.length}`;
  return (
    <>
      <Card
        name={stop.name}
        title={stop.title}
        says={stop.is === "there" ? stop.says : ["Looking for it in your program …"]}
        leave={() => leave(store, tour)}
        back={before && (() => go(before.name))}
        next={after && (() => go(after.name))}
      >
        <ol className="wbk-tour-dots" aria-label="Stops">
          {there.map(({ name, title }, position) => (
            <li key={name}>
              <button
                type="button"
                title={title}
                aria-label={`Stop ${position + 1}: ${title}`}
                {...(name === stop.name ? { "aria-current": "step" as const } : {})}
                onClick={() => go(name)}
              />
            </li>
          ))}
        </ol>
        <span className="wbk-tour-count">{count}</span>
        <button className="wbk-button" type="button" disabled={!before} onClick={() => before && go(before.name)}>
          Back
        </button>
        <button
          className="wbk-button wbk-primary"
          type="button"
          onClick={() => (after ? go(after.name) : store.select({ tour: null }))}
        >
          {after ? "Next" : "Done"}
        </button>
        {left.length > 0 && <Left stops={left} />}
      </Card>
      {stop.is === "there" && <Outline key={stop.name} at={stop.at} />}
    </>
  );
}

const isThere = ({ is }: Stop): boolean => is !== "missing";

/** The stops that this program has no subject for. */
function Left({ stops }: { stops: readonly Stop[] }): JSX.Element {
  return (
    <details className="wbk-tour-left">
      <summary>{stops.length} left out</summary>
      <ul>
        {stops.map(({ name, title, why }) => (
          <li key={name}>
            {title}: {why}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A card that takes the focus when what it says is another, and gives it back when it goes. `name` tells what it says
 * apart. */
function Card(props: {
  name: string;
  title: string;
  says: readonly string[];
  leave: () => void;
  back?: (() => void) | undefined;
  next?: (() => void) | undefined;
  children: React.ReactNode;
}): JSX.Element {
  const { name, title, says, leave, back, next, children } = props;
  const card = useRef<HTMLElement>(null);
  const id = useId();
  useFocusBack(card);
  useEffect(() => card.current?.focus({ preventScroll: true }), [name]);

  // Escape leaves it from anywhere in the workbench, where nothing else wants that key.
  const latest = useRef(leave);
  latest.current = leave;
  useEffect(() => {
    const root = card.current?.closest(".wbk-root");
    const heard = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && event.target instanceof Node && root?.contains(event.target)) latest.current();
    };
    document.addEventListener("keydown", heard);
    return () => document.removeEventListener("keydown", heard);
  }, []);

  function keys(event: React.KeyboardEvent): void {
    const go = event.key === "ArrowRight" ? next : event.key === "ArrowLeft" ? back : undefined;
    if (!go || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    go();
  }

  return (
    <section
      className="wbk-tour"
      role="dialog"
      aria-modal="false"
      aria-labelledby={`${id}title`}
      aria-describedby={`${id}says`}
      data-tour={name}
      tabIndex={-1}
      ref={card}
      onKeyDown={keys}
    >
      <div className="wbk-tour-text">
        <h3 id={`${id}title`}>{title}</h3>
        <div id={`${id}says`}>
          {says.map((text, position) => (
            <p key={position}>
              <Written text={text} />
            </p>
          ))}
        </div>
      </div>
      <div className="wbk-tour-foot">{children}</div>
      <button className="wbk-icon" type="button" aria-label="Leave the tour" title="Leave the tour (Esc): it goes on here later" onClick={leave}>
        ×
      </button>
    </section>
  );
}

/** Gives the focus back to where it was; to the button that starts the tour where that is gone. */
function useFocusBack(card: React.RefObject<HTMLElement>): void {
  useEffect(() => {
    const before = document.activeElement;
    const root = card.current?.closest(".wbk-root");
    return () => {
      // Where another card comes, or the reader went on elsewhere, the focus stays.
      window.setTimeout(() => {
        if (!root?.isConnected || root.querySelector(".wbk-tour")) return;
        const none: readonly unknown[] = [null, document.body, root]; // the root has it where nothing else does
        if (!none.includes(document.activeElement)) return;
        const start = root.querySelector<HTMLElement>("[data-tour-start]");
        const target = before instanceof HTMLElement && before.isConnected && !none.includes(before) ? before : start;
        target?.focus({ preventScroll: true });
      });
    };
  }, [card]);
}
