// The panes beside the graph, in the order of their tabs. A view is a function of the store's values, a file each.

import type { ComponentType } from "react";
import { Code } from "./code/code";
import { Compare } from "./compare/compare";
import { Details } from "./details/details";
import { Domain } from "./instances/domain";
import { Memory } from "./memory/memory";
import { Moves } from "./moves/moves";
import { Play } from "./play/play";
import { Profile } from "./profile/profile";
import { Run } from "./run/run";
import { Variants } from "./variants/variants";

export interface View {
  /** The pane's name in the selection. */
  readonly name: string;
  readonly title: string;
  readonly component: ComponentType;
}

export const VIEWS: readonly View[] = [
  { name: "details", title: "Details", component: Details },
  { name: "moves", title: "Moves", component: Moves },
  { name: "domain", title: "Instances", component: Domain },
  { name: "play", title: "Play", component: Play },
  { name: "code", title: "Code", component: Code },
  { name: "variants", title: "Variants", component: Variants },
  { name: "compare", title: "Compare", component: Compare },
  { name: "run", title: "Run", component: Run },
  { name: "profile", title: "Profile", component: Profile },
  { name: "memory", title: "Memory", component: Memory },
];
