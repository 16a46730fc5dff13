// JupyterLab's menus of the Jupyter kernel while the panel has the focus: they act on the notebook in use, which is the
// one that the panel shows.

import type { FrontEnd, MainMenu, SemanticCommand } from "./jupyterlab";

/** Takes part in the menus with commands of its own, since those of the notebook are only possible in the notebook.
 * `follows` tells whether the panel shows a notebook's workbench. */
export function joinKernelMenu(
  { commands }: FrontEnd,
  { kernelMenu, runMenu }: MainMenu,
  panel: string,
  follows: () => boolean,
): void {
  const { kernelUsers } = kernelMenu;
  const { codeRunners } = runMenu;
  const entries: readonly (readonly [string, readonly SemanticCommand[]])[] = [
    ["interrupt-kernel", [kernelUsers.interruptKernel]],
    ["restart-kernel", [kernelUsers.restartKernel, codeRunners.restart]],
    ["reconnect-to-kernel", [kernelUsers.reconnectToKernel]],
    ["shutdown-kernel", [kernelUsers.shutdownKernel]],
    ["change-kernel", [kernelUsers.changeKernel]],
    ["clear-all-cell-outputs", [kernelUsers.clearWidget]],
    ["run-all-cells", [codeRunners.runAll]],
  ];
  for (const [name, places] of entries) {
    const [id, theirs] = [`workbench:${name}`, `notebook:${name}`];
    commands.addCommand(id, {
      label: () => commands.label(theirs),
      isEnabled: follows,
      describedBy: { args: { type: "object", properties: {} } },
      execute: () => commands.execute(theirs, { activate: false }), // the focus stays in the panel
    });
    for (const place of places) place.add({ id, isEnabled: (widget) => widget.id === panel });
  }
}
