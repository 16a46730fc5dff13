// The panes beside the graph, in the order of their tabs. A view is a function of the store's values, a file each.

import type { ComponentType } from "react";
import { Code } from "./code";
import { Compare } from "./compare";
import { Details } from "./details";
import { Domain } from "./domain";
import { Memory } from "./memory";
import { Moves } from "./moves";
import { Variants } from "./variants";

export interface View {
  /** Names the pane in the selection. */
  readonly name: string;
  readonly title: string;
  readonly component: ComponentType;
}

export const VIEWS: readonly View[] = [
  { name: "details", title: "Details", component: Details },
  { name: "moves", title: "Moves", component: Moves },
  { name: "domain", title: "Instances", component: Domain },
  { name: "code", title: "Code", component: Code },
  { name: "variants", title: "Variants", component: Variants },
  { name: "compare", title: "Compare", component: Compare },
  { name: "memory", title: "Memory", component: Memory },
];
