// The programs in the variables of a notebook, asked of its Jupyter kernel.

import type { Offer, Offers } from "../../model/transports/transport";
import type { NotebookPanel, Packages } from "./jupyterlab";

/** Imports nothing where the notebook has not: a Jupyter kernel may be of another environment, or no Python at all. */
const EXPRESSION =
  "__import__('workbench.session.jupyter.offers', fromlist=['offers']).offers(globals()) " +
  "if 'workbench' in __import__('sys').modules else None";

export function offersOf(
  { content, sessionContext }: NotebookPanel,
  { executed }: Packages["@jupyterlab/notebook"]["NotebookActions"],
): Offers {
  return {
    async find() {
      const kernel = sessionContext.session?.kernel;
      if (!kernel || kernel.isDisposed) return [];
      const asked = { code: "", silent: true, store_history: false, user_expressions: { offers: EXPRESSION } };
      try {
        const { content } = await kernel.requestExecute(asked).done;
        return (content.user_expressions?.offers?.data?.["application/json"] ?? []) as readonly Offer[];
      } catch {
        return []; // it ended or restarts, which is heard otherwise
      }
    },
    onChange(changed) {
      const heard = (_: unknown, { notebook, success }: { notebook: unknown; success: boolean }): void => {
        if (notebook === content && success) changed();
      };
      executed.connect(heard);
      return () => executed.disconnect(heard);
    },
  };
}
