// React hooks that read the store.

import { createContext, useContext, useEffect, useSyncExternalStore } from "react";
import type { LineView, Part, State, VariantView } from "../protocol";
import { type Arguments, type Loaded, partKey, type Parts } from "./parts";
import { type Predicting, predicting, type Selection } from "./selection";
import type { Store, Tools, Values } from "./store";

export const StoreContext = createContext<Store | null>(null);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (!store) throw new Error("a view stands outside of a workbench");
  return store;
}

export function useValues(): Values {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, store.values);
}

/** Returns the workbench's state: views are only drawn once there is one. */
export function useWorkbench(): State {
  const { state } = useValues();
  if (!state) throw new Error("a view is drawn before there is a state");
  return state;
}

export function useSelection(): Selection {
  return useValues().selection;
}

/** Returns the variant that is shown. */
export function useCurrent(): VariantView {
  const state = useWorkbench();
  const found = state.variants.find((variant) => variant.key === state.current);
  if (!found) throw new Error("the current variant is not in the tree");
  return found;
}

/** Returns a part of a variant, of the current one unless said otherwise. */
export function usePart<P extends Part>(part: P, given: Arguments, variant?: string): Loaded<Parts[P]> {
  const store = useStore();
  const values = useValues();
  return store.part(part, variant ?? values.state?.current ?? "", given);
}

/** Returns the settings of predictions. */
export function usePredicting(): Predicting {
  return predicting(useWorkbench(), useSelection());
}

/** Returns a part for one view only: it is called back where it has not come when the view asks for another. */
export function useOwnPart<P extends Part>(part: P, given: Arguments, variant?: string): Loaded<Parts[P]> {
  const store = useStore();
  const loaded = usePart(part, given, variant);
  const shown = variant ?? store.values().state?.current ?? "";
  useEffect(() => () => store.forget(part, shown, given), [store, partKey(part, shown, given)]);
  return loaded;
}

/** Python's name for the file of a line in a cell. */
const CELL = "cell";

/** Returns a function that shows a line in the notebook; null for a line of a file, and where there is no notebook. */
export function useLineInNotebook(line: LineView | null): (() => void) | null {
  const { showLine } = useStore().transport;
  return showLine && line?.file === CELL ? () => showLine(line.number, line.text) : null;
}

/** Offers something to menus and to JupyterLab's commands for as long as the view is drawn. */
export function useTool<Name extends keyof Tools>(name: Name, use: Tools[Name]): void {
  const { tools } = useStore();
  useEffect(() => {
    (tools as Tools)[name] = use;
    return () => {
      if (tools[name] === use) delete tools[name];
    };
  }, [tools, name, use]);
}
