// The panes beside the graph, in the order of their tabs. A view is a function of the store's values, a file each.

import type { ComponentType } from "react";
import { Details } from "./details";

export interface View {
  /** Names the pane in the selection. */
  readonly name: string;
  readonly title: string;
  readonly component: ComponentType;
}

export const VIEWS: readonly View[] = [{ name: "details", title: "Details", component: Details }];
