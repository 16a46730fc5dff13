// The types of JupyterLab 4 that this extension uses, declared here: JupyterLab provides the code when the page is
// loaded, and its packages are too many to be installed for a few types.

export interface Signal<Sender, Args> {
  connect(slot: (sender: Sender, args: Args) => void, context?: unknown): boolean;
  disconnect(slot: (sender: Sender, args: Args) => void, context?: unknown): boolean;
}

export interface Disposable {
  readonly isDisposed: boolean;
  dispose(): void;
}

export interface Widget extends Disposable {
  id: string;
  readonly node: HTMLElement;
  readonly isAttached: boolean;
  readonly isVisible: boolean;
  readonly disposed: Signal<Widget, void>;
  readonly title: {
    label: string;
    caption: string;
    closable: boolean;
    icon: unknown;
    readonly changed: Signal<unknown, void>;
  };
  addClass(name: string): void;
}

export interface Comm extends Disposable {
  readonly commId: string;
  onMsg: (message: CommMessage) => void;
  onClose: (message: CommMessage) => void;
  open(): unknown;
  send(data: unknown): unknown;
  close(): unknown;
}

export interface CommMessage {
  readonly content: { readonly data: unknown };
}

export type KernelStatus =
  | "unknown" | "starting" | "idle" | "busy" | "terminating" | "restarting" | "autorestarting" | "dead";

export interface Kernel extends Disposable {
  readonly id: string;
  readonly status: KernelStatus;
  readonly connectionStatus: "connected" | "connecting" | "disconnected";
  readonly statusChanged: Signal<Kernel, KernelStatus>;
  readonly connectionStatusChanged: Signal<Kernel, "connected" | "connecting" | "disconnected">;
  readonly disposed: Signal<Kernel, void>;
  createComm(target: string): Comm;
  registerCommTarget(target: string, opened: (comm: Comm, message: CommMessage) => void): void;
  removeCommTarget(target: string, opened: (comm: Comm, message: CommMessage) => void): void;
  requestCommInfo(content: { target_name: string }): Promise<{
    readonly content: { readonly status: string; readonly comms?: Readonly<Record<string, unknown>> };
  }>;
  requestExecute(content: {
    code: string;
    silent: boolean;
    store_history: boolean;
    user_expressions: Readonly<Record<string, string>>;
  }): {
    readonly done: Promise<{
      readonly content: { readonly status: string; readonly user_expressions?: Readonly<Record<string, Evaluated>> };
    }>;
  };
}

/** What a Jupyter kernel answers to an expression. */
export interface Evaluated {
  readonly status: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface SessionContext {
  readonly session: { readonly kernel: Kernel | null } | null;
  readonly ready: Promise<void>;
  readonly kernelChanged: Signal<SessionContext, { readonly newValue: Kernel | null }>;
}

export interface CodeEditor {
  readonly host: HTMLElement;
  /** Returns null where the editor has not drawn that line. */
  getCoordinateForPosition(position: { line: number; column: number }): DOMRect | null;
  revealPosition(position: { line: number; column: number }): void;
}

export interface Cell extends Widget {
  readonly ready: Promise<void>;
  readonly editor: CodeEditor | null;
  readonly model: {
    readonly type: string;
    /** Of a code cell that runs or waits for its turn "running"; older JupyterLabs do not tell. */
    readonly executionState?: string;
    readonly sharedModel: { getSource(): string; setSource(source: string): void };
    readonly outputs?: { readonly length: number; get(index: number): { readonly data: Record<string, unknown> } };
  };
}

export interface Notebook extends Widget {
  readonly widgets: readonly Cell[];
  readonly activeCell: Cell | null;
  activeCellIndex: number;
  deselectAll(): void;
  scrollToCell(cell: Cell, align?: "center" | "smart"): Promise<void>;
  scrollToItem(index: number, align?: "center" | "smart"): Promise<void>;
}

export interface NotebookModel {
  dirty: boolean;
  readonly metadataChanged: Signal<NotebookModel, { readonly key: string }>;
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: unknown): void;
}

export interface NotebookPanel extends Widget {
  readonly content: Notebook;
  readonly sessionContext: SessionContext;
  readonly context: {
    readonly path: string;
    readonly ready: Promise<void>;
    readonly model: NotebookModel;
    /** "started" before what is saved is read. */
    readonly saveState: Signal<unknown, string>;
    save(): Promise<void>;
  };
}

export interface NotebookTracker {
  readonly currentWidget: NotebookPanel | null;
  readonly currentChanged: Signal<NotebookTracker, NotebookPanel | null>;
  readonly widgetAdded: Signal<NotebookTracker, NotebookPanel>;
  forEach(each: (panel: NotebookPanel) => void): void;
}

export interface CommandRegistry {
  addCommand(
    name: string,
    options: {
      label: string | (() => string);
      caption?: string;
      icon?: unknown;
      isEnabled?: () => boolean;
      describedBy?: unknown;
      execute: (given: Readonly<Record<string, unknown>>) => unknown;
    },
  ): Disposable;
  execute(name: string, given?: Readonly<Record<string, unknown>>): Promise<unknown>;
  label(name: string): string;
  notifyCommandChanged(name?: string): void;
}

export interface FrontEnd {
  readonly commands: CommandRegistry;
  readonly restored: Promise<unknown>;
  readonly serviceManager: {
    readonly kernelspecs: { readonly ready: Promise<void>; readonly specs: { readonly default: string } | null };
  };
  readonly shell: {
    add(widget: Widget, area: string, options?: { mode?: string; ref?: string | null; activate?: boolean }): void;
    activateById(id: string): void;
    /** JupyterLab's main window has it, Notebook 7's has not. */
    readonly currentChanged?: Signal<unknown, { readonly oldValue: Widget | null; readonly newValue: Widget | null }>;
  };
}

export interface Settings {
  get(name: string): { readonly composite: unknown };
}

export interface WidgetTracker {
  add(widget: Widget): Promise<void>;
  save(widget: Widget): Promise<void>;
}

/** An entry of a menu that does what suits the widget in use. */
export interface SemanticCommand {
  add(command: { id: string; isEnabled: (widget: Widget) => boolean }): void;
}

export interface MainMenu {
  readonly kernelMenu: {
    readonly kernelUsers: Readonly<
      Record<
        "interruptKernel" | "restartKernel" | "reconnectToKernel" | "shutdownKernel" | "changeKernel" | "clearWidget",
        SemanticCommand
      >
    >;
  };
  readonly runMenu: { readonly codeRunners: Readonly<Record<"restart" | "runAll", SemanticCommand>> };
}

/** A token by which a service is asked for. */
export interface Token<Service> {
  readonly name: string;
  readonly service?: Service;
}

/** The packages that JupyterLab shares, with the members used of each. */
export interface Packages {
  readonly "@lumino/widgets": { readonly Widget: new () => Widget };
  readonly "@jupyterlab/application": {
    readonly ILayoutRestorer: Token<{
      restore(
        tracker: WidgetTracker,
        options: { command: string; name: () => string; args: () => Readonly<Record<string, unknown>> },
      ): Promise<unknown>;
    }>;
  };
  readonly "@jupyterlab/apputils": {
    readonly ICommandPalette: Token<{ addItem(item: { command: string; category: string }): Disposable }>;
    readonly MainAreaWidget: new (options: { content: Widget }) => Widget;
    readonly WidgetTracker: new (options: { namespace: string }) => WidgetTracker;
    readonly Notification: { info(text: string, options?: { autoClose?: number }): string };
  };
  readonly "@jupyterlab/launcher": {
    readonly ILauncher: Token<{ add(item: { command: string; category: string; rank: number }): Disposable }>;
  };
  readonly "@jupyterlab/mainmenu": { readonly IMainMenu: Token<MainMenu> };
  readonly "@jupyterlab/notebook": {
    readonly INotebookTracker: Token<NotebookTracker>;
    readonly NotebookActions: {
      /** Sent when a cell of any notebook has run, to its end or not. */
      readonly executed: Signal<unknown, { readonly notebook: Notebook; readonly success: boolean }>;
      insertBelow(notebook: Notebook): void;
      /** These resolve to whether all cells ran to their ends. */
      run(notebook: Notebook, session: SessionContext): Promise<boolean>;
      runAll(notebook: Notebook, session: SessionContext): Promise<boolean>;
      runAllAbove(notebook: Notebook, session: SessionContext): Promise<boolean>;
    };
  };
  readonly "@jupyterlab/settingregistry": {
    readonly ISettingRegistry: Token<{ load(plugin: string): Promise<Settings> }>;
  };
  readonly "@jupyterlab/ui-components": {
    readonly LabIcon: new (options: { name: string; svgstr: string }) => unknown;
  };
}

type Provided = Readonly<Record<string, { get(): Promise<() => unknown>; loaded?: unknown; eager?: boolean }>>;
export type Shared = Readonly<Record<string, Provided | undefined>>;

/** Returns a package of the running JupyterLab. */
export async function provided<Name extends keyof Packages>(shared: Shared, name: Name): Promise<Packages[Name]> {
  const versions = Object.values(shared[name] ?? {});
  const chosen = versions.find((one) => one.loaded ?? one.eager) ?? versions[0];
  if (!chosen) throw new Error(`JupyterLab shares no ${name}`);
  return (await chosen.get())() as Packages[Name];
}
