// The panes beside the graph, in the order of their tabs. A view is a function of the store's values, a file each.

import type { ComponentType } from "react";
import { Code } from "./code";
import { Compare } from "./compare";
import { Details } from "./details";
import { Memory } from "./memory";
import { Variants } from "./variants";

export interface View {
  /** Names the pane in the selection. */
  readonly name: string;
  readonly title: string;
  readonly component: ComponentType;
}

export const VIEWS: readonly View[] = [
  { name: "details", title: "Details", component: Details },
  { name: "code", title: "Code", component: Code },
  { name: "variants", title: "Variants", component: Variants },
  { name: "compare", title: "Compare", component: Compare },
  { name: "memory", title: "Memory", component: Memory },
];
