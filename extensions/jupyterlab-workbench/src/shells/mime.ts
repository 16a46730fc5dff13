// Draws a workbench that a notebook's output holds, with or without a Jupyter kernel.

import type { Packages, Widget } from "./lab/jupyterlab";
import type { DrawnSaved, Views } from "./views";

export const MIME = "application/vnd.workbench.capsule+json";

interface MimeModel {
  readonly data: Readonly<Record<string, unknown>>;
}

/** `opener` gives what opens the panel beside the notebook that an element is in; null where there is no panel. */
export function mimePlugin(
  { Widget }: Packages["@lumino/widgets"],
  views: () => Promise<Views>,
  opener: () => ((element: HTMLElement) => void) | null,
): object {
  class Renderer extends Widget implements Widget {
    private drawn: DrawnSaved | null = null;

    async renderModel(model: MimeModel): Promise<void> {
      const { renderSaved } = await views();
      if (this.isDisposed) return;
      const open = opener();
      if (this.drawn) this.drawn.renew(model.data[MIME]);
      else this.drawn = renderSaved(this.node, model.data[MIME], open ? () => open(this.node) : undefined);
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
