// The whole workbench: header, graph, panes. Knows no notebook; shells give it an element and a transport.

import { createRoot } from "react-dom/client";
import { GraphView } from "./graph/view";
import { StoreContext, useSelection, useStore, useValues, useWorkbench } from "./model/hooks";
import { createStore, type Store } from "./model/store";
import type { Transport } from "./model/transport";
import css from "./style.css";
import { VIEWS } from "./views";

/** Draws a workbench into `host`. `workbench` names one of several; "" is the last shown. */
export function render(host: HTMLElement, transport: Transport, workbench = ""): () => void {
  const style = document.createElement("style");
  style.textContent = css;
  const place = document.createElement("div");
  place.className = "wbk-root";
  place.dataset["lmSuppressShortcuts"] = "true"; // the notebook's own keys rest while we have the focus
  host.append(style, place);
  const store = createStore(transport, workbench);
  const root = createRoot(place);
  root.render(<Workbench store={store} />);
  return () => {
    root.unmount();
    store.destroy();
    style.remove();
    place.remove();
  };
}

export function Workbench({ store }: { store: Store }): JSX.Element {
  return (
    <StoreContext.Provider value={store}>
      <Contents />
    </StoreContext.Provider>
  );
}

function Contents(): JSX.Element {
  const { state, problem, status } = useValues();
  if (problem) return <p className="wbk-problem">{problem}</p>;
  if (!state) {
    return (
      <p className="wbk-problem">
        {status === "disconnected" ? "There is no Jupyter kernel to show a program of." : "No program yet."}
      </p>
    );
  }
  return (
    <>
      <Header />
      <div className="wbk-main">
        <GraphView />
        <Pane />
      </div>
    </>
  );
}

function Header(): JSX.Element {
  const state = useWorkbench();
  const store = useStore();
  const { pane } = useSelection();
  return (
    <div className="wbk-header">
      <span className="wbk-title">{state.name}</span>
      <span className="wbk-space" />
      <div className="wbk-tabs" role="tablist">
        {VIEWS.map((view) => (
          <button
            key={view.name}
            className="wbk-tab"
            role="tab"
            type="button"
            aria-selected={pane === view.name}
            onClick={() => store.select({ pane: pane === view.name ? "" : view.name })}
          >
            {view.title}
          </button>
        ))}
      </div>
    </div>
  );
}

function Pane(): JSX.Element | null {
  const { pane } = useSelection();
  const view = VIEWS.find((one) => one.name === pane);
  if (!view) return null;
  const Shown = view.component;
  return (
    <div className="wbk-side" role="tabpanel" aria-label={view.title} tabIndex={0}>
      <Shown />
    </div>
  );
}
