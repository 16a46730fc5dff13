// The module-federation container that JupyterLab loads, written out by hand (JupyterLab asks a container for `init`
// and `get`, nothing else). The shells take shared packages from the running JupyterLab, and the views are one file for
// all shells, loaded with the first picture.

import { type Packages, provided, type Shared } from "./lab/jupyterlab";
import { labPlugin } from "./lab/plugin";
import { mimePlugin } from "./mime";
import type { InNotebook, Views } from "./views";

declare global {
  interface Window {
    _JUPYTERLAB?: Record<string, unknown>;
  }
}

const here = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : "";

function container() {
  let shared: Shared = {};
  let around = (_: HTMLElement): InNotebook => ({});

  async function views(): Promise<Views> {
    const address = new URL("graph.js", here);
    address.search = new URL(here).search;
    return (await import(address.href)) as Views;
  }

  async function packages(): Promise<Packages> {
    const [widgets, application, apputils, launcher, menu, notebook, settings, components] = await Promise.all([
      provided(shared, "@lumino/widgets"),
      provided(shared, "@jupyterlab/application"),
      provided(shared, "@jupyterlab/apputils"),
      provided(shared, "@jupyterlab/launcher"),
      provided(shared, "@jupyterlab/mainmenu"),
      provided(shared, "@jupyterlab/notebook"),
      provided(shared, "@jupyterlab/settingregistry"),
      provided(shared, "@jupyterlab/ui-components"),
    ]);
    return {
      "@lumino/widgets": widgets,
      "@jupyterlab/application": application,
      "@jupyterlab/apputils": apputils,
      "@jupyterlab/launcher": launcher,
      "@jupyterlab/mainmenu": menu,
      "@jupyterlab/notebook": notebook,
      "@jupyterlab/settingregistry": settings,
      "@jupyterlab/ui-components": components,
    };
  }

  async function plugin(module: string): Promise<object> {
    if (module === "./mimeExtension") {
      return mimePlugin(await provided(shared, "@lumino/widgets"), views, (element) => around(element));
    }
    if (module === "./extension") {
      return labPlugin(await packages(), views, (found) => (around = found));
    }
    throw new Error(`${module} is not of this extension`);
  }

  return {
    init(scope: Shared): void {
      shared = scope;
    },
    async get(module: string): Promise<() => unknown> {
      const made = await plugin(module);
      return () => ({ __esModule: true, default: made });
    },
  };
}

(window._JUPYTERLAB ??= {})["jupyterlab-workbench"] = container();
