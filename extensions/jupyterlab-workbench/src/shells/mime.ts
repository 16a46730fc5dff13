// The renderer of a workbench in a notebook's output, with or without a Jupyter kernel.

import type { Packages, Widget } from "./lab/jupyterlab";
import type { DrawnSaved, InNotebook, Views } from "./views";

export const MIME = "application/vnd.workbench.capsule+json";

interface MimeModel {
  readonly data: Readonly<Record<string, unknown>>;
}

/** Makes the plugin. `around` gives the abilities of the notebook around an element; nothing where there is no
 * panel. */
export function mimePlugin(
  { Widget }: Packages["@lumino/widgets"],
  views: () => Promise<Views>,
  around: (element: HTMLElement) => InNotebook,
): object {
  class Renderer extends Widget implements Widget {
    private drawn: DrawnSaved | null = null;

    async renderModel(model: MimeModel): Promise<void> {
      const { renderSaved } = await views();
      if (this.isDisposed) return;
      if (this.drawn) this.drawn.renew(model.data[MIME]);
      else this.drawn = renderSaved(this.node, model.data[MIME], around(this.node));
    }

    override dispose(): void {
      this.drawn?.takeDown();
      super.dispose();
    }
  }

  return {
    id: "jupyterlab-workbench:picture",
    description: "Draws reinforcement-learning programs that notebooks hold.",
    rendererFactory: {
      safe: true, // text from a program is only ever set as text
      mimeTypes: [MIME],
      defaultRank: -20,
      createRenderer: () => new Renderer(),
    },
    rank: -20, // before the widget of the same program
    dataType: "json",
  };
}
