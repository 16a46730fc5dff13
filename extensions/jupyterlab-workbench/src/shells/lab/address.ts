// The addresses of notebooks, and the links to what their workbenches show that come with them.

import { linkIn, NAME } from "../../model/link";
import type { NotebookPanel } from "./jupyterlab";

export interface Linked {
  readonly link: string;
  /** Tells whether the address is that of the notebook. */
  isOf(notebook: NotebookPanel): boolean;
}

/** Returns the link in the page's address; null where it has none. JupyterLab changes the address later. */
export function linked(): Linked | null {
  const link = linkIn(location);
  const path = decodeURIComponent(/\/(?:tree|notebooks)\/(.+)$/.exec(location.pathname)?.[1] ?? "");
  return link ? { link, isOf: (notebook) => !path || pathOf(notebook) === path } : null;
}

/** Returns an address that opens the notebook with a link. The link is in the query, which logging in and Binder leave
 * as it is. */
export function addressOf(notebook: NotebookPanel, link: string): string {
  const path = pathOf(notebook).split("/").map(encodeURIComponent).join("/");
  const place = location.pathname.includes("/notebooks/") ? "notebooks" : "lab/tree";
  return `${location.origin}${base()}${place}/${path}?${NAME}=${link}`;
}

/** The notebook's path from the server's folder, without the name of its drive. */
const pathOf = ({ context }: NotebookPanel): string => context.path.replace(/^[^/:]+:/, "");

/** The path of the server, as it tells the page. */
function base(): string {
  const told = document.getElementById("jupyter-config-data")?.textContent;
  const found: unknown = told ? (JSON.parse(told) as Record<string, unknown>)["baseUrl"] : null;
  return typeof found === "string" ? found : "/";
}

/** Tells whether none of the notebook's cells runs or waits for its turn. */
export function calm({ content }: NotebookPanel): boolean {
  return content.widgets.every(({ model }) => model.executionState !== "running");
}
