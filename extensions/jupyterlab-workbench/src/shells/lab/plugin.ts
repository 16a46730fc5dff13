// The JupyterLab extension: the panel, its commands and their places, and the conditions under which the panel opens by
// itself.

import type { Action, ActionName } from "../../frame/actions";
import { FIRST_CELL } from "../../frame/notices/first-cell";
import type { InNotebook, Views } from "../views";
import { addressOf, type Linked, linked } from "./address";
import type { FrontEnd, MainMenu, NotebookPanel, NotebookTracker, Packages, Settings, Token, Widget } from "./jupyterlab";
import { joinKernelMenu } from "./kernel-menu";
import { insert, save } from "./notebook";
import { connections, createPanel, type Kept, type Panel, PANEL, type Shown } from "./panel";
import { leaveUnmarked } from "./stored";

const PLUGIN = "jupyterlab-workbench:plugin";
const OPEN = "workbench:open";

/** The setting for notebook and panel as two tabs of one area, for users who choose themselves which is in sight. */
const TAB = "tab-after";

/** The commands by action, with their labels while there is no workbench. */
const COMMANDS: Readonly<Record<ActionName, string>> = {
  undo: "Undo the last step",
  redo: "Redo the next step",
  fit: "Show the whole graph",
  measure: "Measure",
  run: "Run",
  profile: "Profile",
  cancel: "Cancel the measurement",
  optimize: "Optimize for time",
  "insert-recipe": "Recipe as a notebook cell",
  "copy-recipe": "Copy recipe",
  "copy-link": "Copy link to what is shown",
  report: "Report …",
  "save-page": "Save as HTML page",
  "save-state": "Save state file",
  "load-state": "Load state file …",
  "save-svg": "Save graph as SVG",
  print: "Print graph or save as PDF …",
  search: "Search statements",
  pane: "Go to the open pane",
  keys: "Keys",
  tour: "Take the tour",
};

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
<g class="jp-icon3 jp-icon-selectable" fill="#616161">
<path d="M8.5 2.5h7a1.5 1.5 0 0 1 1.5 1.5v2.5A1.5 1.5 0 0 1 15.5 8h-2.7v3.2h5.7v3.3H20A1.5 1.5 0 0 1 21.5 16v3a1.5 1.5 0 0 1-1.500 1.500h-4.500a1.500 1.500 0 0 1-1.500-1.500v-3a1.500 1.500 0 0 1 1.500-1.500h1.400v-1.700H7.100v1.700h1.400A1.500 1.500 0 0 1 10 16v3a1.500 1.500 0 0 1-1.500 1.500H4A1.500 1.500 0 0 1 2.500 19v-3A1.500 1.500 0 0 1 4 14.500h1.500v-3.300h5.700V8H8.500A1.500 1.500 0 0 1 7 6.500V4a1.500 1.500 0 0 1 1.500-1.500z"/>
</g></svg>`;

type Service<T> = T extends Token<infer S> ? S : never;
type Palette = Service<Packages["@jupyterlab/apputils"]["ICommandPalette"]>;
type Launcher = Service<Packages["@jupyterlab/launcher"]["ILauncher"]>;
type Restorer = Service<Packages["@jupyterlab/application"]["ILayoutRestorer"]>;
type Registry = Service<Packages["@jupyterlab/settingregistry"]["ISettingRegistry"]>;

/** Makes the plugin. `offer` is given a function that finds the abilities of the notebook around an element. */
export function labPlugin(
  packages: Packages,
  views: () => Promise<Views>,
  offer: (around: (element: HTMLElement) => InNotebook) => void,
): object {
  const { ICommandPalette } = packages["@jupyterlab/apputils"];
  const asked = linked(); // JupyterLab changes the address when it opens the notebook
  return {
    id: PLUGIN,
    description: "A panel with the workbench of the notebook in use.",
    autoStart: true,
    requires: [packages["@jupyterlab/notebook"].INotebookTracker],
    optional: [
      ICommandPalette,
      packages["@jupyterlab/launcher"].ILauncher,
      packages["@jupyterlab/application"].ILayoutRestorer,
      packages["@jupyterlab/settingregistry"].ISettingRegistry,
      packages["@jupyterlab/mainmenu"].IMainMenu,
    ],
    activate(
      app: FrontEnd,
      notebooks: NotebookTracker,
      palette: Palette | null,
      launcher: Launcher | null,
      restorer: Restorer | null,
      registry: Registry | null,
      menu: MainMenu | null,
    ): void {
      const icon = new packages["@jupyterlab/ui-components"].LabIcon({ name: "workbench:icon", svgstr: ICON });
      const place = createPlace(app, notebooks, packages, views, registry?.load(PLUGIN) ?? null, icon);
      offer((element) => ({
        openPanel(workbench) {
          const notebook = holding(notebooks, element);
          void place.open(notebook).then((panel) => panel.choose(workbench, element));
        },
        panel: {
          shows: (workbench) => place.shows(holding(notebooks, element), workbench),
          onChange: place.onChange,
        },
        saveNotebook() {
          const notebook = holding(notebooks, element);
          if (notebook) save(notebook);
        },
        addressOf(link) {
          const notebook = holding(notebooks, element);
          return notebook ? addressOf(notebook, link) : link;
        },
      }));
      addCommands(app, place, icon, palette, launcher);
      if (menu) joinKernelMenu(app, menu, PANEL, () => place.current() !== null);
      if (asked) place.openLink(asked);
      if (restorer) {
        void restorer.restore(place.tracker, {
          command: OPEN,
          name: () => "workbench",
          args: () => ({ ...place.panel()?.kept() }),
        });
      }
    },
  };
}

function holding(notebooks: NotebookTracker, element: HTMLElement): NotebookPanel | null {
  let found = notebooks.currentWidget;
  notebooks.forEach((one) => {
    if (one.node.contains(element)) found = one;
  });
  return found;
}

type Place = ReturnType<typeof createPlace>;

const NAMES = { type: "array", items: { type: "string" } } as const;

const strings = (given: unknown): readonly string[] =>
  Array.isArray(given) ? given.filter((one): one is string => typeof one === "string") : [];
/** Opens a new notebook on the default kind of Jupyter kernel, with a first program that it runs. */
async function begin({ commands, serviceManager: { kernelspecs } }: FrontEnd, packages: Packages): Promise<void> {
  await kernelspecs.ready;
  const made = await commands.execute("notebook:create-new", { kernelName: kernelspecs.specs?.default });
  const notebook = made as NotebookPanel;
  await notebook.context.ready;
  await insert(notebook, packages["@jupyterlab/notebook"].NotebookActions, FIRST_CELL).run();
}

/** Makes the panel's place: its area, and the notebook that it follows. */
function createPlace(
  app: FrontEnd,
  notebooks: NotebookTracker,
  packages: Packages,
  views: () => Promise<Views>,
  loading: Promise<Settings> | null,
  icon: unknown,
) {
  const tracker = new packages["@jupyterlab/apputils"].WidgetTracker({ namespace: "workbench" });
  const connection = connections(
    packages,
    (notebook) => app.shell.activateById(notebook.id),
    (notebook) => void automatically(notebook),
  );
  let panel: Panel | null = null;
  let opening: Promise<Panel> | null = null;
  let [kept, possible, mode] = ["", "", "split-right"];
  let shown: Shown | null = null;
  const watchers = new Set<() => void>();
  /** The state in which the last panel was closed. */
  let left: Partial<Kept> = {};

  const setting = async (name: string): Promise<unknown> => {
    try {
      return (await loading)?.get(name).composite;
    } catch {
      return undefined; // without its schema JupyterLab knows no settings, and those at first hold
    }
  };

  /** Tells pictures in notebooks what the panel shows. */
  function look(): void {
    const now = panel?.shown() ?? null;
    if (now?.notebook === shown?.notebook && now?.workbench === shown?.workbench) return;
    shown = now;
    for (const watcher of [...watchers]) watcher();
  }

  /** Tells JupyterLab what it keeps and shows of the views, which change many times a second. */
  function changed(): void {
    look();
    if (!panel) return;
    left = panel.kept();
    const keeping = JSON.stringify(left);
    if (keeping !== kept) {
      kept = keeping;
      void tracker.save(panel.widget);
    }
    const now = panel.actions().flatMap(({ name, refused }) => (refused ? [] : [name])).join();
    if (now === possible) return;
    possible = now;
    for (const name of Object.keys(COMMANDS)) app.commands.notifyCommandChanged(`workbench:${name}`);
  }

  async function create(beside: NotebookPanel | null, restored: Partial<Kept>): Promise<Panel> {
    const drawing = await views();
    const chosen = restored.pane ?? left.pane ?? (await setting("pane"));
    const first = chosen === "none" ? "" : chosen;
    const made = createPanel({
      packages,
      views: drawing,
      connection,
      kept: {
        pane: typeof first === "string" ? first : "moves",
        compared: restored.compared ?? left.compared ?? [],
        programs: restored.programs ?? [],
      },
      icon,
      begin: () => begin(app, packages),
      changed,
    });
    panel = made;
    made.widget.disposed.connect(() => {
      panel = opening = null;
      look();
    });
    void tracker.add(made.widget);
    const place = await setting("place");
    if (typeof place === "string") mode = place;
    app.shell.add(made.widget, "main", { mode, ref: beside?.id ?? null, activate: false });
    return made;
  }

  async function open(notebook: NotebookPanel | null, restored: Partial<Kept> = {}): Promise<Panel> {
    opening ??= create(notebook, restored);
    const made = await opening;
    // A layout is restored before JupyterLab knows which notebook is in use: it may have come meanwhile.
    made.follow(notebook ?? notebooks.currentWidget);
    return made;
  }

  async function automatically(notebook: NotebookPanel): Promise<void> {
    if ((await setting("openAutomatically")) === false) return;
    if (!panel) await open(notebook);
    else if (notebook === notebooks.currentWidget && !panel.widget.isVisible) beside(panel.widget, notebook);
  }

  function reveal({ widget }: Panel): void {
    const notebook = notebooks.currentWidget;
    if (notebook?.isVisible && !widget.isVisible) beside(widget, notebook);
    app.shell.activateById(widget.id);
  }

  /** Brings the panel into sight without covering the notebook that it follows. From a common tab area, the notebook
   * goes to a notebook in sight elsewhere, or else the panel goes beside it. */
  function beside(widget: Widget, notebook: NotebookPanel): void {
    if (mode === TAB) return;
    app.shell.activateById(widget.id);
    if (!notebook.isVisible) {
      const other = inSight(notebook);
      if (other) app.shell.add(notebook, "main", { mode: TAB, ref: other.id, activate: false });
      else app.shell.add(widget, "main", { mode, ref: notebook.id, activate: false });
    }
    app.shell.activateById(notebook.id); // who runs cells goes on there
  }

  function inSight(besides: NotebookPanel): NotebookPanel | undefined {
    const found: NotebookPanel[] = [];
    notebooks.forEach((one) => void (one !== besides && one.isVisible && found.push(one)));
    return found[0];
  }

  /** JupyterLab opens a notebook in the tab area in use: over the panel, if that is in use. */
  const met = new WeakSet<Widget>();
  app.shell.currentChanged?.connect((_, { oldValue, newValue }) => {
    if (!newValue || met.has(newValue)) return;
    met.add(newValue);
    const widget = panel?.widget;
    if (!widget || oldValue !== widget) return;
    notebooks.forEach((notebook) => {
      // Once JupyterLab is done with what it is changing.
      if (notebook === newValue) void Promise.resolve().then(() => widget.isVisible || beside(widget, notebook));
    });
  });

  const meet = (notebook: NotebookPanel): void => {
    leaveUnmarked(notebook);
    connection(notebook);
  };
  notebooks.widgetAdded.connect((_, notebook) => meet(notebook));
  notebooks.forEach(meet);
  notebooks.currentChanged.connect((_, notebook) => panel?.follow(notebook));
  /** Opens a link as soon as the notebook of its address is there. */
  function openLink({ link, isOf }: Linked): void {
    let opened = false;
    const take = (notebook: NotebookPanel): void => {
      if (opened || !isOf(notebook)) return;
      opened = true;
      void open(notebook).then((panel) => panel.open(link));
    };
    notebooks.forEach(take);
    notebooks.widgetAdded.connect((_, notebook) => take(notebook));
  }

  return {
    tracker,
    open,
    openLink,
    reveal,
    panel: () => panel,
    current: () => notebooks.currentWidget,
    shows: (notebook: NotebookPanel | null, workbench: string) =>
      shown !== null && shown.notebook === notebook && shown.workbench === workbench,
    onChange(watcher: () => void) {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
  };
}

function addCommands(
  app: FrontEnd,
  place: Place,
  icon: unknown,
  palette: Palette | null,
  launcher: Launcher | null,
): void {
  app.commands.addCommand(OPEN, {
    label: "Workbench",
    caption: "Open the workbench beside the notebook",
    icon,
    describedBy: {
      args: {
        type: "object",
        properties: { pane: { type: "string" }, compared: NAMES, programs: NAMES },
      },
    },
    async execute({ pane, compared, programs }) {
      const restored = typeof pane === "string";
      const kept = restored ? { pane, compared: strings(compared), programs: strings(programs) } : {};
      const panel = await place.open(place.current(), kept);
      if (!restored) place.reveal(panel); // not returned: a launcher would take it to its own place
    },
  });
  palette?.addItem({ command: OPEN, category: "Workbench" });
  launcher?.add({ command: OPEN, category: "Other", rank: 1 });
  for (const [name, label] of Object.entries(COMMANDS)) {
    const action = (): Action | undefined => place.panel()?.actions().find((one) => one.name === name);
    const command = `workbench:${name}`;
    app.commands.addCommand(command, {
      label: `Workbench: ${label}`,
      isEnabled: () => action()?.refused === "",
      describedBy: { args: { type: "object", properties: {} } },
      execute: () => action()?.run(),
    });
    palette?.addItem({ command, category: "Workbench" });
  }
}
