// Actions on the whole workbench, shared by the header's buttons, its menu and JupyterLab's commands.

import { next } from "../model/lineage";
import { linkTo, NAME, written } from "../model/link";
import { predicting, type Selection, tickedIn } from "../model/selection";
import type { Store, Values } from "../model/store";
import type { State, VariantView } from "../protocol";
import { copy, download, pick } from "../model/files";
import { startTour } from "../tour/start";
import type { Item } from "./menu";
import { picture, print } from "./standalone-picture";

export type ActionName =
  | "undo"
  | "redo"
  | "fit"
  | "measure"
  | "run"
  | "profile"
  | "cancel"
  | "optimize"
  | "insert-recipe"
  | "copy-recipe"
  | "copy-link"
  | "report"
  | "save-page"
  | "save-state"
  | "load-state"
  | "save-svg"
  | "print"
  | "search"
  | "pane"
  | "keys"
  | "tour";

export interface Action extends Item {
  readonly name: ActionName;
}

/** Runs an action and reports its failure or its result. */
export async function perform(store: Store, what: () => unknown): Promise<void> {
  try {
    const told = await what();
    store.say(typeof told === "string" ? { text: told, failed: false } : null);
  } catch (problem) {
    store.say({ text: problem instanceof Error ? problem.message : String(problem), failed: true });
  }
}

/** Returns all actions in the order of menus. `root` is the element that the workbench is drawn in. */
export function actions(store: Store, root: HTMLElement): readonly Action[] {
  const values = store.values();
  const current = shown(values);
  const again = values.state ? next(values.selection.left, values.state) : undefined;
  const live = values.status === "connected" ? "" : "This wants the notebook's Jupyter kernel.";
  const none = current ? "" : "There is no program yet.";
  const drawn = root.querySelector(".wbk-viewport") ? "" : "There is no picture yet.";
  const { insertCell } = store.transport;
  const action = (name: ActionName, label: string, refused: string, what: () => unknown): Action => ({
    name,
    label,
    refused,
    run: () => void perform(store, what),
  });
  const measuring = values.state?.measuring ? `A ${values.state.measuring.what} is under way.` : "";
  return [
    action("undo", "Undo the last step", none || undoRefused(values, current), () =>
      store.ask({ type: "show", variant: current?.parent ?? "" }),
    ),
    action("redo", "Redo the next step", none || redoRefused(values, again), () =>
      store.ask({ type: "show", variant: again?.key ?? "" }),
    ),
    action("fit", "Show the whole graph", drawn, () => store.tools.fit?.()),
    action("measure", "Measure", none || live || measuring, () => {
      store.select({ pane: "compare" }); // that pane has its progress and results
      return values.state ? store.ask(measurement(values.selection, values.state, current)) : undefined;
    }),
    action("run", "Run", none || live || measuring, () => {
      store.select({ pane: "run" });
      const { backend, sizes, dtype } = values.selection;
      return store.ask({ type: "run", variant: current?.key ?? "", backend, sizes, dtype, seed: 0, here: false });
    }),
    action("profile", "Profile", none || live || measuring, () => {
      store.select({ pane: "profile" });
      const { backend, sizes, dtype } = values.selection;
      return store.ask({ type: "profile", variant: current?.key ?? "", backend, sizes, dtype, seed: 0, force: false, here: false });
    }),
    action("cancel", "Cancel what is under way", live || (measuring ? "" : "Nothing is under way now."), () =>
      store.ask({ type: "cancel" }),
    ),
    action("optimize", "Optimize for time", none || live || measuring, () => {
      store.select({ pane: "variants" }); // there stands what is found
      return optimize(store, "time", null);
    }),
    action(
      "insert-recipe",
      "Recipe as a notebook cell",
      none || (insertCell ? "" : "There is no notebook here."),
      () => void insertCell?.(current?.recipe ?? ""),
    ),
    action("copy-recipe", "Copy recipe", none, async () => {
      await copy(current?.recipe ?? "");
      return "The recipe is in the clipboard.";
    }),
    action("copy-link", "Copy link to what is shown", none, async () => {
      const link = await written(linkTo(store.values()));
      await copy(store.transport.addressOf?.(link) ?? `#${NAME}=${link}`);
      return "The link is in the clipboard: it opens this variant, pane and selection.";
    }),
    action("report", "Report …", none || live || unreported(current), () => store.tools.report?.()),
    action("save-page", "Save as HTML page", none || live, () => save(store, "html")),
    action("save-state", "Save state file", none || (values.status === "saved" ? "" : live), () =>
      save(store, "state"),
    ),
    action("load-state", "Load state file …", none || live, async () => {
      const text = await pick(".json");
      if (text === null) return;
      await store.ask({ type: "load", text, show: true });
      return "The state file is loaded; every step was checked anew.";
    }),
    action("save-svg", "Save graph as SVG", drawn, () => {
      const name = `${values.state?.name ?? "graph"}.svg`;
      download(name, "image/svg+xml", new XMLSerializer().serializeToString(picture(root, store)));
    }),
    action("print", "Print graph or save as PDF …", drawn, () => print(picture(root, store), values.state?.name ?? "graph")),
    action("search", "Search statements", drawn, () => focus(root, ".wbk-search")),
    action("pane", "Go to the open pane", none, () => focus(root, ".wbk-tab[aria-selected=true]")),
    action("keys", "Keys", none, () => store.tools.keys?.()),
    action("tour", values.selection.tour ? "Go on with the tour" : "Take the tour", none, () => startTour(store)),
  ];
}

const focus = (root: HTMLElement, what: string): void => root.querySelector<HTMLElement>(what)?.focus();

const shown = ({ state }: Values): VariantView | undefined =>
  state?.variants.find((variant) => variant.key === state.current);

function undoRefused({ status }: Values, current: VariantView | undefined): string {
  if (current?.parent === null) return "This is the program as written.";
  return status === "connected" || status === "saved" ? "" : "This wants the notebook's Jupyter kernel.";
}

function redoRefused({ status }: Values, again: VariantView | undefined): string {
  if (!again) return "No step was undone here.";
  return status === "connected" || status === "saved" ? "" : "This wants the notebook's Jupyter kernel.";
}

function unreported(current: VariantView | undefined): string {
  return current?.parent === null ? "This is the program as written: a report tells what steps brought." : "";
}

/** Measures the variants that are ticked for comparing, or the shown one where none are. */
function measurement(selection: Selection, state: State, current: VariantView | undefined) {
  const ticked = tickedIn(state, selection.compared);
  const variants = ticked.length ? ticked : [current?.key ?? ""];
  const run = { lengths: {}, ...predicting(state, selection) };
  return { type: "measure", variants, ...run, seed: 0, repeats: null, force: false } as const;
}

/** Looks for the automatic recipe from the shown variant on; what is found is shown with what it gains. Returns what is
 * to be told elsewhere. */
export async function optimize(
  store: Store,
  objective: "time" | "memory",
  capacity: number | null,
): Promise<string | undefined> {
  const { state, selection } = store.values();
  if (!state) return undefined;
  const run = predicting(state, selection);
  store.select({ found: "" });
  const done = await store.ask({ type: "optimize", variant: state.current, objective, capacity, lengths: {}, ...run });
  if (done.type !== "done" || done.variant === null) return "The search was stopped; no step was taken.";
  store.select({ found: done.variant });
  return store.values().selection.pane === "variants" ? undefined : "The recipe is found: Variants tells what it gains.";
}

async function save(store: Store, format: "html" | "state"): Promise<void> {
  const saved = await store.ask({ type: "save", format });
  if (saved.type !== "saved") throw new Error("Nothing came to be saved.");
  download(saved.name, format === "html" ? "text/html" : "application/json", saved.text);
}
