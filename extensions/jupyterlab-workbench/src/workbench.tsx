// The whole workbench: header, graph, panes. Knows no notebook; shells give it an element and a transport.

import { useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { type Action, actions } from "./frame/actions";
import { Arguments } from "./frame/arguments";
import { Banners, Told } from "./frame/notices/banners";
import { Empty } from "./frame/notices/empty";
import { Folded, useFolded } from "./frame/notices/folded";
import { Progress } from "./frame/notices/progress";
import { ErrorBoundary, OfVariant } from "./frame/notices/error-boundary";
import { Header } from "./frame/header";
import { keepFocus, shareKeys } from "./frame/keyboard";
import { Keys, pressed } from "./frame/keys";
import { Panes } from "./frame/panes/panes";
import { Splitter, useShare } from "./frame/panes/splitter";
import { GraphView } from "./graph/view";
import { StoreContext, useSelection, useValues, useWorkbench } from "./model/hooks";
import { INITIAL } from "./model/selection";
import { createStore, type Store } from "./model/store";
import type { Transport } from "./model/transports/transport";
import { css } from "./styles";
import { Tour } from "./tour/tour";
import { VIEWS } from "./views";

export interface Options {
  /** The name of one of several workbenches; the one shown last without a name. */
  readonly workbench?: string;
  /** The name of the pane that is open at first; none without a name. */
  readonly pane?: string;
  /** Variants that are ticked at first. */
  readonly compared?: readonly string[];
  /** A height of its own that the reader can change, instead of the host's. */
  readonly sized?: boolean;
}

export interface Drawn {
  /** Returns the present actions for menus and commands. */
  actions(): readonly Action[];
  readonly store: Store;
  /** Takes the focus, where it was in it last. */
  focus(): void;
  takeDown(): void;
}

/** The width from which on the panes stand beside the graph and not under it. */
const WIDE = 900;

/** Draws a workbench into `host`. */
export function draw(host: HTMLElement, transport: Transport, options: Options = {}): Drawn {
  const style = document.createElement("style");
  style.textContent = css;
  const place = document.createElement("div");
  place.className = options.sized ? "wbk-root wbk-sized" : "wbk-root";
  const stopSharing = shareKeys(place);
  const focus = keepFocus(place);
  place.tabIndex = -1; // a press on what takes no focus itself, as the graph's ground, leaves the keys to the workbench
  place.addEventListener("pointerdown", () => {
    requestAnimationFrame(() => {
      if (!place.contains(document.activeElement)) place.focus({ preventScroll: true });
    });
  });
  host.append(style, place);
  place.addEventListener("keydown", (event) => {
    const { saveNotebook } = transport;
    if (!saveNotebook || event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
    event.preventDefault(); // without it the browser would save the page
    saveNotebook();
  });
  const store = createStore(transport, options.workbench, {
    ...INITIAL,
    pane: options.pane ?? "",
    compared: options.compared ?? [],
  });
  place.addEventListener("keydown", (event) => pressed(event, store, place));
  const root = createRoot(place);
  flushSync(() => root.render(<Workbench store={store} />));
  return {
    actions: () => actions(store, place),
    store,
    focus: () => focus.take(),
    takeDown() {
      stopSharing();
      focus.end();
      root.unmount();
      store.destroy();
      style.remove();
      place.remove();
    },
  };
}

export function Workbench({ store }: { store: Store }): JSX.Element {
  return (
    <StoreContext.Provider value={store}>
      <ErrorBoundary what="The workbench" of="">
        <Contents />
      </ErrorBoundary>
    </StoreContext.Provider>
  );
}

function Contents(): JSX.Element {
  const { state, problem } = useValues();
  const [folded, unfold] = useFolded();
  if (problem || !state) {
    return (
      <>
        <Told />
        <Empty />
      </>
    );
  }
  if (folded) return <Folded unfold={unfold} />;
  return (
    <>
      <Header />
      <Banners />
      <Arguments />
      <Tour />
      <Main />
      <Keys />
    </>
  );
}

function Main(): JSX.Element {
  const { pane } = useSelection();
  const { workbench } = useWorkbench(); // another program begins with a first view of its own
  const host = useRef<HTMLDivElement>(null);
  const wide = useWide(host);
  const [share, setShare] = useShare(wide);
  const open = VIEWS.some((view) => view.name === pane);
  return (
    <div className={`wbk-main ${wide ? "wbk-wide-main" : "wbk-tall-main"}`} ref={host}>
      <div className="wbk-graph-place" style={open ? { flexGrow: 1 - share } : {}}>
        <OfVariant what="The graph">
          <GraphView key={workbench} />
        </OfVariant>
        <Progress />
      </div>
      {open && <Splitter wide={wide} share={share} change={setShare} />}
      <Panes wide={wide} share={share} />
    </div>
  );
}

function useWide(host: React.RefObject<HTMLElement>): boolean {
  const [wide, setWide] = useState(true);
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const look = (): void => {
      if (element.clientWidth) setWide(element.clientWidth >= WIDE);
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [host]);
  return wide;
}
