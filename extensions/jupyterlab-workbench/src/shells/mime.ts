// The JupyterLab shell: draws a saved snapshot, with or without a Jupyter kernel. A module-federation container
// written out by hand (JupyterLab asks a container for `init` and `get`, nothing else), so that a notebook's picture
// needs no more of JupyterLab than Lumino's Widget. The renderer is loaded with the first picture.

export {}; // a module, so that it may add to Window

const NAME = "jupyterlab-workbench";
const MIME = "application/vnd.workbench.capsule+json";

interface Widget {
  readonly node: HTMLElement;
  dispose(): void;
  addClass(name: string): void;
}

interface Lumino {
  readonly Widget: new () => Widget;
}

type Shared = Readonly<
  Record<string, Readonly<Record<string, { get(): Promise<() => unknown> }>> | undefined>
>;

interface MimeModel {
  readonly data: Readonly<Record<string, unknown>>;
}

interface Views {
  renderSaved(element: HTMLElement, capsule: unknown): () => void;
}

declare global {
  interface Window {
    _JUPYTERLAB?: Record<string, unknown>;
  }
}

const here = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : "";
let shared: Shared = {};

async function lumino(): Promise<Lumino> {
  const versions = Object.values(shared["@lumino/widgets"] ?? {});
  const provided = versions[0];
  if (!provided) throw new Error("JupyterLab shares no @lumino/widgets");
  return (await provided.get())() as Lumino;
}

async function views(): Promise<Views> {
  const address = new URL("graph.js", here);
  address.search = new URL(here).search;
  return (await import(address.href)) as Views;
}

function plugin({ Widget }: Lumino): object {
  class SnapshotRenderer extends Widget {
    private takeDown = (): void => undefined;

    async renderModel(model: MimeModel): Promise<void> {
      const { renderSaved } = await views();
      this.takeDown();
      this.takeDown = renderSaved(this.node, model.data[MIME]);
    }

    override dispose(): void {
      this.takeDown();
      super.dispose();
    }
  }

  return {
    id: `${NAME}:snapshot`,
    description: "Draws the dependence graph of a reinforcement-learning program.",
    rendererFactory: {
      safe: true, // text from a program is only ever set as text
      mimeTypes: [MIME],
      defaultRank: -20,
      createRenderer: () => new SnapshotRenderer(),
    },
    rank: -20, // before the widget of the same program
    dataType: "json",
  };
}

const containers = (window._JUPYTERLAB ??= {});
containers[NAME] = {
  init(scope: Shared): void {
    shared = scope;
  },
  async get(module: string): Promise<() => unknown> {
    if (module !== "./mimeExtension") return () => ({});
    const made = plugin(await lumino());
    return () => ({ __esModule: true, default: made });
  },
};
